// The body of forward(), step by step. forward.cpp compiles it for the tracers of this project; a
// test with a tracer of its own includes this file.
#pragma once

#include <set>

#include "core/check.h"
#include "core/rope.h"
#include "reference_cpu/attention.h"
#include "reference_cpu/counted.h"
#include "reference_cpu/forward.h"
#include "reference_cpu/kernels.h"
#include "reference_cpu/linear_impl.h"

namespace kvtape {
namespace detail {

// The new tokens of all spans as one list of rows: R rows in all.
struct BatchRow {
    SequenceId sequence;
    std::int64_t position;
    std::int32_t token;
    std::int64_t logit_row;  // into PassResult::logits, -1 when none is wanted
};

struct Batch {
    std::vector<BatchRow> rows;  // (R)
    std::int64_t logit_rows = 0;
};

// Checks the spans against the model and the cache, before anything is changed.
inline Batch make_batch(const ModelConfig& config, const std::vector<Span>& spans,
                        const KvCache& cache) {
    Batch batch;
    std::set<SequenceId> seen;
    for (const Span& span : spans) {
        const std::int64_t n = std::ssize(span.tokens);
        const std::int64_t end = span.first_position + n;
        KVTAPE_CHECK(n, >=, 1);
        const bool first_of_its_sequence = seen.insert(span.sequence).second;
        KVTAPE_CHECK(first_of_its_sequence, ==, true);  // else rows would be written twice
        KVTAPE_CHECK(span.first_position, ==, cache.length(span.sequence));
        KVTAPE_CHECK(span.logit_rows, >=, 0);
        KVTAPE_CHECK(span.logit_rows, <=, n);
        if (end > config.max_model_len) {
            fail("sequence ", span.sequence, " would reach ", end, " tokens, max_model_len is ",
                 config.max_model_len, "; shorten the prompt or generate fewer tokens");
        }
        for (std::int64_t i = 0; i < n; ++i) {
            const std::int32_t token = span.tokens[static_cast<std::size_t>(i)];
            if (token < 0 || token >= config.shape.vocab) {
                fail("token id ", token, " at position ", span.first_position + i, " of sequence ",
                     span.sequence, " is outside the vocabulary [0, ", config.shape.vocab, ")");
            }
            const bool wants_logits = i >= n - span.logit_rows;
            batch.rows.push_back({span.sequence, span.first_position + i, token,
                                  wants_logits ? batch.logit_rows++ : -1});
        }
    }
    return batch;
}

inline std::vector<StoreCounts> sum_of_losses(
    const std::vector<std::vector<StoreCounts>>& by_worker /* (workers, L) */) {
    std::vector<StoreCounts> sums(by_worker.front().size());
    for (const std::vector<StoreCounts>& of_worker : by_worker) {
        for (std::size_t layer = 0; layer < sums.size(); ++layer) {
            sums[layer].saturated += of_worker[layer].saturated;
            sums[layer].non_finite += of_worker[layer].non_finite;
            sums[layer].worst_relative_error =
                std::max(sums[layer].worst_relative_error, of_worker[layer].worst_relative_error);
        }
    }
    return sums;
}

// The activations of a pass. Discarded when it is over; only K and V rows outlive it.
template <class Scalar>
struct Activations {
    Activations(const ModelShape& s, std::int64_t rows, std::int64_t logit_rows)
        : x(size(rows * s.hidden)),
          normed(size(rows * s.hidden)),
          q(size(rows * s.heads * s.head_dim)),
          k(size(rows * s.kv_heads * s.head_dim)),
          v(size(rows * s.kv_heads * s.head_dim)),
          attended(size(rows * s.heads * s.head_dim)),
          added(size(rows * s.hidden)),
          gate(size(rows * s.ffn)),
          up(size(rows * s.ffn)),
          last(size(logit_rows * s.hidden)) {}

    static std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

    std::vector<Scalar> x;         // (R, d), the residual stream
    std::vector<Scalar> normed;    // (R, d)
    std::vector<Scalar> q;         // (R, H, D)
    std::vector<Scalar> k;         // (R, G, D)
    std::vector<Scalar> v;         // (R, G, D)
    std::vector<Scalar> attended;  // (R, H, D)
    std::vector<Scalar> added;     // (R, d), what attention or MLP adds to x
    std::vector<Scalar> gate;      // (R, F)
    std::vector<Scalar> up;        // (R, F)
    std::vector<Scalar> last;      // (logit rows, d), normed rows that go to the head
};

// One worker's walk through a pass.
template <class Scalar, class Tracer>
class Pass {
  public:
    Pass(const Model<Scalar>& model, const Batch& batch, KvCache& cache,
         typename Tracer::Worker& tracer, Worker& me, Activations<Scalar>& a)
        : model_(model),
          s_(model.config.shape),
          batch_(batch),
          rows_(std::ssize(batch.rows)),
          tracer_(tracer),
          me_(me),
          a_(a),
          view_(cache, tracer),
          scratch_(s_),
          row_(static_cast<std::size_t>(s_.head_dim)) {}

