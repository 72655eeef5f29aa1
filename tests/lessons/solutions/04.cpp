#include <algorithm>

#include "reference_cpu/team.h"

namespace kvtape::exercise {

Range next_tokens(std::int64_t cached, std::int64_t known, std::int64_t prompt,
                  std::int64_t chunk) {
    return {cached, cached < prompt ? std::min(cached + chunk, prompt) : known};
}

}  // namespace kvtape::exercise
