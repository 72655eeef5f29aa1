#include "viewer/glossary.h"

#include <algorithm>
#include <utility>

namespace kvtape {
namespace {

constexpr std::pair<std::string_view, const char*> words[] = {
    {"TTFT", "Time to first token: from the request to the first new token. All of prefill."},
    {"ITL", "Inter-token latency: from one new token to the next."},
    {"K", "Key: a row of D numbers per token, layer and KV head, with which queries are compared."},
    {"V", "Value: a row of D numbers per token, layer and KV head, of which sums are made."},
    {"KV cache",
     "The K and V rows of all tokens seen, kept so that they need not be computed again."},
    {"KV head", "K and V rows that a group of query heads shares (GQA)."},
    {"FLOP", "One floating-point operation; a multiply-add counts as two."},
    {"FLOPs", "Floating-point operations; a multiply-add counts as two."},
    {"FLOP/byte",
     "Arithmetic intensity: FLOPs per byte moved. Low means that memory sets the pace."},
    {"prefill", "The pass over the prompt: many tokens at once, filling the cache."},
    {"decode", "A pass over one new token: it appends one column and reads all before it."},
    {"position", "The index of a token in its sequence, from 0."},
    {"slot", "A row of physical storage; where a position lies."},
    {"block", "B slots that a paged cache hands out as one."},
    {"block table", "For each sequence: which block holds positions 0 to B - 1, B to 2 B - 1, ..."},
    {"rows written", "K and V rows stored: one per token, layer, KV head and kind."},
    {"rows read", "Rows used by query heads; heads that share a row count it each."},
    {"rows fetched", "Rows taken from storage; a group of query heads fetches a row once."},
    {"bytes held", "Storage set aside for the cache after the step."},
    {"closed form", "What the count must be, by a formula from the shapes alone."},
    {"measured = closed form",
     "At every step, the kernels counted exactly what the formulas say: the dots lie on the "
     "curves."},
    {"positions read", "How many tokens of the sequence the step's last query looks at."},
    {"dtype", "Number format of the cached values: f32, f16, bf16, fp8_e4m3 or fp8_e5m2."},
    {"margin", "Largest minus second largest logit: how sure the pick was."},
    {"waste", "Slots that are set aside but hold no row."},
    {"query", "What a token compares with the keys of all tokens up to it; used once, never kept."},
    {"key", "K: what a token can be found by. A row of D numbers per layer and KV head."},
    {"value", "V: what a token has to say. A row of D numbers per layer and KV head."},
    {"row", "K or V of one token in one layer and KV head: D numbers."},
    {"causal mask", "The token at position p looks at the positions 0 to p, and at none after it."},
    {"MLP", "The part of a layer that works on each token by itself, after attention."},
    {"logit", "The model's score for a token as the next one. The largest is picked."},
    {"MHA", "Multi-head attention: each query head has a K and a V of its own, G = H."},
    {"GQA", "Grouped-query attention: groups of query heads share a K and a V, 1 < G < H."},
    {"MQA", "Multi-query attention: all query heads share one K and one V, G = 1."},
    {"prompt", "The text that the model is given; prefill reads it."},
    {"time", "By the clock of the machine that made the tape, recording included."},
    {"lane", "One decoder with one cache; a tape may show several on the same prompt."},
    {"track", "Layer, KV head, and K or V: one line of the grid."},
    {"query heads", "Heads that ask. Those of a group share the rows of one KV head."},
    {"sequence", "One text that is read and continued, with rows of its own in the cache."},
    {"written in", "The step that computed this row."},
    {"this step",
     "How often the step on show reads this row, and by how many of the query heads that may."},
    {"times read", "By query heads, since the row is there, the step on show included."},
    {"times fetched", "From storage: once for all query heads of a group that share the fetch."},
    {"storage error",
     "What rounding to the dtype did to the rows that this step stored in this layer."},
    {"holds", "How many numbers the row has, and the bytes they take."},
    {"event list", "The panel in which every access on the tape has a line."},
    {"state", "Whether there is a row in this cell at the step on show."},
    {"filled in", "The next step that computes the token of this cell."},
};

}  // namespace

const char* explanation(std::string_view word) {
    const auto* found = std::find_if(std::begin(words), std::end(words),
                                     [&](const auto& entry) { return entry.first == word; });
    return found == std::end(words) ? nullptr : found->second;
}

}  // namespace kvtape
