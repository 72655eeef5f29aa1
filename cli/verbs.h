// The verbs. Each has a file of its own, which adds the verb's options to the command line and
// returns what to do once they are parsed.
#pragma once

#include <functional>

#include "cli/app.h"

namespace kvtape {

// Does what the verb is for and returns the exit code. Throws Error.
using Action = std::function<int()>;

Action add_run(CLI::App& verb);
Action add_compare(CLI::App& verb);
Action add_arithmetic(CLI::App& verb);
Action add_inspect(CLI::App& verb);
Action add_footprint(CLI::App& verb);
Action add_demo(CLI::App& verb);
Action add_lesson(CLI::App& verb);

}  // namespace kvtape
