// Lesson 3: decoding without a cache. The same rows, computed again at every step.
#include <cstdio>
#include <map>
#include <tuple>

#include "lessons/common/tiny.h"
#include "reference_cpu/contiguous_cache.h"
#include "reference_cpu/no_cache.h"

using namespace kvtape;

namespace {

using RowName = std::tuple<std::int32_t, std::int32_t, Kind, std::int64_t>;

}  // namespace

int main() {
    const Model<float> model = lessons::tiny_model();
    NoCache cache(model.config.shape, KvDtype::f32, lessons::tiny_max_model_len);
    Team team(1);
    Recorder recorder(team.size(), {.digests = true});
    Request request;
    request.prompt = {5, 9, 2, 7};
    request.max_tokens = 8;
    Decoder<Recorder> decoder(model, cache, recorder, team, request,
                              LengthLimit{model.config.max_model_len});

    std::map<RowName, std::uint64_t> seen;  // the bits of each row when it was first computed
    std::int64_t flops = 0;
    std::printf("without a cache\n");
    std::printf("step  tokens  rows written  of these again  with the same bits     FLOPs\n");
    while (!decoder.finished()) {
        const PassReport& report = decoder.step();
        std::int64_t again = 0;
        std::int64_t same = 0;
        for (const auto& [row, digest] : report.digests) {
            const RowName name{row.layer, row.kv_head, row.kind, row.position};
            const auto [first, is_new] = seen.emplace(name, digest);
            again += is_new ? 0 : 1;
            same += !is_new && first->second == digest ? 1 : 0;
        }
        const Step& step = report.step;
        std::printf("%4ld  %6zu  %12ld  %14ld  %18ld  %8ld\n", step.index,
                    step.spans[0].tokens.size(), lessons::rows_written(step), again, same,
                    step.flops.total());
        flops += step.flops.total();
    }

    ContiguousCache kept(model.config.shape, KvDtype::f32, lessons::tiny_max_model_len);
    std::int64_t flops_with_cache = 0;
    for (const Step& step : lessons::decode(model, kept, request.prompt, *request.max_tokens)) {
        flops_with_cache += step.flops.total();
    }
    std::printf("\nall %ld steps: %ld FLOPs, with a cache %ld: %.1f times as many\n",
                *request.max_tokens, flops, flops_with_cache,
                static_cast<double>(flops) / static_cast<double>(flops_with_cache));
}
