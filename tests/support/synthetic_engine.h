// A pretended serving engine for tests: it makes up sequences, runs, prefixes that are shared,
// preemptions and swaps, and writes the steps that a real one would record. Beside them it keeps
// the cache the slow and obvious way, row by row, and takes a picture of it at every step. Playback
// and verify are held against these pictures.
#pragma once

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tracer/cost_model.h"
#include "tracer/playback.h"
#include "tracer/step.h"

namespace kvtape::test {

class SyntheticEngine {
  public:
    // (layer, kv_head, kind)
    using Where = std::tuple<std::int32_t, std::int32_t, Kind>;

    // What is in the cache while a step runs.
    struct Picture {
        std::map<std::int32_t, std::map<Where, std::vector<Cell>>> sequences;  // by position
        std::map<Where, std::vector<Cell>> slots;                              // by slot
        std::map<std::int32_t, std::vector<std::int64_t>> tables;
        std::map<std::int64_t, std::vector<std::int32_t>> holders;
        std::int64_t rows = 0;
    };

    SyntheticEngine(const std::string& cache, unsigned seed) : random_(seed) {
        paged_ = cache == "paged";
        forgets_ = cache == "none";
        header.model = "synthetic";
        header.shape = {2, 8, 4, 2, 4, 16, 32};
        header.max_model_len = max_length;
        block_size_ = paged_ ? 1 + below(4) : max_length;
        header.lanes = {
            {cache, "cpu", cache, KvDtype::f32, paged_ ? block_size_ : 0, paged_ ? blocks : 0}};
        for (std::int64_t block = 0; paged_ && block < blocks; ++block) free_.push_back(block);
    }

    void run(int count) {
        for (int i = 0; i < count; ++i) step();
    }

    TapeHeader header;
    std::vector<Step> steps;
    std::vector<Picture> pictures;  // (steps)

  private:
    static constexpr std::int64_t max_length = 40;
    static constexpr std::int64_t blocks = 60;

    struct ReadCount {
        std::int64_t read = 0, fetched = 0;
    };
    struct Row {
        bool filled = false;
        std::int32_t sequence = -1;
        std::int64_t position = -1, written_step = -1;
        Phase phase = Phase::prefill;
        std::map<std::int32_t, ReadCount> reads;  // by reader
        std::map<std::int32_t, std::int64_t> reads_now;
    };
    using Block = std::map<Where, std::vector<Row>>;
    struct Sequence {
        std::int64_t length = 0;  // rows that are there
        std::int64_t target = 0;  // length of the prompt
        std::vector<std::int64_t> table;
        std::vector<Block> swapped;
        bool is_swapped = false;
    };

    std::int64_t below(std::int64_t n) {
        return static_cast<std::int64_t>(random_() % static_cast<std::uint32_t>(n));
    }
    bool chance(int percent) { return below(100) < percent; }

    std::vector<Where> all_tracks() const {
        std::vector<Where> tracks;
        for (std::int32_t layer = 0; layer < header.shape.layers; ++layer) {
            for (std::int32_t head = 0; head < header.shape.kv_heads; ++head) {
                for (const Kind kind : {Kind::key, Kind::value})
                    tracks.push_back({layer, head, kind});
            }
        }
        return tracks;
    }

    // ---- blocks -------------------------------------------------------------------------------

    Block empty_block() const {
        Block block;
        for (const Where& where : all_tracks()) {
            block[where].resize(static_cast<std::size_t>(block_size_));
        }
        return block;
    }

    static void forget_reads(Block& block) {
        for (auto& [where, rows] : block) {
            for (Row& row : rows) row.reads.clear();
        }
    }

    void hold(std::int32_t id, std::int64_t block) {
        running_[id].table.push_back(block);
        holders_[block].insert(id);
        for (auto& [where, rows] : pool_[block]) {
            for (Row& row : rows) row.reads.erase(id);
        }
    }

    std::int64_t allocate(std::int32_t id, Step& step) {
        const auto pick = static_cast<std::size_t>(below(static_cast<std::int64_t>(free_.size())));
        const std::int64_t block = free_[pick];
        free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(pick));
        pool_[block] = empty_block();
        hold(id, block);
        step.pool.push_back({PoolEventKind::allocate, id, block, -1});
        return block;
    }

