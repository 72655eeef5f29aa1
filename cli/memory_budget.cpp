#include "cli/memory_budget.h"

#include <cmath>

#include "cli/units.h"
#include "core/check.h"

namespace kvtape {
namespace {

// 8 EiB: more than that many bytes do not fit into 64 bits.
constexpr double most_gib = 0x1p33;

std::string gib(double amount) {
    return decimal(amount, 2) + " GiB";
}

}  // namespace

std::int64_t bytes_left_for_cache(const MemoryTerms& terms) {
    const struct {
        const char* option;
        double gib;
    } amounts[] = {{"--total", terms.total},
                   {"--weights", terms.weights},
                   {"--activations", terms.activations},
                   {"--other", terms.other}};
    for (const auto& amount : amounts) {
        if (!(amount.gib >= 0 && amount.gib < most_gib)) {
            fail(amount.option, " is ", amount.gib, " GiB; use 0 or more");
        }
    }
    if (terms.total == 0) fail("--total is 0 GiB; give the memory of the device");
    if (!(terms.fraction > 0 && terms.fraction <= 1)) {
        fail("--fraction is ", terms.fraction, "; use a number above 0 and at most 1");
    }
    const double usable = terms.total * terms.fraction;
    const double left = usable - terms.weights - terms.activations - terms.other;
    if (!(left > 0)) {
        // Raising the fraction is advice only where it would help.
        const double needed = terms.weights + terms.activations + terms.other;
        const std::string remedy =
            needed < terms.total ? "raise --fraction above " + decimal(needed / terms.total, 3) +
                                       ", or need " + gib(-left) + " less"
                                 : "need " + gib(-left) + " less, or use a larger device";
        fail("no memory is left for the cache: ", gib(terms.total), " total x ", terms.fraction,
             " = ", gib(usable), " usable, less ", gib(terms.weights), " weights, ",
             gib(terms.activations), " activations and ", gib(terms.other), " other, leaves ",
             gib(left), "; ", remedy);
    }
    return static_cast<std::int64_t>(left * bytes_per_gib);
}

Capacity capacity_of(std::int64_t budget_bytes, std::int64_t bytes_per_token,
                     std::optional<std::int64_t> block_size) {
    const std::int64_t unit_tokens = block_size.value_or(1);
    const std::int64_t unit_bytes =
        checked_product(bytes_per_token, unit_tokens, "bytes per block");
    const std::int64_t units = budget_bytes / unit_bytes;
    if (units < 1) {
        fail("the budget of ", with_commas(budget_bytes), " bytes holds nothing: one ",
             block_size ? "block of " + std::to_string(unit_tokens) + " tokens" : "token",
             " needs ", with_commas(unit_bytes), " bytes");
    }
    return {block_size ? units : 0, checked_product(units, unit_tokens, "tokens"),
            budget_bytes - units * unit_bytes};
}

void check_fits(const Capacity& capacity, std::int64_t tokens, std::int64_t sequences,
                std::optional<std::int64_t> block_size) {
    const std::int64_t unit_tokens = block_size.value_or(1);
    const std::int64_t units = checked_product(ceil_div(tokens, unit_tokens), sequences, "blocks");
    const std::int64_t units_that_fit = capacity.tokens / unit_tokens;
    if (units <= units_that_fit) return;
    const std::int64_t needed = checked_product(tokens, sequences, "tokens");
    std::string blocks;
    if (block_size) {
        blocks = " in " + with_commas(units) + " blocks; " + with_commas(capacity.blocks) +
                 " blocks fit, which hold " + with_commas(capacity.tokens) + " tokens";
    } else {
        blocks = "; " + with_commas(capacity.tokens) + " fit";
    }
    fail(with_commas(sequences), sequences == 1 ? " sequence of " : " sequences of ",
         with_commas(tokens), " tokens: ", with_commas(needed), " tokens are needed", blocks, " (",
         decimal(static_cast<double>(units_that_fit) / static_cast<double>(units), 2),
         " of what is needed)");
}

std::string longest_sequence(const Capacity& capacity) {
    return "1 sequence of up to " + with_commas(capacity.tokens) +
           (capacity.tokens == 1 ? " token" : " tokens");
}

}  // namespace kvtape
