// Lesson 2: the causal mask, and why a row that is written never changes.
#include <cmath>
#include <cstdio>
#include <map>

#include "lessons/common/tiny.h"
#include "reference_cpu/attention.h"
#include "reference_cpu/contiguous_cache.h"

using namespace kvtape;

namespace {

using Tokens = std::vector<std::int32_t>;

// Computes all tokens in one pass; returns the bits of the K row of each position in the last
// layer.
std::map<std::int64_t, std::uint64_t> key_rows(const Model<float>& model, const Tokens& tokens) {
    ContiguousCache cache(model.config.shape, KvDtype::f32, lessons::tiny_max_model_len);
    Team team(1);
    Recorder recorder(team.size(), {.digests = true});
    forward(model, {Span{0, 0, tokens}}, cache, recorder, team);
    std::map<std::int64_t, std::uint64_t> rows;
    for (const auto& [row, digest] : recorder.take_step().digests) {
        if (row.layer == 1 && row.kv_head == 0 && row.kind == Kind::key) {
            rows[row.position] = digest;
        }
    }
    return rows;
}

// Attention with answers we know: key j is ln(j + 1) and value j is j + 1, so with the query 1 the
// softmax weight of position j is proportional to j + 1.
class KnownAttention {
  public:
    explicit KnownAttention(std::int64_t tokens)
        : cache_(shape_, KvDtype::f32, tokens), view_(cache_, listener_), scratch_(shape_) {
        cache_.reserve(0, tokens);
        for (std::int64_t j = 0; j < tokens; ++j) {
            const auto number = static_cast<float>(j + 1);
            const float key[] = {std::log(number), 0};
            const float value[] = {number, 0};
            view_.store({0, 0, 0, Kind::key}, j, key);
            view_.store({0, 0, 0, Kind::value}, j, value);
        }
    }

    float at(std::int64_t query, std::int64_t visible_keys) {
        const float q[] = {1, 0};
        float out[2];
        attend(view_, shape_, {0, 0, query, visible_keys, {0, 1}, 1.0f}, q, out, scratch_);
        return out[0];
    }

  private:
    ModelShape shape_{.layers = 1, .hidden = 2, .heads = 1, .kv_heads = 1, .head_dim = 2};
    ContiguousCache cache_;
    NullTracer::Worker listener_;
    KvView<NullTracer> view_;
    AttentionScratch<float> scratch_;
};

}  // namespace

int main() {
    const Model<float> model = lessons::tiny_model();
    const auto prompt = key_rows(model, {5, 9, 2, 7});
    const auto ends_in_1_3 = key_rows(model, {5, 9, 2, 7, 1, 3});
    const auto ends_in_8_6 = key_rows(model, {5, 9, 2, 7, 8, 6});
    std::printf("K rows of layer 1, KV head 0: a hash of their bits\n");
    std::printf("position   prompt alone       and then 1 3       and then 8 6\n");
    for (std::int64_t p = 0; p < 6; ++p) {
        std::printf("%8ld   ", p);
        if (prompt.contains(p)) {
            std::printf("%016lx", prompt.at(p));
        } else {
            std::printf("%-16s", "-");
        }
        std::printf("   %016lx   %016lx   %s\n", ends_in_1_3.at(p), ends_in_8_6.at(p),
                    ends_in_1_3.at(p) == ends_in_8_6.at(p) ? "equal" : "differ");
    }

    KnownAttention attention(5);
    std::printf("\nattention over 5 known keys\n");
    std::printf("query position        0       1       2       3       4\nwith the mask  ");
    for (std::int64_t p = 0; p < 5; ++p) std::printf("  %6.4f", attention.at(p, p + 1));
    std::printf("\nwithout it     ");
    for (std::int64_t p = 0; p < 5; ++p) std::printf("  %6.4f", attention.at(p, 5));
    std::printf("\n");
}
