// `kvtape footprint`: how many bytes of cache a token, a sequence and a block need, and how many of
// them fit into a given memory. Arithmetic only; no model is loaded.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "cli/exit_code.h"
#include "cli/footprint_report.h"
#include "cli/number_options.h"
#include "cli/output.h"
#include "cli/units.h"
#include "cli/verbs.h"
#include "core/check.h"

namespace kvtape {
namespace {

struct FootprintOptions {
    std::optional<std::string> config;
    std::optional<std::int64_t> layers, heads, kv_heads, head_dim;
    std::string dtype = "f16";
    std::optional<std::int64_t> tokens;
    std::int64_t sequences = 1;
    std::optional<std::int64_t> block_size;
    std::optional<std::string> budget;
    std::optional<std::int64_t> blocks;
    std::optional<double> total;  // GiB
    MemoryTerms terms;
    bool json = false;
};

constexpr std::int64_t largest_size = 1 << 20;  // of L, H, G and D
constexpr std::int64_t most_tokens = std::int64_t{1} << 40;

// L, H, G and D, by hand or from a config.json. H is 0 if it is not known.
KvFootprintInput read_sizes(const FootprintOptions& options) {
    if (options.config) {
        if (options.layers || options.heads || options.kv_heads || options.head_dim) {
            throw UsageError(
                "--config brings layers, heads and head_dim; give either it or the numbers");
        }
        return load_footprint_config(*options.config);
    }
    if (!options.layers || !options.kv_heads || !options.head_dim) {
        throw UsageError("give --layers, --kv-heads and --head-dim, or --config config.json");
    }
    KvFootprintInput sizes;
    sizes.layers = *options.layers;
    sizes.heads = options.heads.value_or(0);
    sizes.kv_heads = *options.kv_heads;
    sizes.head_dim = *options.head_dim;
    check_between("--layers", sizes.layers, 1, largest_size);
    check_between("--head-dim", sizes.head_dim, 1, largest_size);
    if (options.heads) check_between("--heads", sizes.heads, 1, largest_size);
    if (options.heads && (sizes.kv_heads < 1 || sizes.heads % sizes.kv_heads != 0)) {
        fail("--heads ", sizes.heads, " cannot share --kv-heads ", sizes.kv_heads,
             " evenly; heads must be a multiple of kv-heads");
    }
    check_between("--kv-heads", sizes.kv_heads, 1, largest_size);
    return sizes;
}

void check_ranges(const FootprintOptions& options) {
    if (options.tokens) check_between("--tokens", *options.tokens, 1, most_tokens);
    check_between("--sequences", options.sequences, 1, most_tokens);
    if (options.block_size) check_between("--block-size", *options.block_size, 1, most_tokens);
    if (options.blocks) {
        check_between("--blocks", *options.blocks, 1, most_tokens);
        if (!options.block_size) throw UsageError("--blocks needs --block-size");
    }
}

// What the given memory holds, if one is given.
std::optional<Capacity> read_capacity(const FootprintOptions& options,
                                      std::int64_t bytes_per_token) {
    if (options.blocks) {
        return Capacity{*options.blocks,
                        checked_product(*options.blocks, *options.block_size, "tokens"), 0};
    }
    if (options.total) {
        MemoryTerms terms = options.terms;
        terms.total = *options.total;
        return capacity_of(bytes_left_for_cache(terms), bytes_per_token, options.block_size);
    }
    if (options.budget) {
        return capacity_of(parse_bytes("--budget", *options.budget), bytes_per_token,
                           options.block_size);
    }
    return std::nullopt;
}

int footprint(const FootprintOptions& options) {
    check_ranges(options);
    Footprint result;
    result.sizes = read_sizes(options);
    result.dtype = parse_kv_dtype(options.dtype);
    result.bytes_per_token = Footprint::per_token(result.sizes, result.dtype);
    result.block_size = options.block_size;
    result.capacity = read_capacity(options, result.bytes_per_token);
    result.tokens = options.tokens;
    result.sequences = options.sequences;
    if (result.capacity && result.tokens) {
        check_fits(*result.capacity, *result.tokens, result.sequences, result.block_size);
    }

    for (const std::string& note : result.sizes.notes) say("note: config.json: " + note);
    if (options.json) {
        print_json(result.json());
    } else {
        print(result.text());
    }
    return exit_code::ok;
}

}  // namespace

Action add_footprint(CLI::App& verb) {
    const auto options = std::make_shared<FootprintOptions>();
    verb.add_option("--config", options->config, "config.json of a Hugging Face checkpoint")
        ->type_name("FILE");
    add_number(verb, "--layers", options->layers, "L, layers")->type_name("N");
    add_number(verb, "--heads", options->heads,
               "H, query heads: checked and shown; they cost no cache")
        ->type_name("N");
    add_number(verb, "--kv-heads", options->kv_heads, "G, heads of K and V")->type_name("N");
    add_number(verb, "--head-dim", options->head_dim, "D, numbers of a row of K or V")
        ->type_name("N");
    verb.add_option("--dtype,--kv-cache-dtype", options->dtype,
                    "f32, f16, bf16, fp8_e4m3, fp8_e5m2")
        ->type_name("DTYPE")
        ->capture_default_str();
    CLI::Option* const tokens =
        add_number(verb, "--tokens", options->tokens, "length of a sequence")->type_name("N");
    add_number(verb, "--sequences", options->sequences, "how many such sequences")
        ->type_name("N")
        ->needs(tokens);
    add_number(verb, "--block-size", options->block_size, "tokens per block (default: not paged)")
        ->type_name("B");
    CLI::Option* const budget = verb.add_option("--budget", options->budget,
                                                "memory for the cache: bytes, or such as 24GiB")
                                    ->type_name("BYTES");
    CLI::Option* const blocks =
        add_number(verb, "--blocks", options->blocks, "blocks there are for the cache")
            ->type_name("N")
            ->excludes(budget);
    CLI::Option* const total =
        add_number(verb, "--total", options->total, "memory of the device, in GiB")
            ->type_name("GIB")
            ->excludes(budget)
            ->excludes(blocks);
    add_number(verb, "--fraction,--gpu-memory-utilization", options->terms.fraction,
               "share of the total that may be used")
        ->type_name("X")
        ->needs(total);
    add_number(verb, "--weights", options->terms.weights, "of it for the weights, in GiB")
        ->type_name("GIB")
        ->needs(total);
    add_number(verb, "--activations", options->terms.activations, "for activations, in GiB")
        ->type_name("GIB")
        ->needs(total);
    add_number(verb, "--other", options->terms.other, "for anything else, in GiB")
        ->type_name("GIB")
        ->needs(total);
    verb.add_flag("--json", options->json, "print the result as JSON, and nothing else");
    verb.footer(
        "kB, MB and GB are powers of 1000, KiB, MiB and GiB powers of 1024.\n"
        "\n"
        "Examples:\n"
        "  kvtape footprint --layers 80 --kv-heads 8 --head-dim 128 --dtype f16 --tokens 32768\n"
        "  kvtape footprint --config config.json --dtype bf16 --block-size 16 --budget 24GiB\n"
        "  kvtape footprint --layers 32 --kv-heads 8 --head-dim 128 --block-size 16 --total 24 \\\n"
        "      --fraction 0.9 --weights 15 --activations 1.4 --tokens 8192 --sequences 4");
    return [options] { return footprint(*options); };
}

}  // namespace kvtape