    void let_go(std::int32_t id, std::int64_t block) {
        holders_[block].erase(id);
        if (holders_[block].empty() && paged_) free_.push_back(block);
    }

    void let_go_of_all(std::int32_t id) {
        for (const std::int64_t block : running_[id].table) let_go(id, block);
        running_[id].table.clear();
        running_[id].length = 0;
    }

    // One event for all blocks, or one for each, the last block first.
    void free_events(std::int32_t id, Step& step) {
        const std::vector<std::int64_t>& table = running_[id].table;
        if (!paged_ || chance(50)) {
            step.pool.push_back({PoolEventKind::free, id, -1, -1});
        } else {
            for (auto block = table.rbegin(); block != table.rend(); ++block) {
                step.pool.push_back({PoolEventKind::free, id, *block, -1});
            }
        }
    }

    // ---- one step -----------------------------------------------------------------------------

    void step() {
        Step step;
        step.index = static_cast<std::int64_t>(steps.size());
        for (auto& [block, rows] : pool_) {
            for (auto& [where, list] : rows) {
                for (Row& row : list) row.reads_now.clear();
            }
        }
        if (!forgets_) take_away(step);
        start_sequences(step);
        choose_spans(step);
        access(step);
        pictures.push_back(picture(step.index));
        if (!forgets_) finish(step);
        count(step);
        steps.push_back(step);
        if (forgets_) {
            for (auto& [id, sequence] : running_) let_go_of_all(id);
        }
    }

    // Some sequences lose their blocks before the pass.
    void take_away(Step& step) {
        std::vector<std::int32_t> ids;
        for (const auto& [id, sequence] : running_) ids.push_back(id);
        for (const std::int32_t id : ids) {
            Sequence& sequence = running_[id];
            if (sequence.is_swapped) {
                if (chance(60)) swap_in(id, step);
            } else if (chance(6)) {
                step.pool.push_back({PoolEventKind::preempt, id, -1, -1});
                sequence.target = std::max(sequence.target, sequence.length);
                let_go_of_all(id);
            } else if (chance(4)) {
                free_events(id, step);
                let_go_of_all(id);
                running_.erase(id);
            } else if (paged_ && !sequence.table.empty() && chance(6)) {
                step.pool.push_back({PoolEventKind::swap_out, id, -1, -1});
                for (const std::int64_t block : sequence.table) {
                    sequence.swapped.push_back(pool_[block]);
                }
                const std::int64_t length = sequence.length;
                let_go_of_all(id);
                sequence.length = length;
                sequence.is_swapped = true;
            }
        }
    }

    void swap_in(std::int32_t id, Step& step) {
        Sequence& sequence = running_[id];
        if (free_.size() < sequence.swapped.size()) return;
        std::vector<Block> rows;
        rows.swap(sequence.swapped);
        sequence.is_swapped = false;
        const bool one_by_one = chance(50);
        for (Block& block : rows) {
            forget_reads(block);
            const std::int64_t to = allocate(id, step);
            if (one_by_one) step.pool.back().kind = PoolEventKind::swap_in;
            pool_[to] = block;
        }
        if (!one_by_one) step.pool.push_back({PoolEventKind::swap_in, id, -1, -1});
    }

    void start_sequences(Step& step) {
        if (running_.size() >= 4 || !(running_.empty() || chance(40))) return;
        const std::int32_t id = next_id_++;
        std::vector<std::int32_t> others;
        for (const auto& [other, sequence] : running_) {
            if (!sequence.is_swapped && sequence.length > 0) others.push_back(other);
        }
        running_[id].target = 1 + below(12);
        if (!paged_) return;

        if (!others.empty() && chance(50)) {  // begin with the rows of another sequence
            const std::int32_t other =
                others[static_cast<std::size_t>(below(static_cast<std::int64_t>(others.size())))];
            const std::vector<std::int64_t> table = running_[other].table;
            const bool fork = chance(50);
            const std::int64_t length = running_[other].length;
            const std::int64_t shared =
                fork ? (length + block_size_ - 1) / block_size_ : length / block_size_;
            for (std::int64_t i = 0; i < shared; ++i)
                share(id, table[static_cast<std::size_t>(i)], step);
            running_[id].length = fork ? length : shared * block_size_;
        } else if (chance(50)) {  // revive a full first block that nobody holds
            for (const std::int64_t block : free_) {
                const auto found = pool_.find(block);
                if (found == pool_.end()) continue;
                const Row& last = found->second.begin()->second.back();
                if (!last.filled || last.position != block_size_ - 1) continue;
                forget_reads(found->second);
                share(id, block, step);
                std::erase(free_, block);
                running_[id].length = block_size_;
                break;
            }
        }
        running_[id].target = std::max(running_[id].target, running_[id].length);
    }

