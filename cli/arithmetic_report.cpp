#include "cli/arithmetic_report.h"

#include <nlohmann/json.hpp>

#include "cli/table.h"
#include "cli/units.h"

namespace kvtape {
namespace {

// The weight matrices that one token meets, each with the multiply-adds it costs.
struct Matrix {
    const char* name;
    std::int64_t outputs, inputs;
    std::int64_t macs() const { return outputs * inputs; }
};

std::vector<Matrix> matrices(const ModelShape& s) {
    return {{"q", s.heads * s.head_dim, s.hidden},
            {"k", s.kv_heads * s.head_dim, s.hidden},
            {"v", s.kv_heads * s.head_dim, s.hidden},
            {"o", s.hidden, s.heads * s.head_dim},
            {"gate", s.ffn, s.hidden},
            {"up", s.ffn, s.hidden},
            {"down", s.hidden, s.ffn},
            {"head", s.vocab, s.hidden}};
}

std::vector<std::int64_t> costs_of(const std::vector<FlopCounts>& flops, Component component) {
    std::vector<std::int64_t> costs;
    for (const FlopCounts& of_length : flops) costs.push_back(of_length[component]);
    return costs;
}

std::vector<std::int64_t> totals_of(const std::vector<FlopCounts>& flops) {
    std::vector<std::int64_t> totals;
    for (const FlopCounts& of_length : flops) totals.push_back(of_length.total());
    return totals;
}

// The columns of the printed tables; the components after them are too small for one each.
constexpr Component columns[] = {Component::projections, Component::mlp, Component::attention,
                                 Component::head};

std::vector<std::string> row_of(const std::string& label, const FlopCounts& flops) {
    std::vector<std::string> cells{label};
    std::int64_t shown = 0;
    for (const Component component : columns) {
        cells.push_back(with_commas(flops[component]));
        shown += flops[component];
    }
    cells.push_back(with_commas(flops.total() - shown));
    cells.push_back(with_commas(flops.total()));
    return cells;
}

std::string in_words(const std::optional<double>& exponent) {
    return exponent ? "n^" + decimal(*exponent, 2) : "-";
}

std::string costs_table(const std::vector<std::int64_t>& lengths, const DecoderCosts& costs) {
    Table table;
    table.add_row({"n", "projections", "mlp", "attention", "head", "others", "total"});
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        table.add_row(row_of(with_commas(lengths[i]) + " counted", costs.measured[i]));
        table.add_row(row_of(std::string(with_commas(lengths[i]).size(), ' ') + " formula",
                             costs.closed_form[i]));
    }
    std::vector<std::string> exponents{"grows like"};
    for (const Component component : columns) {
        exponents.push_back(
            in_words(fitted_exponent(lengths, costs_of(costs.measured, component))));
    }
    exponents.push_back("");
    exponents.push_back(in_words(fitted_exponent(lengths, totals_of(costs.measured))));
    table.add_row(std::move(exponents));
    return table.text();
}

std::string tokens_in_words(const std::optional<std::int64_t>& tokens) {
    return tokens ? with_commas(*tokens) : "never";
}

std::string crossover_table(const ModelShape& shape) {
    Table table;
    table.add_row({"attention costs more than", "projections", "projections + mlp"});
    for (const bool cached : {false, true}) {
        const Crossover projections = find_crossover(shape, cached, false);
        const Crossover linear = find_crossover(shape, cached, true);
        const std::string decoder = cached ? "with a cache" : "without a cache";
        table.add_row({decoder + ", in one pass: prefix of", tokens_in_words(projections.pass),
                       tokens_in_words(linear.pass)});
        table.add_row({decoder + ", in all: n of", tokens_in_words(projections.total),
                       tokens_in_words(linear.total)});
    }
    return table.text();
}

double percent(std::int64_t part, std::int64_t whole) {
    return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// "Uncached decoding is quadratic per token" is true of one part of the cost only; how large that
// part is, in the last pass of the sweep.
std::string slogan(const ModelShape& shape, std::int64_t t) {
    const FlopCounts uncached = pass_cost(shape, false, t);
    const FlopCounts cached = pass_cost(shape, true, t);
    const std::int64_t attention = uncached[Component::attention];
    const std::int64_t linear = uncached[Component::projections] + uncached[Component::mlp];
    const std::string prefix = with_commas(t);
    return "It is often said that without a cache each token costs work quadratic in its prefix. "
           "In\n"
           "the pass over a prefix of " +
           prefix + ", attention, the quadratic part, is " +
           decimal(percent(attention, uncached.total()), 1) +
           " % of\nthe FLOP; the products with the weights, linear in the prefix, are " +
           decimal(percent(linear, uncached.total()), 1) + " %.\nWith a cache that pass costs 1/" +
           decimal(static_cast<double>(uncached.total()) / static_cast<double>(cached.total()), 0) +
           " of it: " + with_commas(cached.total()) + " FLOP instead of\n" +
           with_commas(uncached.total()) + ".\n";
}

Json json_crossover(const ModelShape& shape, bool cached) {
    Json json;
    for (const bool with_mlp : {false, true}) {
        const Crossover crossover = find_crossover(shape, cached, with_mlp);
        Json& entry = json[with_mlp ? "projections_and_mlp" : "projections"];
        entry["prefix_of_one_pass"] = crossover.pass ? Json(*crossover.pass) : Json();
        entry["tokens_in_all"] = crossover.total ? Json(*crossover.total) : Json();
    }
    return json;
}

Json json_component(const std::vector<std::int64_t>& lengths,
                    const std::vector<std::int64_t>& measured,
                    const std::vector<std::int64_t>& closed_form) {
    const auto exponent = fitted_exponent(lengths, measured);
    return {{"measured", measured},
            {"closed_form", closed_form},
            {"exponent", exponent ? Json(*exponent) : Json()}};
}

}  // namespace

Json ArithmeticReport::json() const {
    Json json = {{"model", model},    {"shape", json_shape(shape)}, {"unit", "FLOP"},
                 {"flop_per_mac", 2}, {"fit", fit_method},          {"lengths", lengths}};
    for (const Matrix& matrix : matrices(shape)) {
        json["linear_layers"].push_back({{"name", matrix.name},
                                         {"outputs", matrix.outputs},
                                         {"inputs", matrix.inputs},
                                         {"mac_per_token", matrix.macs()},
                                         {"flop_per_token", 2 * matrix.macs()}});
    }
    for (const DecoderCosts& costs : decoders) {
        Json components;
        for (int i = 0; i < component_count; ++i) {
            const auto component = static_cast<Component>(i);
            components[name(component)] =
                json_component(lengths, costs_of(costs.measured, component),
                               costs_of(costs.closed_form, component));
        }
        components["total"] =
            json_component(lengths, totals_of(costs.measured), totals_of(costs.closed_form));
        json["decoders"].push_back({{"cache", costs.cache}, {"components", std::move(components)}});
    }
    json["crossover"] = {{"without_cache", json_crossover(shape, false)},
                         {"with_cache", json_crossover(shape, true)}};
    json["equal"] = first_difference().empty();
    return json;
}

std::string ArithmeticReport::text() const {
    const ModelShape& s = shape;
    std::string text = "model: " + model + "; L " + std::to_string(s.layers) + ", d " +
                       std::to_string(s.hidden) + ", H " + std::to_string(s.heads) + ", G " +
                       std::to_string(s.kv_heads) + ", D " + std::to_string(s.head_dim) + ", F " +
                       std::to_string(s.ffn) + ", V " + std::to_string(s.vocab) + "\n\n";

    text +=
        "One token through each weight matrix of a layer, and through the head. One\n"
        "multiply-accumulate (MAC) is two FLOP:\n";
    Table weights;
    weights.add_row({"matrix", "outputs", "inputs", "MAC", "FLOP"});
    for (const Matrix& matrix : matrices(s)) {
        weights.add_row({matrix.name, with_commas(matrix.outputs), with_commas(matrix.inputs),
                         with_commas(matrix.macs()), with_commas(2 * matrix.macs())});
    }
    text += weights.text();

    text +=
        "\nFLOP of n tokens in all, fed one by one: counted while decoding, and by closed form.\n";
    for (const DecoderCosts& costs : decoders) {
        if (costs.cache == "paged") {
            text += "\ncache paged: " +
                    std::string(costs.measured == decoders[1].measured
                                    ? "the same counts as contiguous, each of them\n"
                                    : "OTHER COUNTS than contiguous, see --json\n");
            continue;
        }
        text += "\ncache " + costs.cache + ":\n" + costs_table(lengths, costs);
    }
    text += std::string("\nExponents: ") + fit_method + ".\n";
    text += first_difference().empty() ? "Every count equals its closed form, as an integer.\n"
                                       : "COUNTS AND CLOSED FORMS DIFFER.\n";
    text += "\nWhere attention overtakes the linear layers, from the closed forms, in tokens:\n" +
            crossover_table(s) + "\n" + slogan(s, lengths.back());
    return text;
}

std::string ArithmeticReport::first_difference() const {
    for (const DecoderCosts& costs : decoders) {
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            for (int c = 0; c < component_count; ++c) {
                const auto component = static_cast<Component>(c);
                const std::int64_t measured = costs.measured[i][component];
                const std::int64_t closed = costs.closed_form[i][component];
                if (measured == closed) continue;
                return "cache " + costs.cache + ", " + std::to_string(lengths[i]) + " tokens, " +
                       name(component) + ": " + std::to_string(measured) +
                       " FLOP were counted, the closed form gives " + std::to_string(closed);
            }
        }
    }
    return {};
}

}  // namespace kvtape
