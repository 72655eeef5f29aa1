#include "viewer/live_run.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <utility>

#include "core/check.h"
#include "reference_cpu/contiguous_cache.h"
#include "reference_cpu/decoder.h"
#include "reference_cpu/no_cache.h"
#include "reference_cpu/paged_cache.h"
#include "reference_cpu/tokenizer.h"
#include "tracer/tape_limits.h"
#include "tracer/tape_writer.h"
#include "tracer/utf8.h"
#include "viewer/gated_cache.h"

namespace kvtape {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t largest_block_size = 1 << 20;

// As `kvtape run` builds them: the contiguous cache reserves the longest sequence there can be, the
// pool of the paged one has as many blocks, and the one that forgets has room for its last pass.
std::unique_ptr<KvCache> make_cache(const std::string& kind, const LiveOptions& options,
                                    const ModelShape& shape, std::int64_t max_model_len,
                                    std::int64_t last_pass, PaceGate& gate) {
    if (kind == "none") {
        return std::make_unique<GatedCache<NoCache>>(gate, shape, options.dtype, last_pass);
    }
    if (kind == "contiguous") {
        return std::make_unique<GatedCache<ContiguousCache>>(gate, shape, options.dtype,
                                                             max_model_len);
    }
    if (kind == "paged") {
        const std::int64_t blocks = (max_model_len + options.block_size - 1) / options.block_size;
        auto cache = std::make_unique<GatedCache<PagedCache>>(gate, shape, options.dtype,
                                                              options.block_size, blocks);
        cache->shuffle_free_blocks(1);  // a pool that has been in use, as the demo's
        return cache;
    }
    fail("unknown cache '", kind, "'; use none, contiguous or paged");
}

Tokenizer load_tokenizer(const std::string& folder) {
    const std::string path = folder + "/tokenizer.json";
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
        fail(
            "the model has no tokenizer.json, so it cannot be given text; use 'kvtape run --ids "
            "1,2,3 --tape FILE' and open that tape");
    }
    return Tokenizer::load(path);
}

std::string model_name(const std::string& folder) {
    return printable(fs::weakly_canonical(folder).filename().string());
}

Request make_request(const LiveOptions& options, const Tokenizer& tokenizer,
                     const ModelConfig& config) {
    Request request;
    request.prompt = tokenizer.encode(options.prompt);
    request.max_tokens = options.max_tokens;
    request.sampling = options.sampling;
    request.stop_ids = config.eos_token_ids;
    request.prefill_chunk = options.prefill_chunk;
    return request;
}

// One decoder with its cache and who listens to it.
struct LiveLane {
    LiveLane(std::unique_ptr<KvCache> its_cache, const Model<float>& model, Team& team,
             const Request& request, const LengthLimit& limit, std::int32_t lane,
             const TokenBytes& bytes_of)
        : cache(std::move(its_cache)),
          recorder(team.size(), {.codes = row_values_fit(cache->shape(), cache->dtype(),
                                                         std::ssize(request.prompt))}),
          decoder(model, *cache, recorder, team, request, limit, lane, bytes_of) {}

    std::unique_ptr<KvCache> cache;
    Recorder recorder;
    Decoder<Recorder> decoder;
};

// A pass of each lane in turn, until all have finished. Throws Stopped if the gate says so, and
// Error if a lane cannot go on.
void decode_in_lockstep(std::deque<LiveLane>& lanes, PaceGate& gate,
                        const std::function<void(const Step&)>& on_step) {
    for (bool unfinished = true; unfinished;) {
        unfinished = false;
        bool picked_token = false;
        for (std::int32_t i = 0; i < std::ssize(lanes); ++i) {
            Decoder<Recorder>& decoder = lanes[static_cast<std::size_t>(i)].decoder;
            if (decoder.finished()) continue;
            gate.begin_pass(i);
            Step step = decoder.step().step;
            step.wall_ns -= gate.end_pass().count();
            on_step(step);
            const Generation& generation = decoder.generation();
            if (generation.finish_reason == FinishReason::failed) fail(generation.finish_detail);
            picked_token = picked_token || !step.spans.front().sampled.empty();
            unfinished = unfinished || !decoder.finished();
            gate.after_pass();
        }
        if (unfinished) gate.after_step(picked_token);
    }
}

}  // namespace