    void share(std::int32_t id, std::int64_t block, Step& step) {
        step.pool.push_back({PoolEventKind::share, id, block, -1});
        hold(id, block);
    }

    void choose_spans(Step& step) {
        for (auto& [id, sequence] : running_) {
            if (sequence.is_swapped || !chance(75)) continue;
            const std::int64_t rest = sequence.target - sequence.length;
            std::int64_t tokens = rest > 0 ? 1 + below(std::min<std::int64_t>(rest, 6)) : 1;
            if (forgets_) tokens = std::max<std::int64_t>(++sequence.target, 1);
            if (sequence.length + tokens > max_length || !make_room(id, tokens, step)) continue;
            SpanRecord span;
            span.sequence = id;
            span.first_position = sequence.length;
            for (std::int64_t i = 0; i < tokens; ++i) {
                span.tokens.push_back({static_cast<std::int32_t>(below(32)), "x"});
            }
            span.logit_rows = below(tokens + 1);
            if (tokens > 1) step.phase = Phase::prefill;
            step.spans.push_back(span);
        }
        const auto decodes = [](const SpanRecord& span) { return span.tokens.size() == 1; };
        const bool all = std::all_of(step.spans.begin(), step.spans.end(), decodes);
        step.phase = all ? Phase::decode : Phase::prefill;
    }

    // Blocks for `tokens` more rows; a shared block that would be written is copied first.
    bool make_room(std::int32_t id, std::int64_t tokens, Step& step) {
        Sequence& sequence = running_[id];
        if (!paged_) {
            if (sequence.table.empty()) {
                pool_[id] = empty_block();
                hold(id, id);
            }
            return true;
        }
        const auto needed =
            static_cast<std::size_t>((sequence.length + tokens + block_size_ - 1) / block_size_);
        if (free_.size() < needed - std::min(needed, sequence.table.size()) + 1) return false;
        const auto first = static_cast<std::size_t>(sequence.length / block_size_);
        if (first < sequence.table.size() && holders_[sequence.table[first]].size() > 1) {
            const std::int64_t from = sequence.table[first];
            const std::int64_t to = allocate(id, step);
            if (chance(50)) step.pool.pop_back();  // the copy says enough
            step.pool.push_back({PoolEventKind::copy_on_write, id, to, from});
            sequence.table.pop_back();
            sequence.table[first] = to;
            pool_[to] = pool_[from];
            forget_reads(pool_[to]);
            let_go(id, from);
        }
        while (sequence.table.size() < needed) allocate(id, step);
        return true;
    }

    Row& row(std::int32_t id, const Where& where, std::int64_t position) {
        const std::int64_t block =
            running_[id].table[static_cast<std::size_t>(position / block_size_)];
        return pool_[block][where][static_cast<std::size_t>(position % block_size_)];
    }

    std::int64_t slot(std::int32_t id, std::int64_t position) {
        if (!paged_) return position;
        const std::int64_t block =
            running_[id].table[static_cast<std::size_t>(position / block_size_)];
        return block * block_size_ + position % block_size_;
    }

    void access(Step& step) {
        const auto group = static_cast<std::int32_t>(header.shape.group_size());
        for (const SpanRecord& span : step.spans) {
            const std::int32_t id = span.sequence;
            const std::int64_t begin = span.first_position;
            const auto end = begin + static_cast<std::int64_t>(span.tokens.size());
            for (const auto& [layer, head, kind] : all_tracks()) {
                const Where where{layer, head, kind};
                for (std::int64_t position = begin; position < end; ++position) {
                    row(id, where, position) = {true, id, position, step.index, step.phase, {}, {}};
                    step.writes.push_back(
                        {id, layer, head, kind, position, position + 1, slot(id, position)});
                }
                const bool shares_fetch = id % 2 == 0;
                const std::int32_t width = shares_fetch ? group : 1;
                for (std::int32_t h = head * group; h < (head + 1) * group; h += width) {
                    step.reads.push_back(
                        {id, layer, head, h, h + width, kind, begin, end, 0, end, true});
                    for (std::int64_t query = begin; query < end; ++query) {
                        for (std::int64_t key = 0; key <= query; ++key) {
                            Row& read = row(id, where, key);
                            read.reads[id].fetched += 1;
                            read.reads[id].read += width;
                            read.reads_now[id] += width;
                        }
                    }
                }
            }
            running_[id].length = end;
        }
        step.writes = canonical(std::move(step.writes));
        step.reads = canonical(std::move(step.reads));
    }

