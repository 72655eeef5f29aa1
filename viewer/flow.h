// Small items that stand beside each other and go on in the next line where the panel ends.
#pragma once

#include <span>
#include <string>

#include "viewer/palette.h"

namespace kvtape {

// Panels at the bottom of the window are small: their controls are low and close together. Ends
// with the scope.
class CompactControls {
  public:
    explicit CompactControls(float scale);
    ~CompactControls();
    CompactControls(const CompactControls&) = delete;
    CompactControls& operator=(const CompactControls&) = delete;
};

class Flow {
  public:
    explicit Flow(float gap) : gap_(gap) {}

    // The next item is `width` wide: stays in the line if it fits.
    void next(float width);

    void text(const std::string& text, Rgba colour, const std::string& explained = {});
    // A square, and what its colour stands for.
    void swatch(Rgba colour, const std::string& label, Rgba text_colour,
                const std::string& explained = {});
    // A list to choose from, as wide as its longest entry. Returns the index chosen.
    std::size_t choice(const char* id, std::size_t chosen, std::span<const std::string> entries,
                       const char* explained);
    void check(const char* label, bool& on, const char* explained);

  private:
    float gap_;
    bool first_ = true;
};

}  // namespace kvtape
