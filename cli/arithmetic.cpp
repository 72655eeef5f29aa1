// `kvtape arithmetic`: how the cost of n tokens grows with n. Counts of a real run stand beside the
// closed forms, and must be equal as integers.
#include <algorithm>
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/arithmetic_report.h"
#include "cli/exit_code.h"
#include "cli/model_options.h"
#include "cli/number_options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "cli/verbs.h"

namespace kvtape {
namespace {

struct ArithmeticOptions {
    std::vector<std::int64_t> lengths{16, 32, 64, 128, 256, 512};
    std::optional<std::string> model;
    ModelShape shape{2, 64, 4, 2, 16, 192, 256};  // L, d, H, G, D, F, V
    int threads = 0;
    bool json = false;
};

constexpr std::int64_t most_parameters = 100'000'000;  // of a model made for the sweep
constexpr std::int64_t longest_sweep = 1 << 16;
constexpr double most_flops = 1e14;  // half an hour or more on two cores

// A model of the given shape with random weights: what it says does not matter here.
Model<float> random_model(const ModelShape& shape, std::int64_t longest) {
    validate(shape);
    const double rows =
        static_cast<double>(2 * (shape.heads + shape.kv_heads) * shape.head_dim + 3 * shape.ffn) *
            static_cast<double>(shape.layers) +
        2 * static_cast<double>(shape.vocab);
    const double parameters = rows * static_cast<double>(shape.hidden);
    if (parameters > static_cast<double>(most_parameters)) {
        fail("a model of this shape has ", decimal(parameters / 1e6, 0),
             " million weights; the sweep makes models of at most ", most_parameters / 1'000'000,
             " million, use smaller sizes");
    }
    ModelConfig config;
    config.shape = shape;
    config.max_model_len = longest + 1;
    config.rms_norm_eps = 1e-5f;
    config.rope_theta = 10000;
    return Model<float>(config, random_weights(shape, /*tied=*/false, /*seed=*/1));
}

std::vector<std::int64_t> checked_lengths(std::vector<std::int64_t> lengths) {
    for (const std::int64_t length : lengths) {
        check_between("--lengths", length, 1, longest_sweep);
    }
    std::sort(lengths.begin(), lengths.end());
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    return lengths;
}

int arithmetic(const ArithmeticOptions& options) {
    check({"", options.threads});
    ArithmeticReport report;
    report.lengths = checked_lengths(options.lengths);
    const std::int64_t longest = report.lengths.back();
    Progress progress("making the model");
    const Model<float> model = [&] {
        if (!options.model) return random_model(options.shape, longest);
        LoadedModel loaded = load({*options.model, options.threads});
        report.model = loaded.name;
        return std::move(loaded.model);
    }();
    report.shape = model.config.shape;
    if (longest >= model.config.max_model_len) {
        fail("--lengths goes to ", longest, ", the model takes at most ",
             model.config.max_model_len - 1,
             " fed tokens and the one picked last; use shorter lengths");
    }
    // The passes have half the longest prefix on average.
    const double flops = 0.5 * static_cast<double>(longest) *
                         static_cast<double>(pass_cost(report.shape, false, longest).total());
    if (flops > most_flops) {
        fail("decoding ", longest, " tokens without a cache would take about ",
             decimal(flops / 1e12, 0), " TFLOP, the sweep stops at ", decimal(most_flops / 1e12, 0),
             "; use shorter --lengths or a smaller model");
    }
    report.decoders = sweep_costs(model, report.lengths, options.threads,
                                  [&](std::int64_t done, std::int64_t all) {
                                      progress.update("tokens computed", done, all);
                                  });
    progress.stop();

    if (options.json) {
        print_json(report.json());
    } else {
        print(report.text());
    }
    if (const std::string difference = report.first_difference(); !difference.empty()) {
        say(difference);
        return exit_code::broken_promise;
    }
    return exit_code::ok;
}

}  // namespace

Action add_arithmetic(CLI::App& verb) {
    const auto options = std::make_shared<ArithmeticOptions>();
    const auto parse_lengths = [options](const std::string& text) {
        options->lengths = parse_numbers<std::int64_t>("--lengths", text);
    };
    add_parsed(verb, "--lengths", parse_lengths, "numbers of tokens n, with commas between them")
        ->type_name("LIST")
        ->default_str("16,32,64,128,256,512");
    CLI::Option* const model =
        verb.add_option("--model", options->model,
                        "folder of a model (default: random weights of the shape given below)")
            ->type_name("DIR");
    const auto add_size = [&](const char* option, std::int64_t& size, const char* meaning) {
        add_number(verb, option, size, meaning)->type_name("N")->excludes(model);
    };
    add_size("--layers", options->shape.layers, "L, layers");
    add_size("--hidden", options->shape.hidden, "d, numbers of the residual stream");
    add_size("--heads", options->shape.heads, "H, query heads");
    add_size("--kv-heads", options->shape.kv_heads, "G, heads of K and V");
    add_size("--head-dim", options->shape.head_dim, "D, numbers of a head");
    add_size("--ffn", options->shape.ffn, "F, inner numbers of the MLP");
    add_size("--vocab", options->shape.vocab, "V, tokens there are");
    add_threads_option(verb, options->threads);
    verb.add_flag("--json", options->json, "print the result as JSON, and nothing else");
    verb.footer(
        "The cost of n tokens is the sum over the passes t = 1 .. n that feed them, starting from "
        "one\n"
        "token. Each is counted by the recorder while the decoder runs, and computed by a closed "
        "form.\n"
        "\n"
        "Examples:\n"
        "  kvtape arithmetic\n"
        "  kvtape arithmetic --lengths 8,16,32 --json\n"
        "  kvtape arithmetic --hidden 128 --heads 8 --kv-heads 8 --lengths 64,128,256\n"
        "  kvtape arithmetic --model models/storyteller --lengths 32,64,128,256");
    return [options] { return arithmetic(*options); };
}

}  // namespace kvtape
