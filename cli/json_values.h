// How the numbers of `--json` are spelled. Keys keep the order in which they were written.
//
// JSON has no infinity and no NaN; like on the tape they are the strings "Infinity", "-Infinity"
// and "NaN". Hashes are 16 hex digits in a string, because many readers take numbers for doubles.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/number_format.h"
#include "core/shape.h"
#include "tracer/flops.h"

namespace kvtape {

using Json = nlohmann::ordered_json;

Json json_number(double value);
std::string hex16(std::uint64_t value);

// {"projections": ..., ..., "total": ...}
Json json_flops(const FlopCounts& flops);
Json json_losses(const StoreCounts& losses);
Json json_shape(const ModelShape& shape);

// Prints the value, indented, with a newline.
void print_json(const Json& value);

}  // namespace kvtape
