// Is the linear kernel (reference_cpu/linear.h) as fast as the machine allows? One thread, two
// limits:
//
//   prefill  512 rows: limited by arithmetic. Beside Eigen's own product of its own matrices (and
//            OpenBLAS if it was found) and the peak, a loop of nothing but multiply-adds.
//            Target: at least 1.25 times Eigen.
//   decode   one row, weights larger than the last-level cache: limited by reading. Beside loops
//            that only read as many bytes, of which the fastest counts as the bandwidth.
//            Target: at least 85 % of it.
//
//   kvtape_linear_bench [--json] [--rounds N]
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string_view>

#include <Eigen/Core>

#include "bench/contest.h"
#include "core/check.h"
#include "reference_cpu/huge_pages.h"
#include "reference_cpu/linear.h"

#ifdef KVTAPE_HAS_OPENBLAS
#include <cblas.h>
#endif

namespace kvtape::bench {
namespace {

using Json = nlohmann::ordered_json;
using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::internal::packet_traits<float>::type;
constexpr std::int64_t lanes = Eigen::internal::packet_traits<float>::size;

constexpr double prefill_target = 1.25;
constexpr double decode_target = 0.85;
volatile float sink;  // results go here, so that the compiler cannot drop the work

void fill(float* values, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        values[i] = static_cast<float>(i * 37 % 101 - 50) / 101;
    }
}

// At least `flops` FLOPs in registers: 12 chains, because a multiply-add takes 4 cycles and two
// start in each.
void multiply_add_only(double flops) {
    constexpr int chains = 12;
    const Vector a = Eigen::internal::pset1<Vector>(0.1f);
    const Vector b = Eigen::internal::pset1<Vector>(0.2f);
    Vector sums[chains];
    for (int i = 0; i < chains; ++i) {  // all different: equal chains would be computed once
        sums[i] = Eigen::internal::pset1<Vector>(static_cast<float>(i));
    }
    const auto steps = static_cast<std::int64_t>(flops / (2.0 * chains * lanes)) + 1;
    for (std::int64_t step = 0; step < steps; ++step) {
        for (int i = 0; i < chains; ++i) sums[i] = Eigen::internal::pmadd(a, b, sums[i]);
    }
    for (const Vector& sum : sums) sink = Eigen::internal::predux(sum);
}

// Reads everything once, in `streams` places at a time that lie `apart` floats from each other.
template <int streams>
void read_only(const HugePageBuffer<float>& memory, std::int64_t apart) {
    constexpr int vectors = 8 / streams;  // read in one place before the next one's turn
    Vector sums[8];
    std::fill_n(sums, 8, Eigen::internal::pset1<Vector>(0.0f));
    for (std::int64_t from = 0; from < memory.size(); from += streams * apart) {
        for (std::int64_t i = 0; i < apart; i += vectors * lanes) {
            for (int v = 0; v < 8; ++v) {
                const float* at =
                    memory.data() + from + v / vectors * apart + i + v % vectors * lanes;
                sums[v] = Eigen::internal::padd(sums[v], Eigen::internal::pload<Vector>(at));
            }
        }
    }
    for (const Vector& sum : sums) sink = Eigen::internal::predux(sum);
}

// Both sum K products of numbers below 1/2 in some order, so they are this close.
void check_equal(const float* eigen_y, const float* y, std::int64_t count, std::int64_t inputs) {
    const double k = static_cast<double>(inputs);
    const double bound = 2 * k * 0x1p-24 * (k / 4);
    for (std::int64_t i = 0; i < count; ++i) {
        const double difference = std::abs(double{eigen_y[i]} - double{y[i]});
        if (!(difference <= bound)) {
            fail("linear_bench: element ", i, " differs from Eigen's by ", difference,
                 "; the kernel is wrong, so its speed means nothing");
        }
    }
}

// One table; `work` is FLOPs or bytes per run, in `unit` per second after division by 1e9.
Json report(const std::vector<Contestant>& contestants, double work, const char* unit, bool json) {
    Json rows = Json::array();
    if (!json) std::printf("  %-34s %10s %10s  %s\n", "", "median", "best", unit);
    for (const Contestant& c : contestants) {
        const double median = work / c.median_seconds() * 1e-9;
        const double best = work / c.best_seconds() * 1e-9;
        if (!json) std::printf("  %-34s %10.1f %10.1f\n", c.name.c_str(), median, best);
        rows.push_back({{"name", c.name}, {"median", median}, {"best", best}});
    }
    return rows;
}

Json verdict(double ratio, double target, const char* of_what, bool json) {
    const bool met = ratio >= target;
    if (!json) {
        std::printf("  kvtape / %s: %.3f, %s target %.2f\n\n", of_what, ratio,
                    met ? "meets" : "BELOW", target);
    }
    return {{"ratio", ratio}, {"of", of_what}, {"target", target}, {"met", met}};
}

Json prefill(std::int64_t outputs, std::int64_t inputs, int rounds, bool json) {
    constexpr std::int64_t rows = 512;
    Matrix x(rows, inputs), w(outputs, inputs), y(rows, outputs), eigen_y(rows, outputs);
    fill(x.data(), x.size());
    fill(w.data(), w.size());
    const PackedLinear<float> linear(w.data(), outputs, inputs);
    const double flops = 2.0 * static_cast<double>(rows * outputs * inputs);

    std::vector<Contestant> contestants;
    contestants.push_back({"kvtape", [&] { linear.multiply(x.data(), rows, y.data()); }});
    contestants.push_back({"Eigen", [&] { eigen_y.noalias() = x * w.transpose(); }});
    contestants.push_back({"multiply-adds only (peak)", [=] { multiply_add_only(flops); }});
#ifdef KVTAPE_HAS_OPENBLAS
    contestants.push_back(
        {"OpenBLAS", [&] {
             cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, static_cast<int>(outputs),
                         static_cast<int>(inputs), 1, x.data(), static_cast<int>(inputs), w.data(),
                         static_cast<int>(inputs), 0, y.data(), static_cast<int>(outputs));
         }});
#endif
    hold_contest(contestants, rounds);
    linear.multiply(x.data(), rows, y.data());  // OpenBLAS wrote to y, too
    check_equal(eigen_y.data(), y.data(), y.size(), inputs);

