#include "core/rope.h"

#include "core/check.h"
#include "core/exact_math.h"

namespace kvtape {

RopeTable make_rope_table(std::int64_t head_dim, std::int64_t positions, double base) {
    KVTAPE_CHECK(head_dim, >, 0);
    KVTAPE_CHECK(head_dim % 2, ==, 0);
    KVTAPE_CHECK(positions, >=, 0);
    KVTAPE_CHECK(positions, <=, most_rope_positions);
    KVTAPE_CHECK(base, >=, 1.0);
    KVTAPE_CHECK(base, <=, 1e12);

    const std::int64_t pairs = head_dim / 2;
    std::vector<double> radians_per_position(static_cast<std::size_t>(pairs));  // (D/2)
    for (std::int64_t i = 0; i < pairs; ++i) {
        const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(head_dim);
        radians_per_position[static_cast<std::size_t>(i)] = exact_exp(exponent * exact_log(base));
    }

    RopeTable table{head_dim, positions, {}, {}};
    table.cos.reserve(static_cast<std::size_t>(positions * pairs));
    table.sin.reserve(static_cast<std::size_t>(positions * pairs));
    for (std::int64_t position = 0; position < positions; ++position) {
        for (const double radians : radians_per_position) {
            const SinCos turn = exact_sin_cos(static_cast<double>(position) * radians);
            table.cos.push_back(static_cast<float>(turn.cos));
            table.sin.push_back(static_cast<float>(turn.sin));
        }
    }
    return table;
}

}  // namespace kvtape
