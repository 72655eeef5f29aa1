// Small things that several panels draw.
#pragma once

#include <cstdint>
#include <string>

#include "core/number_text.h"
#include "tracer/step.h"
#include "viewer/layout.h"
#include "viewer/palette.h"
#include "viewer/viewer.h"

namespace kvtape {

// A tooltip for the item drawn last.
void hint(const char* text);
// The same for a place where something was drawn that is no item.
void hint_over(const Rect& place, const std::string& text);

// Text that explains itself when hovered, if the glossary (viewer/glossary.h) knows it.
void term(const char* text);

// Stays in the line of the item drawn last, where something of this width ends at the right edge.
void same_line_at_right(float width);

// The text, or as much of its beginning as fits, and dots.
std::string fitting(const std::string& text, float width);

// "1.23 G", "45.6 M", "789": three digits and a decimal prefix.
std::string short_number(double value);
// "4.00 MiB", "12.0 KiB", "96 B".
std::string short_bytes(std::int64_t bytes);

// A lane by its name; if several tapes are open, with the tape.
std::string lane_title(const Viewer& viewer, std::size_t lane);
// "prefill of 201 tokens" or "decode of position 217".
std::string step_title(const Step& step);

void jump_to_phase(Viewer& viewer, Phase phase);
void jump_to_next_preemption(Viewer& viewer);

void draw_help(Viewer& viewer);
void draw_message(Viewer& viewer);
void draw_tape_names(Viewer& viewer);
// Where there is nothing to draw: why, and what to do. Returns whether there is nothing.
bool draw_if_empty(Viewer& viewer);

}  // namespace kvtape
