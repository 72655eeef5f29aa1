#include "tracer/step_check.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "core/check.h"
#include "tracer/cost_model.h"
#include "tracer/tape_limits.h"

namespace kvtape {
namespace {

// Throws unless low <= value <= high.
void require(const char* what, std::int64_t value, std::int64_t low, std::int64_t high) {
    if (value >= low && value <= high) return;
    fail(what, " is ", value, "; it must be between ", low, " and ", high);
}

void require_range(const char* what, std::int64_t begin, std::int64_t end, std::int64_t low,
                   std::int64_t high) {
    if (begin >= low && begin < end && end <= high) return;
    fail(what, " [", begin, ", ", end, ") is not a range within [", low, ", ", high, ")");
}

// The positions a step computed, by sequence.
class Spans {
  public:
    Spans(const Step& step, const TapeHeader& header) {
        const std::int64_t limit = header.max_model_len > 0 ? header.max_model_len : max_position;
        for (const SpanRecord& span : step.spans) {
            const auto tokens = static_cast<std::int64_t>(span.tokens.size());
            require("a span's sequence", span.sequence, 0, INT32_MAX);
            require("a span's first_position", span.first_position, 0, limit);
            require_range("a span's positions", span.first_position, span.first_position + tokens,
                          0, limit);
            spans_.push_back({span.sequence, span.first_position, span.first_position + tokens});
        }
        std::sort(spans_.begin(), spans_.end());
        for (std::size_t i = 1; i < spans_.size(); ++i) {
            if (spans_[i].sequence == spans_[i - 1].sequence) {
                fail("sequence ", spans_[i].sequence, " has two spans in one step");
            }
        }
    }

    // Throws unless `sequence` has a span and [begin, end) lies in it.
    void require_inside(const char* what, std::int32_t sequence, std::int64_t begin,
                        std::int64_t end) const {
        const auto found = std::lower_bound(spans_.begin(), spans_.end(), Span{sequence, 0, 0});
        if (found == spans_.end() || found->sequence != sequence) {
            fail(what, " belong to sequence ", sequence, ", which has no span in the step");
        }
        require_range(what, begin, end, found->begin, found->end);
    }

