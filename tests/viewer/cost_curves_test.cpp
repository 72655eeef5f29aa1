// The curves of the costs panel, on tapes whose costs are known.
#include "viewer/cost_curves.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/tape_on_show.h"
#include "tracer/cost_model.h"

namespace kvtape {
namespace {

TEST(CostCurves, MeasuredIsTheClosedForm) {
    SyntheticTape tape;
    tape.decode_steps = 30;
    Show show;
    put_on_show(tape, show);
    for (const auto& lane : show.lanes()) {
        for (const Quantity quantity : all_quantities) {
            for (const bool so_far : {false, true}) {
                const CostCurve curve = cost_curve(*lane, quantity, so_far);
                ASSERT_EQ(std::ssize(curve.measured), 31);
                EXPECT_EQ(curve.measured, curve.closed_form);
                EXPECT_TRUE(curve.wrong.empty());
            }
        }
    }
}

TEST(CostCurves, BytesAndIntensityOfAStep) {
    SyntheticTape tape;
    Show show;
    put_on_show(tape, show);
    const LaneHistory& contiguous = *show.lanes()[1];
    // The second step appends one token behind 5 and fetches 6 rows per track.
    const std::int64_t row = tape.shape.head_dim * 4;
    const std::int64_t bytes = kv_rows_per_token(tape.shape) * (1 + 6) * row;
    const CostCurve curve = cost_curve(contiguous, Quantity::bytes, false);
    EXPECT_EQ(curve.measured[1], static_cast<double>(bytes));
    const CostCurve sum = cost_curve(contiguous, Quantity::bytes, true);
    EXPECT_EQ(sum.measured[1], curve.measured[0] + curve.measured[1]);
    EXPECT_DOUBLE_EQ(
        cost_curve(contiguous, Quantity::intensity, false).measured[1],
        static_cast<double>(contiguous.step(1).flops.total()) / static_cast<double>(bytes));
}

TEST(CostCurves, FindsTheStepsThatAreWrong) {
    const SyntheticTape tape;
    LaneHistory lane(tape.header(), 1);
    for (std::int64_t i = 0; i < tape.steps(); ++i) {
        Step step = tape.step(1, i);
        // The sum stays right, its parts do not.
        if (i == 2) step.flops[Component::mlp] += 5, step.flops[Component::head] -= 5;
        if (i == 3) step.kv_bytes_read += 1;
        lane.add(step);
    }
    using Steps = std::vector<std::int64_t>;
    EXPECT_EQ(cost_curve(lane, Quantity::flops, true).wrong, Steps{2});
    EXPECT_EQ(cost_curve(lane, Quantity::bytes, false).wrong, Steps{3});
    EXPECT_EQ(cost_curve(lane, Quantity::intensity, false).wrong, (Steps{2, 3}));
}

// From a prompt of one token on, linear layers cost n with a cache and n^2 without, and attention
// bends both upwards a little.
TEST(CostCurves, GrowAsTheLessonsSay) {
    SyntheticTape tape;
    tape.prompt = 1;
    tape.decode_steps = 400;
    tape.shape = {2, 64, 4, 2, 16, 256, 32};
    Show show;
    put_on_show(tape, show);
    const auto none = cost_curve(*show.lanes()[0], Quantity::flops, true).fit;
    const auto paged = cost_curve(*show.lanes()[2], Quantity::flops, true).fit;
    ASSERT_TRUE(none && paged);
    EXPECT_GT(none->exponent, 1.9);
    EXPECT_LT(none->exponent, 2.3);
    EXPECT_GT(paged->exponent, 0.95);
    EXPECT_LT(paged->exponent, 1.3);
    EXPECT_EQ(paged->points, 400);  // the decode steps
}

TEST(CostCurves, NoBytesHaveNoIntensity) {
    EXPECT_TRUE(std::isnan(measured(Costs{}, Quantity::intensity)));
    EXPECT_EQ(exact_text(measured(Costs{}, Quantity::intensity), Quantity::intensity), "-");
    EXPECT_EQ(exact_text(12941704279.0, Quantity::flops), "12,941,704,279");
    EXPECT_EQ(exact_text(30.405, Quantity::intensity).substr(0, 4), "30.4");
}

TEST(CostsView, FollowsGrowingLanesAndChoices) {
    const SyntheticTape tape;
    Show show;
    LaneHistory& lane = show.add_lane(tape.header(), 2);
    CostsView view;
    view.update(show.lanes());
    EXPECT_TRUE(view.curves()[0].measured.empty());
    for (std::int64_t i = 0; i < tape.steps(); ++i) lane.add(tape.step(2, i));
    view.update(show.lanes());
    ASSERT_EQ(std::ssize(view.curves()[0].measured), tape.steps());
    const double sum = view.curves()[0].measured.back();
    view.so_far = false;
    view.update(show.lanes());
    EXPECT_LT(view.curves()[0].measured.back(), sum);
    view.quantity = Quantity::bytes;
    view.update(show.lanes());
    EXPECT_EQ(view.curves()[0].measured.back(), measured(lane.costs(4), Quantity::bytes));
}

}  // namespace
}  // namespace kvtape
