// What `compare` and `demo` say about the three decoders.
#pragma once

#include <string>

#include "cli/comparison_run.h"
#include "cli/json_values.h"

namespace kvtape {

// One column per decoder: costs by component, rows, bytes, seconds, and all of it beside the
// decoder without a cache.
std::string comparison_table(const ComparisonRun& run);

// One line: that every bit is equal, and of how many rows, or where the first difference is.
std::string verdict_line(const ComparisonRun& run);

// The exit code. Bits that differ are also said on standard error.
int conclude(const ComparisonRun& run);

// Also says how large the differences of the logits are and how close the nearest tie was, without
// which a verdict of "rounding" or "near-tie" could not be judged.
std::string margin_line(const ComparisonRun& run);

Json comparison_json(const ComparisonRun& run, const LoadedModel& loaded, const Request& request);

// Worst over the decoders; they all stored the same rows.
StoreCounts comparison_losses(const ComparisonRun& run);

}  // namespace kvtape