  private:
    struct Span {
        std::int32_t sequence;
        std::int64_t begin, end;
        auto operator<=>(const Span&) const = default;
    };
    std::vector<Span> spans_;
};

void check_token(const TokenText& token, const ModelShape& shape) {
    require("a token id", token.id, 0, shape.vocab - 1);
}

void check_writes(const Step& step, const TapeHeader& header, const Spans& spans) {
    const Lane& lane = header.lanes[static_cast<std::size_t>(step.lane)];
    const std::int64_t slots = lane.blocks > 0 ? lane.blocks * lane.block_size : max_slot;
    const std::int64_t block_size = lane.blocks > 0 ? lane.block_size : max_slot;
    std::int64_t rows = 0, blocks = 0;
    for (const WriteRun& run : step.writes) {
        require("a write's layer", run.layer, 0, header.shape.layers - 1);
        require("a write's kv_head", run.kv_head, 0, header.shape.kv_heads - 1);
        spans.require_inside("written positions", run.sequence, run.position_begin,
                             run.position_end);
        require("a write's slot_begin", run.slot_begin, 0, slots);
        require_range("written slots", run.slot_begin, run.slot_begin + run.rows(), 0, slots);
        rows += run.rows();
        blocks += (run.position_end - 1) / block_size - run.position_begin / block_size + 1;
    }
    require("the number of blocks that the write runs touch", blocks, 0, max_blocks_per_step);
    require("the count of written rows", rows, 0, max_count / (header.shape.head_dim * 4));
}

void check_reads(const Step& step, const TapeHeader& header, const Spans& spans) {
    const ModelShape& shape = header.shape;
    const std::int64_t row_limit = max_count / (shape.head_dim * 4);  // so that bytes fit too
    std::int64_t fetched = 0, read = 0;
    for (const ReadRun& run : step.reads) {
        require("a read's layer", run.layer, 0, shape.layers - 1);
        require("a read's kv_head", run.kv_head, 0, shape.kv_heads - 1);
        const std::int64_t first_head = run.kv_head * shape.group_size();
        require_range("the query heads of a read", run.head_begin, run.head_end, first_head,
                      first_head + shape.group_size());
        spans.require_inside("queries", run.sequence, run.query_begin, run.query_end);
        require_range("the keys of a read", run.key_begin, run.key_end, 0, max_position);
        if (run.causal && run.key_end != run.query_end) {
            fail("a causal read has key_end ", run.key_end, " but query_end ", run.query_end,
                 "; they must be equal");
        }
        const std::int64_t heads = run.head_end - run.head_begin;
        require("the rows fetched by a read", run.rows_fetched(), 0, max_count / heads);
        fetched += run.rows_fetched();
        read += run.rows_read();
        require("the count of fetched rows", fetched, 0, row_limit);
        require("the count of read rows", read, 0, max_count);
    }
}

void check_pool(const Step& step, const Lane& lane) {
    for (const PoolEvent& event : step.pool) {
        require("a pool event's sequence", event.sequence, 0, INT32_MAX);
        require("a pool event's block", event.block, -1, lane.blocks - 1);
        require("a pool event's from_block", event.from_block, -1, lane.blocks - 1);
    }
}

// Stored rows are those of the step, and each is listed once.
void check_rows(const Step& step, const TapeHeader& header, const Spans& spans) {
    const ModelShape& shape = header.shape;
    const KvDtype dtype = header.lanes[static_cast<std::size_t>(step.lane)].kv_cache_dtype;
    const std::int64_t row_bytes = shape.head_dim * bytes_per_element(dtype);
    const auto name = [](const StoredRows& rows, std::int64_t position) {
        return std::tuple(rows.sequence, rows.layer, rows.kv_head, rows.kind, position);
    };
    auto next = std::tuple(0, 0, 0, Kind::key, std::int64_t{0});
    for (const StoredRows& rows : step.rows) {
        require("the layer of stored rows", rows.layer, 0, shape.layers - 1);
        require("the kv_head of stored rows", rows.kv_head, 0, shape.kv_heads - 1);
        require("the position of stored rows", rows.position_begin, 0, max_position);
        const std::int64_t bytes = std::ssize(rows.codes);
        if (bytes == 0 || bytes % row_bytes != 0) {
            fail("the codes of stored rows are ", bytes, " bytes; a row has ", row_bytes);
        }
        const std::int64_t end = rows.position_begin + bytes / row_bytes;
        spans.require_inside("the positions of stored rows", rows.sequence, rows.position_begin,
                             end);
        if (name(rows, rows.position_begin) < next) fail("stored rows are not in order");
        next = name(rows, end);
    }
}

void check_extras(const Step& step, const ModelShape& shape, const Spans& spans) {
    for (const StoreLoss& loss : step.losses) {
        require("a loss's layer", loss.layer, 0, shape.layers - 1);
        require("a loss's saturated", loss.saturated, 0, max_count);
        require("a loss's non_finite", loss.non_finite, 0, max_count);
    }
    for (const AttentionWeights& of : step.attention) {
        require("the layer of attention weights", of.layer, 0, shape.layers - 1);
        require("the head of attention weights", of.head, 0, shape.heads - 1);
        spans.require_inside("queries of attention weights", of.sequence, of.query, of.query + 1);
        require("the count of attention weights", static_cast<std::int64_t>(of.weights.size()), 0,
                of.query + 1);
    }
}

}  // namespace

void validate(const TapeHeader& header) {
    validate(header.shape);
    require("2 * layers * kv_heads", kv_rows_per_token(header.shape), 1, max_rows_per_token);
    require("max_model_len", header.max_model_len, 0, max_position);
    require("the number of lanes", static_cast<std::int64_t>(header.lanes.size()), 1, max_lanes);

    std::set<std::string> names;
    for (const Lane& lane : header.lanes) {
        if (!names.insert(lane.name).second) fail("two lanes have the name '", lane.name, "'");
        if (lane.cache != "none" && lane.cache != "contiguous" && lane.cache != "paged") {
            fail("lane '", lane.name, "' has cache '", lane.cache,
                 "'; it must be none, contiguous or paged");
        }
        const bool paged = lane.cache == "paged";
        require("a lane's block_size", lane.block_size, paged ? 1 : 0, paged ? max_position : 0);
        if (!(lane.kv_scale > 0 && lane.kv_scale <= std::numeric_limits<float>::max())) {
            fail("a lane's kv_scale is ", lane.kv_scale, "; it must be above 0 and finite");
        }
        require("a lane's blocks", lane.blocks, paged ? 1 : 0,
                paged ? max_slot / lane.block_size : 0);
    }
}

void validate(const Step& step, const TapeHeader& header) {
    require("lane", step.lane, 0, static_cast<std::int64_t>(header.lanes.size()) - 1);
    require("step", step.index, 0, max_count);

    const Spans spans(step, header);
    for (const SpanRecord& span : step.spans) {
        require("logit_rows", span.logit_rows, 0, static_cast<std::int64_t>(span.tokens.size()));
        require("the number of sampled tokens", static_cast<std::int64_t>(span.sampled.size()), 0,
                1);
        for (const TokenText& token : span.tokens) check_token(token, header.shape);
        for (const Sampled& sampled : span.sampled) check_token(sampled.token, header.shape);
    }
    require("the number of write runs", static_cast<std::int64_t>(step.writes.size()), 0,
            max_runs_per_step);
    require("the number of read runs", static_cast<std::int64_t>(step.reads.size()), 0,
            max_runs_per_step);
    check_writes(step, header, spans);
    check_reads(step, header, spans);
    check_pool(step, header.lanes[static_cast<std::size_t>(step.lane)]);
    check_rows(step, header, spans);
    check_extras(step, header.shape, spans);

    for (const std::int64_t flops : step.flops.of) require("flops", flops, 0, max_count);
    require("kv_bytes written", step.kv_bytes_written, 0, max_count);
    require("kv_bytes read", step.kv_bytes_read, 0, max_count);
    require("kv_bytes held", step.kv_bytes_held, 0, max_count);
    require("queue running", step.queue.running, 0, max_count);
    require("queue waiting", step.queue.waiting, 0, max_count);
    require("queue swapped", step.queue.swapped, 0, max_count);
    require("wall_ns", step.wall_ns, 0, max_count);
}

}  // namespace kvtape
