#include "cli/text_columns.h"

#include <algorithm>
#include <utility>

namespace kvtape {
namespace {

bool starts_character(char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

std::size_t characters_in(std::string_view utf8) {
    return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), starts_character));
}

std::string without_spaces_at_end(std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

}  // namespace

void WrappedText::add(std::string_view utf8) {
    while (!utf8.empty()) {
        std::size_t bytes = 1;
        while (bytes < utf8.size() && !starts_character(utf8[bytes])) ++bytes;
        add_character(utf8.substr(0, bytes));
        utf8.remove_prefix(bytes);
    }
}

void WrappedText::add_character(std::string_view character) {
    if (character == "\n") {
        lines_.push_back(std::exchange(open_, ""));
        open_characters_ = 0;
        return;
    }
    if (character.size() == 1 && static_cast<unsigned char>(character[0]) < 0x20) character = " ";
    if (open_characters_ == width_) {
        // The line is full: what stands after its last space begins the next one. A space that
        // would begin a line is dropped; a word longer than the line is cut.
        const std::size_t space = character == " " ? std::string::npos : open_.rfind(' ');
        std::string next;
        if (space != std::string::npos) {
            next = open_.substr(space + 1);
            open_.erase(space);
        }
        lines_.push_back(without_spaces_at_end(std::exchange(open_, next)));
        open_characters_ = characters_in(open_);
        if (character == " ") return;
    }
    open_ += character;
    open_characters_ += 1;
}

void WrappedText::finish() {
    if (!open_.empty()) lines_.push_back(without_spaces_at_end(std::exchange(open_, "")));
    open_characters_ = 0;
}

std::string WrappedText::line(std::size_t index) const {
    if (index < lines_.size()) return lines_[index];
    return index == lines_.size() ? open_ : "";
}

TextColumns::TextColumns(std::size_t columns, std::size_t width, bool redraw,
                         std::function<void(std::string_view)> print)
    : width_(width),
      redraw_(redraw),
      print_(std::move(print)),
      texts_(columns, WrappedText(width)) {}

std::string TextColumns::row(std::size_t index) const {
    std::string row;
    for (const WrappedText& text : texts_) {
        const std::string line = text.line(index);
        row += "  " + line + std::string(width_ - std::min(width_, characters_in(line)), ' ');
    }
    return without_spaces_at_end(row);
}

void TextColumns::show() {
    std::size_t finished = texts_.front().finished_lines();
    for (const WrappedText& text : texts_) finished = std::min(finished, text.finished_lines());
    // \r goes to the start of the row, ESC[K erases what an older drawing left.
    const std::string begin = redraw_ ? "\r\x1b[K" : "";
    for (; rows_printed_ < finished; ++rows_printed_) print_(begin + row(rows_printed_) + "\n");
    if (redraw_) print_(begin + row(rows_printed_));
}

void TextColumns::finish() {
    std::size_t rows = 0;
    for (WrappedText& text : texts_) {
        text.finish();
        rows = std::max(rows, text.finished_lines());
    }
    const std::string begin = redraw_ ? "\r\x1b[K" : "";
    for (; rows_printed_ < rows; ++rows_printed_) print_(begin + row(rows_printed_) + "\n");
    if (redraw_) print_(begin);
}

std::string wrapped(std::string_view utf8, std::size_t width, const std::string& indent) {
    WrappedText text(width);
    text.add(utf8);
    text.finish();
    std::string lines;
    for (std::size_t i = 0; i < text.finished_lines(); ++i) lines += indent + text.line(i) + "\n";
    return lines;
}

}  // namespace kvtape
