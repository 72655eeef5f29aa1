// What the costs panel draws: one quantity of a lane over its steps, as counted and by its closed
// form.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tracer/fit.h"
#include "viewer/lane_history.h"

namespace kvtape {

enum class Quantity : std::uint8_t { flops, bytes, intensity };
inline constexpr Quantity all_quantities[] = {Quantity::flops, Quantity::bytes,
                                              Quantity::intensity};
const char* name(Quantity quantity);
const char* explanation(Quantity quantity);

// FLOPs; bytes of K and V, written and read; FLOPs per such byte (NaN where there are none).
double measured(const Costs& costs, Quantity quantity);
double closed_form(const Costs& costs, Quantity quantity);
// Whether the counts are what they must be, as integers: each component of the FLOPs, and bytes
// written and read.
bool as_must_be(const Costs& costs, Quantity quantity);
// All digits: "650,020,459" or "30.41".
std::string exact_text(double value, Quantity quantity);

struct CostCurve {
    std::vector<double> measured, closed_form;  // (steps)
    std::vector<std::int64_t> wrong;            // steps that are not as they must be
    // Of the sum so far, as measured, over n = steps done, through the decode steps.
    std::optional<PowerFit> fit;
};
CostCurve cost_curve(const LaneHistory& lane, Quantity quantity, bool so_far);

// How the costs are looked at, and the curves as they were computed for that.
struct CostsView {
    Quantity quantity = Quantity::flops;
    bool so_far = true;  // summed over the steps, or each step by itself
    bool log = false;

    // Computes what is not up to date.
    void update(const std::vector<std::unique_ptr<LaneHistory>>& lanes);
    void clear() { curves_.clear(); }
    const std::vector<CostCurve>& curves() const { return curves_; }

  private:
    std::vector<CostCurve> curves_;  // by lane
    Quantity curves_quantity_ = Quantity::flops;
    bool curves_so_far_ = true;
};

}  // namespace kvtape
