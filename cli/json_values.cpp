#include "cli/json_values.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/output.h"

namespace kvtape {

Json json_number(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
    return value;
}

std::string hex16(std::uint64_t value) {
    char text[17];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
    return text;
}

Json json_flops(const FlopCounts& flops) {
    Json json;
    for (int i = 0; i < component_count; ++i) {
        const auto component = static_cast<Component>(i);
        json[name(component)] = flops[component];
    }
    json["total"] = flops.total();
    return json;
}

Json json_losses(const StoreCounts& losses) {
    return {
        {"saturated", losses.saturated},
        {"non_finite", losses.non_finite},
        {"worst_relative_error", json_number(static_cast<double>(losses.worst_relative_error))}};
}

Json json_shape(const ModelShape& shape) {
    return {{"layers", shape.layers},     {"hidden", shape.hidden},     {"heads", shape.heads},
            {"kv_heads", shape.kv_heads}, {"head_dim", shape.head_dim}, {"ffn", shape.ffn},
            {"vocab", shape.vocab}};
}

void print_json(const Json& value) {
    print(value.dump(2) + "\n");
}

}  // namespace kvtape
