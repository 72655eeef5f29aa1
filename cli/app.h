// The type of a verb's command line, for headers: CLI11 itself takes long to compile, so only the
// files that add options include it.
#pragma once

namespace CLI {
class App;
}
