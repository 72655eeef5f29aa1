#include "cli/table.h"

#include <algorithm>

namespace kvtape {

std::string Table::text(int indent) const {
    std::vector<std::size_t> width;  // (columns)
    for (const auto& row : rows_) {
        width.resize(std::max(width.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
    }

    std::string text;
    for (const auto& row : rows_) {
        std::string line(static_cast<std::size_t>(indent), ' ');
        for (std::size_t i = 0; i < row.size(); ++i) {
            const std::string padding(width[i] - row[i].size(), ' ');
            line += i == 0 ? row[i] + padding : "  " + padding + row[i];
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    return text;
}

}  // namespace kvtape
