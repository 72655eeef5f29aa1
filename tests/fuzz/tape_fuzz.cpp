// Any bytes as a tape: read, followed, verified and played back, or refused with an Error.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/check.h"
#include "tracer/playback.h"
#include "tracer/tape_reader.h"
#include "tracer/tape_writer.h"
#include "tracer/verify.h"

namespace {

using namespace kvtape;

template <class Use>
void use(const Use& what) {
    try {
        what();
    } catch (const Error&) {
    }
}

// What was read can be written, and read again as the same.
void check_round_trip(const Step& step, const TapeHeader& header) {
    const Json json = to_json(step, header.shape);
    for (const TapeEncoding encoding : {TapeEncoding::json_lines, TapeEncoding::cbor_sequence}) {
        const std::string bytes = encode_record(json, encoding);
        const Framed framed = find_record(bytes, encoding);
        if (framed.state != Framed::State::whole || framed.size != bytes.size()) std::abort();
        const Step again = step_from_json(decode_record(framed.payload, encoding), header);
        if (to_json(again, header.shape) != json) std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const int file = ::memfd_create("tape", MFD_CLOEXEC);
    if (file < 0 || ::write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
    const std::string path = "/proc/self/fd/" + std::to_string(file);

    use([&] {
        TapeReader reader(path);
        Step step;
        while (reader.next(step) == TapeReader::Next::step) check_round_trip(step, reader.header());
    });
    use([&] {
        TapeReader reader(path, TapeReader::Mode::follow);
        Step step;
        while (reader.next(step) == TapeReader::Next::step) {
        }
    });
    use([&] {
        TapeReader reader(path);
        verify(reader);
    });
    use([&] {
        TapeReader reader(path);
        const Playback playback = load_playback(reader, 0);
        for (std::int64_t step = 0; step < playback.steps(); ++step) {
            playback.rows_in_cache(step);
            for (const std::int32_t sequence : playback.sequences(step)) {
                Cell cells[16];
                playback.cells(step, sequence, 0, 0, Kind::key, 0, cells);
                if (reader.header().lanes[0].cache != "paged") continue;
                for (const auto& [index, block] : playback.block_table(step, sequence)) {
                    playback.holders(step, block);
                    playback.slots(step, 0, 0, Kind::value, block, cells);
                }
            }
        }
    });
    ::close(file);
    return 0;
}
