#include "viewer/cost_curves.h"

#include <cmath>
#include <limits>

#include "core/number_text.h"

namespace kvtape {
namespace {

double intensity(std::int64_t flops, std::int64_t bytes) {
    if (bytes == 0) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(flops) / static_cast<double>(bytes);
}

std::int64_t bytes_moved(const Costs& costs) {
    return costs.kv_bytes_written + costs.kv_bytes_read;
}
std::int64_t bytes_expected(const Costs& costs) {
    return costs.closed_form_bytes_written + costs.closed_form_bytes_read;
}

}  // namespace

const char* name(Quantity quantity) {
    switch (quantity) {
        case Quantity::flops:
            return "FLOPs";
        case Quantity::bytes:
            return "K/V bytes";
        case Quantity::intensity:
            return "FLOP/byte";
    }
    return "unknown";
}

const char* explanation(Quantity quantity) {
    switch (quantity) {
        case Quantity::flops:
            return "Floating-point operations of the whole model; a multiply-add counts as two.";
        case Quantity::bytes:
            return "Bytes of K and V rows, those written and those fetched together.";
        case Quantity::intensity:
            return "Arithmetic intensity: FLOPs per byte of K and V written or fetched. Where it "
                   "is low, memory sets the pace.";
    }
    return "";
}

double measured(const Costs& costs, Quantity quantity) {
    switch (quantity) {
        case Quantity::flops:
            return static_cast<double>(costs.flops.total());
        case Quantity::bytes:
            return static_cast<double>(bytes_moved(costs));
        case Quantity::intensity:
            return intensity(costs.flops.total(), bytes_moved(costs));
    }
    return 0;
}

double closed_form(const Costs& costs, Quantity quantity) {
    switch (quantity) {
        case Quantity::flops:
            return static_cast<double>(costs.closed_form.total());
        case Quantity::bytes:
            return static_cast<double>(bytes_expected(costs));
        case Quantity::intensity:
            return intensity(costs.closed_form.total(), bytes_expected(costs));
    }
    return 0;
}

bool as_must_be(const Costs& costs, Quantity quantity) {
    const bool flops = costs.flops == costs.closed_form;
    const bool bytes = costs.kv_bytes_written == costs.closed_form_bytes_written &&
                       costs.kv_bytes_read == costs.closed_form_bytes_read;
    switch (quantity) {
        case Quantity::flops:
            return flops;
        case Quantity::bytes:
            return bytes;
        case Quantity::intensity:
            return flops && bytes;
    }
    return false;
}

std::string exact_text(double value, Quantity quantity) {
    if (!std::isfinite(value)) return "-";
    if (quantity == Quantity::intensity) return decimal(value, 2);
    return with_commas(static_cast<std::int64_t>(value));
}

CostCurve cost_curve(const LaneHistory& lane, Quantity quantity, bool so_far) {
    CostCurve curve;
    std::vector<double> decode_n, decode_sum;
    for (std::int64_t step = 0; step < lane.steps(); ++step) {
        const Costs& costs = so_far ? lane.costs_so_far(step) : lane.costs(step);
        curve.measured.push_back(measured(costs, quantity));
        curve.closed_form.push_back(closed_form(costs, quantity));
        if (!as_must_be(lane.costs(step), quantity)) curve.wrong.push_back(step);
        if (lane.step(step).phase != Phase::decode) continue;
        decode_n.push_back(static_cast<double>(step + 1));
        decode_sum.push_back(measured(lane.costs_so_far(step), quantity));
    }
    curve.fit = fit_power(decode_n, decode_sum);
    return curve;
}

void CostsView::update(const std::vector<std::unique_ptr<LaneHistory>>& lanes) {
    if (curves_quantity_ != quantity || curves_so_far_ != so_far) curves_.clear();
    curves_quantity_ = quantity;
    curves_so_far_ = so_far;
    curves_.resize(lanes.size());
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        if (std::ssize(curves_[i].measured) != lanes[i]->steps()) {
            curves_[i] = cost_curve(*lanes[i], quantity, so_far);
        }
    }
}

}  // namespace kvtape
