// Tapes of any size without running a model: what three decoders would write and read for a prompt
// and a number of decode steps. The runs, bytes and FLOPs are those of a real run of that shape;
// only the times and the text are made up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tracer/cost_model.h"
#include "tracer/step.h"

namespace kvtape {

struct SyntheticTape {
    ModelShape shape = {2, 8, 4, 2, 4, 16, 32};
    std::int64_t prompt = 5;
    std::int64_t decode_steps = 4;
    std::vector<std::string> caches = {"none", "contiguous", "paged"};
    std::int64_t block_size = 4;

    TapeHeader header() const {
        TapeHeader header{"synthetic", shape, prompt + decode_steps + 8, {}};
        for (const std::string& cache : caches) {
            const bool paged = cache == "paged";
            header.lanes.push_back(
                {cache, "cpu", cache, KvDtype::f32, paged ? block_size : 0, paged ? blocks() : 0});
        }
        return header;
    }

    std::int64_t steps() const { return 1 + decode_steps; }
    std::int64_t blocks() const { return (prompt + decode_steps) / block_size + 3; }

    // The block that holds the sequence's i-th B positions: taken from both ends of the pool in
    // turn, so that neighbours lie apart, as in a pool that has been in use.
    std::int64_t block_of(std::int64_t i) const {
        return i % 2 == 0 ? i / 2 : blocks() - 1 - i / 2;
    }

    // The pass of lane `lane` in step `index`.
    Step step(std::int32_t lane, std::int64_t index) const {
        const std::string& cache = caches[static_cast<std::size_t>(lane)];
        const std::int64_t end = prompt + index;
        const std::int64_t begin = index == 0 || cache == "none" ? 0 : end - 1;
        Step step;
        step.index = index;
        step.lane = lane;
        step.phase = index == 0 ? Phase::prefill : Phase::decode;
        SpanRecord span;
        span.first_position = begin;
        for (std::int64_t p = begin; p < end; ++p) {
            span.tokens.push_back({static_cast<std::int32_t>(p % shape.vocab),
                                   std::string(1, static_cast<char>('a' + p % 26))});
        }
        span.sampled.push_back({{static_cast<std::int32_t>(end % shape.vocab), "x"}, 1, 1});
        step.spans.push_back(span);

        for (std::int32_t layer = 0; layer < shape.layers; ++layer) {
            for (std::int32_t head = 0; head < shape.kv_heads; ++head) {
                for (const Kind kind : {Kind::key, Kind::value}) {
                    add_writes(step, cache == "paged", layer, head, kind, begin, end);
                    const auto group = static_cast<std::int32_t>(shape.group_size());
                    step.reads.push_back({0, layer, head, head * group, (head + 1) * group, kind,
                                          begin, end, 0, end, true});
                }
            }
        }
        const SpanCost cost{begin, end - begin, 1};
        step.flops = expected_flops(shape, {cost});
        const std::int64_t row_bytes = shape.head_dim * 4;
        step.kv_bytes_written = kv_rows_per_token(shape) * (end - begin) * row_bytes;
        step.kv_bytes_read = kv_rows_fetched(shape, cost) * row_bytes;
        if (cache == "contiguous") {
            step.kv_bytes_held = kv_rows_per_token(shape) * (prompt + decode_steps + 8) * row_bytes;
        } else if (cache == "paged") {
            const std::int64_t held = (end + block_size - 1) / block_size;
            const std::int64_t before = index == 0 ? 0 : (end - 1 + block_size - 1) / block_size;
            for (std::int64_t i = before; i < held; ++i) {
                step.pool.push_back({PoolEventKind::allocate, 0, block_of(i), -1});
            }
            step.kv_bytes_held = kv_rows_per_token(shape) * held * block_size * row_bytes;
        }
        step.queue.running = 1;
        step.wall_ns = 1000 * (end - begin) + 10 * end;
        return step;
    }

  private:
    void add_writes(Step& step, bool paged, std::int32_t layer, std::int32_t head, Kind kind,
                    std::int64_t begin, std::int64_t end) const {
        if (!paged) {
            step.writes.push_back({0, layer, head, kind, begin, end, begin});
            return;
        }
        for (std::int64_t p = begin; p < end;) {
            const std::int64_t next = std::min(end, (p / block_size + 1) * block_size);
            step.writes.push_back({0, layer, head, kind, p, next,
                                   block_of(p / block_size) * block_size + p % block_size});
            p = next;
        }
    }
};

}  // namespace kvtape