    // Some of the sequences that took part are done.
    void finish(Step& step) {
        for (const SpanRecord& span : step.spans) {
            if (!chance(8)) continue;
            free_events(span.sequence, step);
            let_go_of_all(span.sequence);
            running_.erase(span.sequence);
        }
    }

    void count(Step& step) {
        std::vector<SpanCost> costs;
        for (const SpanRecord& span : step.spans) {
            costs.push_back({span.first_position, static_cast<std::int64_t>(span.tokens.size()),
                             span.logit_rows});
        }
        step.flops = expected_flops(header.shape, costs);
        const std::int64_t row_bytes = header.shape.head_dim * 4;
        for (const WriteRun& run : step.writes) step.kv_bytes_written += run.rows() * row_bytes;
        for (const ReadRun& run : step.reads) step.kv_bytes_read += run.rows_fetched() * row_bytes;
        for (const auto& [block, holders] : holders_) {
            if (holders.empty()) continue;
            for (const auto& [where, rows] : pool_[block]) {
                for (const Row& row : rows) step.kv_bytes_held += row.filled ? row_bytes : 0;
            }
        }
        if (forgets_) step.kv_bytes_held = 0;
    }

    // ---- pictures -----------------------------------------------------------------------------

    static Cell cell(const Row& row, std::int64_t slot, std::int64_t step,
                     const std::set<std::int32_t>* reader) {
        Cell cell;
        if (!row.filled) return cell;
        cell.filled = true;
        cell.sequence = row.sequence;
        cell.position = row.position;
        cell.slot = slot;
        cell.written_step = row.written_step;
        cell.written_phase = row.phase;
        cell.written_now = row.written_step == step;
        for (const auto& [id, count] : row.reads) {
            if (reader != nullptr && !reader->contains(id)) continue;
            cell.times_read += count.read;
            cell.times_fetched += count.fetched;
        }
        for (const auto& [id, reads] : row.reads_now) {
            if (reader == nullptr || reader->contains(id)) cell.read_now += reads;
        }
        return cell;
    }

    Picture picture(std::int64_t step) {
        Picture picture;
        for (const auto& [id, sequence] : running_) {
            const std::set<std::int32_t> self = {id};
            if (paged_) picture.tables[id] = sequence.table;
            for (const Where& where : all_tracks()) {
                std::vector<Cell>& cells = picture.sequences[id][where];
                const auto end = static_cast<std::int64_t>(sequence.table.size()) * block_size_;
                for (std::int64_t position = 0; position < end; ++position) {
                    cells.push_back(
                        cell(row(id, where, position), slot(id, position), step, &self));
                }
            }
        }
        for (const auto& [block, ids] : holders_) {
            if (ids.empty()) continue;
            picture.holders[block] = {ids.begin(), ids.end()};
            for (const auto& [where, rows] : pool_[block]) {
                std::vector<Cell>& cells = picture.slots[where];
                if (paged_) cells.resize(static_cast<std::size_t>(blocks * block_size_));
                std::int64_t slot = block * block_size_;
                for (const Row& row : rows) {
                    picture.rows += row.filled;
                    if (paged_)
                        cells[static_cast<std::size_t>(slot)] = cell(row, slot, step, nullptr);
                    ++slot;
                }
            }
        }
        return picture;
    }

    std::mt19937 random_;
    bool paged_, forgets_;
    std::int64_t block_size_;
    std::int32_t next_id_ = 0;
    std::map<std::int32_t, Sequence> running_;
    std::map<std::int64_t, Block> pool_;  // what was last in each block
    std::map<std::int64_t, std::set<std::int32_t>> holders_;
    std::vector<std::int64_t> free_;
};

}  // namespace kvtape::test