    void run(Scalar* logits /* (logit rows, V) */) {
        embed();
        for (std::int64_t i = 0; i < s_.layers; ++i) {
            const Layer<Scalar>& layer = model_.layers[static_cast<std::size_t>(i)];
            // [lesson:one-layer]
            norm(layer.attention_norm);
            project_qkv(layer);
            rotate_and_store(static_cast<std::int32_t>(i));
            attend_all(static_cast<std::int32_t>(i));
            linear(layer.o, a_.attended, a_.added, Component::projections);
            add_residual();
            norm(layer.mlp_norm);
            mlp(layer);
            add_residual();
            // [/lesson]
        }
        logits_of_wanted_rows(logits);
    }

    const std::vector<StoreCounts>& losses() const { return view_.losses(); }

  private:
    // Look up the rows of the embedding.
    void embed() {
        for_my_rows([&](std::int64_t r) {
            const float* embedding = model_.embedding.data() + row(r).token * s_.hidden;
            std::copy_n(embedding, s_.hidden, a_.x.data() + r * s_.hidden);
        });
        me_.wait();
    }

    void norm(const std::vector<float>& weight /* (d) */) {
        const std::int64_t done = for_my_rows([&](std::int64_t r) {
            rms_norm(a_.x.data() + r * s_.hidden, weight.data(), model_.config.rms_norm_eps,
                     s_.hidden, a_.normed.data() + r * s_.hidden);
        });
        tracer_.flops(Component::norm, done * (4 * s_.hidden + 3));
        me_.wait();
    }

    void project_qkv(const Layer<Scalar>& layer) {
        my_panels(layer.q, a_.normed, a_.q, Component::projections);
        my_panels(layer.k, a_.normed, a_.k, Component::projections);
        my_panels(layer.v, a_.normed, a_.v, Component::projections);
        me_.wait();
    }

    // Turn q and k by their position, then store k and v. This is the only place where rows of the
    // cache are written, and each is written once.
    void rotate_and_store(std::int32_t layer) {
        const std::int64_t D = s_.head_dim;
        const std::int64_t done = for_my_rows([&](std::int64_t r) {
            const auto [sequence, position, token, logit_row] = row(r);
            const float* cos = model_.rope.cos_row(position);
            const float* sin = model_.rope.sin_row(position);
            for (std::int64_t h = 0; h < s_.heads; ++h) {
                rotate_half_split(a_.q.data() + (r * s_.heads + h) * D, cos, sin, D);
            }
            // [lesson:rotate-and-store]
            for (std::int64_t g = 0; g < s_.kv_heads; ++g) {
                const auto kv_head = static_cast<std::int32_t>(g);
                Scalar* k = a_.k.data() + (r * s_.kv_heads + g) * D;
                rotate_half_split(k, cos, sin, D);
                store({sequence, layer, kv_head, Kind::key}, position, k);
                store({sequence, layer, kv_head, Kind::value}, position,
                      a_.v.data() + (r * s_.kv_heads + g) * D);
            }
            // [/lesson]
        });
        tracer_.flops(Component::rope, done * (s_.heads + s_.kv_heads) * 3 * D);
        me_.wait();
    }

    void store(const RowKey& key, std::int64_t position, const Scalar* values /* (D) */) {
        for (std::int64_t i = 0; i < s_.head_dim; ++i) row_[i] = to_float(values[i]);
        view_.store(key, position, row_.data());
    }

    // Each (row, KV head) is one piece of work; a worker takes neighbours, so that it visits a
    // cached block once for all its heads.
    void attend_all(std::int32_t layer) {
        const auto [begin, end] = me_.share(rows_ * s_.kv_heads);
        for (std::int64_t piece = begin; piece < end;) {
            const std::int64_t r = piece / s_.kv_heads;
            const std::int64_t next = std::min(end, (r + 1) * s_.kv_heads);
            const std::int64_t first_head = piece - r * s_.kv_heads;
            // [lesson:causal-mask]
            const std::int64_t query = row(r).position;
            const std::int64_t visible_keys = query + 1;
            // [/lesson]
            const Attend what{row(r).sequence,
                              layer,
                              query,
                              visible_keys,
                              {first_head, first_head + next - piece},
                              model_.attention_scale};
            attend(view_, s_, what, a_.q.data() + r * s_.heads * s_.head_dim,
                   a_.attended.data() + r * s_.heads * s_.head_dim, scratch_);
            report_attention(what);
            piece = next;
        }
        me_.wait();
    }

    void report_attention(const Attend& what) {
        const std::int64_t D = s_.head_dim;
        const std::int64_t n = what.visible_keys;
        const std::int64_t splits = (n + scratch_.split_size - 1) / scratch_.split_size;
        const std::int64_t heads = (what.kv_heads.end - what.kv_heads.begin) * s_.group_size();
        tracer_.flops(Component::attention, heads * 4 * n * D);
        tracer_.flops(Component::softmax,
                      heads * (3 * n - splits + (splits - 1) * (7 + 3 * D) + 1 + D));
    }

