// Exercise 5. Where does attention overtake the projections?
#include "core/shape.h"

namespace kvtape::exercise {

// A decode step with t keys costs, per layer,
//   projections   2 d (2 H D + 2 G D)
//   attention     4 D H t
// At which t (a fraction is fine) are the two equal?
double keys_at_crossover(const ModelShape& shape) {
    (void)shape;
    return 0;
}

}  // namespace kvtape::exercise