std::string free_tape_name(const std::string& wanted) {
    const fs::path path = wanted;
    fs::path candidate = path;
    std::error_code ignored;
    for (std::int64_t n = 2; fs::is_regular_file(candidate, ignored); ++n) {
        candidate = path;
        candidate.replace_filename(path.stem().string() + "-" + std::to_string(n) +
                                   path.extension().string());
    }
    return candidate.string();
}

LiveRun::LiveRun(LiveOptions options, Pace pace) : options_(std::move(options)) {
    gate_.set_pace(pace);
    thread_ = std::thread([this] { run(); });
}

LiveRun::~LiveRun() {
    gate_.stop();
    thread_.join();
}

LiveStatus LiveRun::status() const {
    const std::lock_guard lock(mutex_);
    LiveStatus status = status_;
    // In this order: whoever sees a pause finds all that came before it.
    if (status.state == LiveStatus::State::running && gate_.paused()) {
        status.state = LiveStatus::State::paused;
    }
    status.progress = gate_.progress();
    return status;
}

std::optional<TapeHeader> LiveRun::header() const {
    const std::lock_guard lock(mutex_);
    return header_;
}

std::vector<Step> LiveRun::take_steps() {
    const std::lock_guard lock(mutex_);
    return std::exchange(finished_, {});
}

// All of the thread. Whatever goes wrong is for the watcher to read, in the words of the command
// line.
void LiveRun::run() {
    try {
        decode();
    } catch (const Stopped& stopped) {
        end(false, stopped.what());
    } catch (const Error& error) {
        end(true, error.what());
    } catch (const std::bad_alloc&) {
        end(true, "out of memory; use a smaller model or fewer tokens");
    } catch (const std::exception& error) {
        end(true, std::string("internal error, please report it: ") + error.what());
    }
}

void LiveRun::decode() {
    if (options_.block_size < 1 || options_.block_size > largest_block_size) {
        fail("block size is ", options_.block_size, "; use 1 to ", largest_block_size);
    }
    const Model<float> model =
        load_model(options_.model, std::nullopt, [this] { gate_.throw_if_stopped(); });
    const Tokenizer tokenizer = load_tokenizer(options_.model);
    const Request request = make_request(options_, tokenizer, model.config);
    const LengthLimit limit{model.config.max_model_len};
    const std::int64_t last_pass = std::ssize(request.prompt) + admit(request, limit);

    Team team(options_.threads);
    // Ids above the tokenizer's are padding of the vocabulary.
    const TokenBytes bytes_of = [&](std::int32_t id) {
        return id < tokenizer.vocab_size() ? tokenizer.bytes_of(id) : std::string();
    };
    TapeHeader header{model_name(options_.model), model.config.shape, limit.tokens, {}};
    std::deque<LiveLane> lanes;
    for (const std::string& kind : options_.caches) {
        auto cache = make_cache(kind, options_, model.config.shape, limit.tokens, last_pass, gate_);
        header.lanes.push_back(cache->lane());
        lanes.emplace_back(std::move(cache), model, team, request, limit,
                           static_cast<std::int32_t>(lanes.size()), bytes_of);
    }
    gate_.throw_if_stopped();

    const std::string path = free_tape_name(options_.tape);
    TapeWriter tape(path, header);
    {
        const std::lock_guard lock(mutex_);
        status_.state = LiveStatus::State::running;
        status_.tape = path;
        header_ = header;
    }
    try {
        decode_in_lockstep(lanes, gate_, [&](const Step& step) {
            tape.write(step);
            deliver(step, request.stop_ids);
        });
    } catch (const std::exception& error) {
        try {
            tape.close(error.what());
        } catch (const Error&) {
            // The tape itself cannot be written; the first error says so.
        }
        throw;
    }
    tape.close();
    end(false, lanes.front().decoder.generation().finish_detail);
}

void LiveRun::deliver(const Step& step, const std::vector<std::int32_t>& stop_ids) {
    const std::lock_guard lock(mutex_);
    if (step.lane == 0) {
        for (const auto& [token, logit, margin] : step.spans.front().sampled) {
            const bool stops =
                std::find(stop_ids.begin(), stop_ids.end(), token.id) != stop_ids.end();
            if (!stops) status_.text += token.bytes;
        }
    }
    status_.steps += 1;
    finished_.push_back(step);
}

void LiveRun::end(bool failed, const std::string& how) {
    const std::lock_guard lock(mutex_);
    status_.state = LiveStatus::State::ended;
    status_.failed = failed;
    status_.end = how;
}

}  // namespace kvtape
