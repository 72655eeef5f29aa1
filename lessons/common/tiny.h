// What the lessons share: a model so small that every number fits on a screen, and a way to decode
// with it while everything is recorded.
#pragma once

#include <cstdint>
#include <vector>

#include "reference_cpu/decoder.h"
#include "reference_cpu/kv_cache.h"
#include "reference_cpu/model.h"

namespace kvtape::lessons {

// L = 2, d = 16, H = 4, G = kv_heads, D = 4, F = 32, V = 32, sequences of up to 256 tokens. The
// weights come from a seed and mean nothing: what the lessons show depends on the shapes, not on
// the words.
inline constexpr std::int64_t tiny_max_model_len = 256;
ModelShape tiny_shape(std::int64_t kv_heads = 2);
Model<float> tiny_model(std::int64_t kv_heads = 2);

// Feeds `prompt`, generates `new_tokens` tokens greedily and returns what each forward pass did.
std::vector<Step> decode(const Model<float>& model, KvCache& cache,
                         const std::vector<std::int32_t>& prompt, std::int64_t new_tokens);

// Sums over the runs of a step.
std::int64_t rows_written(const Step& step);
std::int64_t rows_read(const Step& step);     // one per query head
std::int64_t rows_fetched(const Step& step);  // one per group of query heads

// For exercises: prints one line that tells what was expected and what was found; returns 1 if they
// differ, 0 if not.
int check(const char* what, double expected, double found);

// For exercises: prints the verdict and returns the exit code.
int verdict(int wrong);

}  // namespace kvtape::lessons