    void mlp(const Layer<Scalar>& layer) {
        my_panels(layer.gate, a_.normed, a_.gate, Component::mlp);
        my_panels(layer.up, a_.normed, a_.up, Component::mlp);
        me_.wait();
        const std::int64_t done = for_my_rows([&](std::int64_t r) {
            swiglu(a_.gate.data() + r * s_.ffn, a_.up.data() + r * s_.ffn, s_.ffn);
        });
        tracer_.flops(Component::activation, done * 4 * s_.ffn);
        me_.wait();
        linear(layer.down, a_.gate, a_.added, Component::mlp);
    }

    void add_residual() {
        const std::int64_t done = for_my_rows([&](std::int64_t r) {
            add(a_.x.data() + r * s_.hidden, a_.added.data() + r * s_.hidden, s_.hidden);
        });
        tracer_.flops(Component::residual, done * s_.hidden);
        me_.wait();
    }

    void logits_of_wanted_rows(Scalar* logits /* (logit rows, V) */) {
        std::int64_t done = 0;
        for_my_rows([&](std::int64_t r) {
            if (row(r).logit_row < 0) return;
            rms_norm(a_.x.data() + r * s_.hidden, model_.final_norm.data(),
                     model_.config.rms_norm_eps, s_.hidden,
                     a_.last.data() + row(r).logit_row * s_.hidden);
            ++done;
        });
        tracer_.flops(Component::norm, done * (4 * s_.hidden + 3));
        me_.wait();
        const auto [begin, end] = me_.share(model_.head.panels());
        model_.head.multiply(a_.last.data(), batch_.logit_rows, logits, begin, end);
        const std::int64_t outputs =
            model_.head.outputs_before(end) - model_.head.outputs_before(begin);
        tracer_.flops(Component::head, 2 * batch_.logit_rows * s_.hidden * outputs);
        me_.wait();
    }

    // My panels of y = x W^T, for all rows.
    void my_panels(const PackedLinear<Scalar>& weights, const std::vector<Scalar>& x,
                   std::vector<Scalar>& y, Component component) {
        const auto [begin, end] = me_.share(weights.panels());
        weights.multiply(x.data(), rows_, y.data(), begin, end);
        const std::int64_t outputs = weights.outputs_before(end) - weights.outputs_before(begin);
        tracer_.flops(component, 2 * rows_ * weights.inputs() * outputs);
    }

    void linear(const PackedLinear<Scalar>& weights, const std::vector<Scalar>& x,
                std::vector<Scalar>& y, Component component) {
        my_panels(weights, x, y, component);
        me_.wait();
    }

    // Calls f(r) for my share of the rows and returns how many they were.
    template <class F>
    std::int64_t for_my_rows(const F& f) {
        const auto [begin, end] = me_.share(rows_);
        for (std::int64_t r = begin; r < end; ++r) f(r);
        return end - begin;
    }

    const BatchRow& row(std::int64_t r) const { return batch_.rows[static_cast<std::size_t>(r)]; }

    const Model<Scalar>& model_;
    const ModelShape& s_;
    const Batch& batch_;
    std::int64_t rows_;  // R
    typename Tracer::Worker& tracer_;
    Worker& me_;
    Activations<Scalar>& a_;
    KvView<Tracer> view_;
    AttentionScratch<Scalar> scratch_;
    std::vector<float> row_;  // (D)
};

}  // namespace detail

template <class Scalar, class Tracer>
PassResult<Scalar> forward(const Model<Scalar>& model, const std::vector<Span>& spans,
                           KvCache& cache, Tracer& tracer, Team& team) {
    const ModelShape& shape = model.config.shape;
    const detail::Batch batch = detail::make_batch(model.config, spans, cache);
    std::vector<Reservation> wanted;
    for (const Span& span : spans) {
        wanted.push_back({span.sequence, span.first_position + std::ssize(span.tokens)});
    }
    cache.reserve_all(wanted);

    PassResult<Scalar> result;
    result.logits.resize(static_cast<std::size_t>(batch.logit_rows * shape.vocab));
    std::vector<std::vector<StoreCounts>> losses(static_cast<std::size_t>(team.size()));
    detail::Activations<Scalar> activations(shape, std::ssize(batch.rows), batch.logit_rows);
    team.run([&](Worker& me) {
        auto&& listener = tracer.worker(me.index());
        detail::Pass<Scalar, Tracer> pass(model, batch, cache, listener, me, activations);
        pass.run(result.logits.data());
        losses[static_cast<std::size_t>(me.index())] = pass.losses();
    });

    for (const auto& [sequence, end] : wanted) cache.commit(sequence, end);
    result.losses = detail::sum_of_losses(losses);
    return result;
}

}  // namespace kvtape
