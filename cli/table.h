// A table of text: the first column is a label and stands at the left, the others are numbers and
// stand at the right. Cells are ASCII.
#pragma once

#include <string>
#include <vector>

namespace kvtape {

class Table {
  public:
    // `cells` of the first row say how many columns there are. Rows may be shorter.
    void add_row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    void add_line() { rows_.emplace_back(); }  // an empty line

    // Each line ends in '\n' and starts with `indent` spaces; columns stand two spaces apart.
    std::string text(int indent = 2) const;

  private:
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace kvtape
