#include "cli/cache_picture.h"

#include <algorithm>

namespace kvtape {
namespace {

constexpr std::int64_t cells_per_line = 60;
constexpr std::int64_t cells_per_group = 10;  // where there are no blocks

char mark_of(const Cell& cell) {
    if (!cell.filled) return '.';
    if (cell.written_now) return '#';
    return cell.read_now > 0 ? 'o' : '-';
}

}  // namespace

std::string cache_picture(std::span<const Cell> cells, std::int64_t block_size, int indent) {
    const bool blocks = block_size > 0 && block_size <= cells_per_line;
    const std::int64_t group = blocks ? block_size : cells_per_group;
    const std::int64_t per_line = std::max<std::int64_t>(cells_per_line / group, 1) * group;
    const auto count = std::ssize(cells);
    const std::size_t label_width = std::to_string(std::max<std::int64_t>(count - 1, 0)).size();

    std::string picture;
    for (std::int64_t line = 0; line < count; line += per_line) {
        std::string label = std::to_string(line);
        label.insert(0, label_width - label.size(), ' ');
        picture += std::string(static_cast<std::size_t>(indent), ' ') + label + "  ";
        const std::int64_t end = std::min(line + per_line, count);
        for (std::int64_t i = line; i < end; ++i) {
            const bool first = i % group == 0;
            const bool last = i % group == group - 1 || i == end - 1;
            if (first && blocks) picture += '[';
            if (first && !blocks && i != line) picture += ' ';
            picture += mark_of(cells[static_cast<std::size_t>(i)]);
            if (last && blocks) picture += ']';
        }
        picture += '\n';
    }
    return picture;
}

}  // namespace kvtape