    if (!json) std::printf("512 rows, %ld outputs, %ld inputs\n", long{outputs}, long{inputs});
    Json result = {{"rows", rows}, {"outputs", outputs}, {"inputs", inputs}};
    result["gflops"] = report(contestants, flops, "GFLOP/s", json);
    result["verdict"] =
        verdict(times_faster(contestants[0], contestants[1]), prefill_target, "Eigen", json);
    return result;
}

Json decode(int rounds, bool json) {
    constexpr std::int64_t inputs = 2048;
    // At least 256 MiB and twice the last-level cache, in whole groups of panels.
    const std::int64_t cache_bytes = std::max(0L, sysconf(_SC_LEVEL3_CACHE_SIZE));
    const std::int64_t bytes_wanted = std::max<std::int64_t>(256 << 20, 2 * cache_bytes);
    const std::int64_t outputs = (bytes_wanted / 4 / inputs + 1023) / 1024 * 1024;
    HugePageBuffer<float> w(outputs * inputs);  // so that all read from the same kind of page
    Eigen::VectorXf x(inputs), y(outputs), eigen_y(outputs);
    fill(w.data(), w.size());
    fill(x.data(), x.size());
    const PackedLinear<float> linear(w.data(), outputs, inputs);
    const Eigen::Map<const Matrix, Eigen::Aligned64> w_view(w.data(), outputs, inputs);

    constexpr std::int64_t near = 32 * 1024;  // as far apart as the kernel's panels on AVX2
    const std::int64_t far = w.size() / 8;
    std::vector<Contestant> contestants;
    contestants.push_back({"kvtape", [&] { linear.multiply(x.data(), 1, y.data()); }});
    contestants.push_back({"Eigen W*x", [&] { eigen_y.noalias() = w_view * x; }});
    const std::size_t first_reader = contestants.size();
    contestants.push_back({"reading only, 1 stream", [&] { read_only<1>(w, near); }});
    contestants.push_back({"reading only, 2 streams", [&] { read_only<2>(w, near); }});
    contestants.push_back({"reading only, 4 streams", [&] { read_only<4>(w, near); }});
    contestants.push_back({"reading only, 8 streams", [&] { read_only<8>(w, near); }});
    contestants.push_back({"reading only, 8 streams far apart", [&] { read_only<8>(w, far); }});
    hold_contest(contestants, rounds);
    check_equal(eigen_y.data(), y.data(), y.size(), inputs);

    std::size_t fastest = first_reader;
    for (std::size_t i = first_reader; i < contestants.size(); ++i) {
        if (contestants[i].median_seconds() < contestants[fastest].median_seconds()) fastest = i;
    }
    if (!json) {
        std::printf(
            "1 row, %ld outputs, %ld inputs: %ld MiB of weights (last-level cache %ld MiB)\n",
            long{outputs}, long{inputs}, long{w.bytes() >> 20}, long{cache_bytes >> 20});
    }
    Json result = {{"rows", 1}, {"outputs", outputs}, {"inputs", inputs}};
    result["gigabytes_per_second"] =
        report(contestants, static_cast<double>(w.bytes()), "GB/s", json);
    result["verdict"] = verdict(times_faster(contestants[0], contestants[fastest]), decode_target,
                                "fastest reading", json);
    return result;
}

int run(int argc, char** argv) {
    bool json = false;
    int rounds = 21;
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (argument == "--json") {
            json = true;
        } else if (argument == "--rounds" && i + 1 < argc && std::atoi(argv[i + 1]) > 0) {
            rounds = std::atoi(argv[++i]);
        } else {
            fail("linear_bench: '", argument,
                 "' is not understood; use [--json] [--rounds N], N > 0");
        }
    }
    stay_on_this_core();
#ifdef KVTAPE_HAS_OPENBLAS
    openblas_set_num_threads(1);
#endif
    if (!json) {
        std::printf("One thread, %s, medians of %d rounds.\n\n", KVTAPE_ISA_NAME, rounds);
#ifndef NDEBUG
        std::printf("Built without optimisation: these numbers mean nothing.\n\n");
#endif
    }
    Json result = {{"isa", KVTAPE_ISA_NAME}, {"rounds", rounds}, {"prefill", Json::array()}};
    // Two of storyteller's own layers (MLP and head), then larger ones, one of them of odd numbers.
    for (const auto& [outputs, inputs] : {std::pair{384, 160},
                                          {1024, 160},
                                          {1024, 1024},
                                          {2048, 2048},
                                          {8192, 2048},
                                          {1000, 520}}) {
        result["prefill"].push_back(prefill(outputs, inputs, rounds, json));
    }
    result["decode"] = decode(rounds, json);
    if (json) std::cout << result.dump(2) << "\n";
    return 0;
}

}  // namespace
}  // namespace kvtape::bench

int main(int argc, char** argv) {
    try {
        return kvtape::bench::run(argc, argv);
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
