// Fields that the user fills in.
#pragma once

#include <cfloat>
#include <string>

namespace kvtape {

// The width of an item that reaches to the right edge, as ImGui has it.
inline constexpr float to_the_edge = -FLT_MIN;

// Fields for text of any length.
void edit_line(const char* id, std::string& text);
void edit_lines(const char* id, std::string& text, float height);

// Labels with room for their fields: one pair in a line, or two. Each call draws a label, whose
// `meaning` is shown when it is hovered, and sets the width of the item that is drawn next.
class FormLines {
  public:
    FormLines();

    // The field takes `share` of what is left of the line.
    void wide(const char* label, const char* meaning, float share = 1) const;
    void left(const char* label, const char* meaning) const;
    void right(const char* label, const char* meaning) const;

  private:
    float wide_label_, left_label_, right_label_, half_;
};

}  // namespace kvtape
