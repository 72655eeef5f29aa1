// Which headers and steps make sense. A reader refuses the others, so that nobody behind it meets a
// layer that the model does not have or a range that ends before it begins.
#pragma once

#include "tracer/step.h"

namespace kvtape {

// Both throw Error with a phrase that names the field, the value and what is allowed.

// The shape is valid and not too large, lanes have unique names, and a paged lane has a block size.
void validate(const TapeHeader& header);

// Lanes, layers and heads exist; ranges do not end before they begin; every written position and
// every query lies in a span of the step; the heads of a read share its KV head; counts are not
// negative and sums of them do not overflow. Whether the *right* rows were read is not asked here:
// see tracer/verify.h.
void validate(const Step& step, const TapeHeader& header);

}  // namespace kvtape
