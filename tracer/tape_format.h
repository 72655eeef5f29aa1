// The spelling of a tape: header and steps as JSON values. The same values are written as lines of
// JSON or as CBOR (tracer/tape_encoding.h). In JSON, a tape of one decode step looks like this:
//
//   {"tape":"kvtape","version":1,"model":"storyteller","shape":{"layers":5,...},"lanes":[...],
//    "write_columns":["sequence","layer_begin",...],"read_columns":[...],"flop_columns":[...]}
//   {"step":0,"lane":0,"phase":"decode",
//    "spans":[{"sequence":0,"first_position":7,"tokens":[{"id":5,"text":" cat"}],...}],
//    "writes":[[0,0,5,0,2,"kv",7,8,7]],"reads":[[0,0,5,0,2,"kv",0,4,7,8,0,8,true]],
//    "flops":[...],"kv_bytes":{"written":640,"read":5120,"held":5120},"wall_ns":90210}
//   {"end":"complete","steps":1}
//
// Runs that differ only in layer, KV head or kind share one line: [0, 0,5, 0,2, "kv", 7,8, 7] says
// that sequence 0, layers [0,5), KV heads [0,2), keys and values, wrote positions [7,8) into the
// slots from 7 on (tracer/run_box.h). What is empty or zero is left out.
//
// A tape may also hold the numbers that were stored, as hex digits of their codes:
//
//   "rows":[{"sequence":0,"layer":0,"kv_head":0,"kind":"k","position":7,"codes":"9a99993e..."},...]
//
// Floats are exact. The three that JSON cannot spell are the strings "NaN", "Infinity" and
// "-Infinity". A token whose bytes are not UTF-8 has them in hex beside its text: half a character
// is {"id":9,"text":"\ufffd","bytes":"e799"}.
//
// A reader ignores keys that it does not know; whatever else changes gets a new version.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "tracer/step.h"

namespace kvtape {

using Json = nlohmann::ordered_json;

inline constexpr std::int64_t tape_version = 1;

Json to_json(const TapeHeader& header);
Json to_json(const Step& step, const ModelShape& shape);

// The last record of a tape that was closed. `reason` says why a run ended early, or is empty.
Json end_record(std::int64_t steps, std::string_view reason);

// These throw Error with a phrase that names the field and what is wrong with it; the reader adds
// the file and the record. The values are valid as in tracer/step_check.h; runs come back sorted.
TapeHeader header_from_json(const Json& record);
Step step_from_json(const Json& record, const TapeHeader& header);

}  // namespace kvtape
