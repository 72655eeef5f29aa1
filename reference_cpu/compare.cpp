#include "reference_cpu/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <tuple>

#include "core/check.h"

namespace kvtape {
namespace {

// The bits of every row, as first stored by any decoder.
class KnownRows {
  public:
    // The first row of the step, in the order of layers, that has other bits than before.
    std::optional<RowWrite> first_changed(const std::vector<RowDigest>& digests) {
        std::optional<RowWrite> changed;
        for (const auto& [row, digest] : digests) {
            const auto key = std::tuple(row.layer, row.kv_head, row.kind, row.position);
            const auto [known, inserted] = digest_of_.emplace(key, digest);
            if (inserted || known->second == digest) continue;
            const auto before = [](const RowWrite& a, const RowWrite& b) {
                return std::tie(a.layer, a.position, a.kv_head) <
                       std::tie(b.layer, b.position, b.kv_head);
            };
            if (!changed || before(row, *changed)) changed = row;
        }
        return changed;
    }

  private:
    std::map<std::tuple<std::int32_t, std::int32_t, Kind, std::int64_t>, std::uint64_t> digest_of_;
};

// How many logits have the same bits before the first that has not.
std::size_t equal_at_first(std::span<const float> a, std::span<const float> b) {
    std::size_t count = 0;
    while (count < a.size() && std::memcmp(&a[count], &b[count], sizeof(float)) == 0) ++count;
    return count;
}

// Largest |a - b|; infinite or NaN if a logit that is not finite has a part in it.
float largest_difference(std::span<const float> a, std::span<const float> b) {
    float largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const float difference = std::abs(a[i] - b[i]);
        if (std::isnan(difference)) return difference;
        largest = std::max(largest, difference);
    }
    return largest;
}

void add_totals(DecoderTotals& totals, const Step& step) {
    totals.flops += step.flops;
    totals.passes += 1;
    totals.kv_bytes_held = step.kv_bytes_held;
    totals.seconds += static_cast<double>(step.wall_ns) * 1e-9;
    for (const WriteRun& run : step.writes) totals.kv_rows_written += run.rows();
    for (const ReadRun& run : step.reads) {
        totals.kv_rows_read += run.rows_read();
        totals.kv_rows_fetched += run.rows_fetched();
    }
}

std::string row_name(const RowWrite& row) {
    return std::string(row.kind == Kind::key ? "K" : "V") + " row of KV head " +
           std::to_string(row.kv_head);
}

// What a difference of the logits amounts to. NaN and infinity count as real differences.
Verdict judge(float logit_difference, bool same_picks, float margin) {
    if (!(logit_difference <= rounding_tolerance)) return Verdict::different;
    if (same_picks) return Verdict::rounding;
    return margin <= rounding_tolerance ? Verdict::near_tie : Verdict::different;
}

}  // namespace

const char* name(Verdict verdict) {
    switch (verdict) {
        case Verdict::equal_bits:
            return "equal bits";
        case Verdict::rounding:
            return "rounding";
        case Verdict::near_tie:
            return "near-tie";
        case Verdict::different:
            return "different";
    }
    return "unknown";
}

Comparison compare(const Model<float>& model, const std::vector<std::unique_ptr<KvCache>>& caches,
                   Team& team, const Request& request, const LengthLimit& limit,
                   const TokenBytes& bytes_of, const std::function<void(const Step&)>& on_step,
                   bool keep_rows) {
    const std::int64_t vocab = model.config.shape.vocab;
    Comparison comparison;
    std::vector<std::unique_ptr<Recorder>> recorders;
    std::vector<std::unique_ptr<Decoder<Recorder>>> decoders;
    for (std::size_t i = 0; i < caches.size(); ++i) {
        recorders.push_back(std::make_unique<Recorder>(
            team.size(), RowKeeping{.digests = true, .codes = keep_rows}));
        decoders.push_back(
            std::make_unique<Decoder<Recorder>>(model, *caches[i], *recorders[i], team, request,
                                                limit, static_cast<std::int32_t>(i), bytes_of));
        comparison.decoders.emplace_back().lane = caches[i]->lane();
    }

    KnownRows known_rows;
    std::vector<float> first_logits;  // of the first decoder, this step
    bool equal = true;
    while (equal && !decoders.front()->finished()) {
        for (std::size_t i = 0; i < decoders.size(); ++i) {
            const PassReport& report = decoders[i]->step();
            add_totals(comparison.decoders[i], report.step);
            if (on_step) on_step(report.step);

            const auto changed = known_rows.first_changed(report.digests);
            if (i == 0) first_logits.assign(report.logits.begin(), report.logits.end());
            KVTAPE_CHECK(report.logits.size(), ==, first_logits.size());
            const std::size_t equal_logits = equal_at_first(report.logits, first_logits);
            if (!changed && equal_logits == first_logits.size()) continue;

            const float difference = largest_difference(report.logits, first_logits);
            if (!(difference <= comparison.largest_logit_difference)) {
                comparison.largest_logit_difference = difference;
            }
            if (equal) {
                equal = false;
                comparison.verdict = judge(
                    difference,
                    decoders[i]->generation().token_ids == decoders.front()->generation().token_ids,
                    decoders[i]->generation().smallest_margin);
                comparison.first_difference =
                    changed ? Difference{caches[i]->lane().name, report.step.index, changed->layer,
                                         changed->position, row_name(*changed)}
                            : Difference{caches[i]->lane().name, report.step.index, -1,
                                         report.first_logit_position +
                                             static_cast<std::int64_t>(equal_logits) / vocab,
                                         "logits"};
            }
        }
    }

    comparison.smallest_margin = std::numeric_limits<float>::infinity();
    for (std::size_t i = 0; i < decoders.size(); ++i) {
        comparison.decoders[i].generation = decoders[i]->generation();
        comparison.smallest_margin =
            std::min(comparison.smallest_margin, decoders[i]->generation().smallest_margin);
    }
    return comparison;
}

}  // namespace kvtape
