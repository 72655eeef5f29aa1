// Texts side by side, each in a column of its own, wrapped at spaces and filled while they grow:
// what `kvtape demo` streams. On a terminal the unfinished row is drawn again and again in place;
// otherwise only finished rows are printed.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kvtape {

// One growing text, wrapped to lines of at most `width` characters.
class WrappedText {
  public:
    explicit WrappedText(std::size_t width) : width_(width) {}

    void add(std::string_view utf8);
    void finish();  // the last line is finished, if there is one

    std::size_t finished_lines() const { return lines_.size(); }
    // An unfinished line may be asked for as well; lines beyond it are empty.
    std::string line(std::size_t index) const;

  private:
    void add_character(std::string_view character);

    std::size_t width_;
    std::vector<std::string> lines_;
    std::string open_;                 // the line that grows
    std::size_t open_characters_ = 0;  // in it
};

class TextColumns {
  public:
    // `redraw`: the output is a terminal, where unfinished rows may be shown.
    TextColumns(std::size_t columns, std::size_t width, bool redraw,
                std::function<void(std::string_view)> print);

    void add(std::size_t column, std::string_view utf8) { texts_[column].add(utf8); }
    // Prints what has changed since the last call.
    void show();
    void finish();

  private:
    std::string row(std::size_t index) const;

    std::size_t width_;
    bool redraw_;
    std::function<void(std::string_view)> print_;
    std::vector<WrappedText> texts_;  // (columns)
    std::size_t rows_printed_ = 0;
};

// The text wrapped to `width`, each line after `indent`.
std::string wrapped(std::string_view utf8, std::size_t width, const std::string& indent);

}  // namespace kvtape
