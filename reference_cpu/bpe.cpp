#include "reference_cpu/bpe.h"

#include <queue>
#include <tuple>
#include <utility>

#include "core/check.h"

namespace kvtape {
namespace {

constexpr std::int32_t none = -1;

std::uint64_t pair_key(std::int32_t left, std::int32_t right) {
    return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32) |
           static_cast<std::uint32_t>(right);
}

// A piece of the word; the pieces form a list. A piece that was merged into its left neighbour has
// no id any more.
struct Piece {
    std::int32_t id;
    std::int32_t previous;  // indices, or none
    std::int32_t next;
};

// A merge that may be done: the pair that starts with piece `left`.
struct Candidate {
    std::int32_t rank;
    std::int32_t left;

    // std::priority_queue hands out the largest, so "larger" means lower rank, then further left.
    friend bool operator<(const Candidate& a, const Candidate& b) {
        return std::tie(b.rank, b.left) < std::tie(a.rank, a.left);
    }
};

}  // namespace

Bpe::Bpe(std::unordered_map<std::string, std::int32_t> ids, std::vector<Merge> merges,
         bool whole_words_first)
    : ids_(std::move(ids)), merges_(std::move(merges)), whole_words_first_(whole_words_first) {
    id_of_byte_.fill(none);
    for (const auto& [bytes, id] : ids_) {
        if (bytes.size() == 1) {
            id_of_byte_[static_cast<unsigned char>(bytes[0])] = id;
        }
    }
    for (const Merge& merge : merges_) {
        const auto rank = static_cast<std::int32_t>(rank_of_pair_.size());
        const bool is_new = rank_of_pair_.emplace(pair_key(merge.left, merge.right), rank).second;
        KVTAPE_CHECK(is_new, ==, true);
    }
}

void Bpe::append_word(std::string_view word, std::vector<std::int32_t>& ids) const {
    if (whole_words_first_) {
        if (const auto found = ids_.find(std::string(word)); found != ids_.end()) {
            ids.push_back(found->second);
            return;
        }
    }

    std::vector<Piece> pieces;
    const auto length = static_cast<std::int32_t>(word.size());
    for (std::int32_t i = 0; i < length; ++i) {
        const int byte = static_cast<unsigned char>(word[static_cast<std::size_t>(i)]);
        const std::int32_t id = id_of_byte_[static_cast<std::size_t>(byte)];
        if (id == none) {
            fail("tokenizer: byte ", byte, " of the text has no piece in the vocabulary");
        }
        pieces.push_back({id, i - 1, i + 1 < length ? i + 1 : none});
    }

    std::priority_queue<Candidate> candidates;
    const auto piece = [&](std::int32_t index) -> Piece& {
        return pieces[static_cast<std::size_t>(index)];
    };
    // Rank of the merge of a piece with its right neighbour, or none.
    const auto rank_at = [&](std::int32_t left) {
        if (piece(left).next == none) {
            return none;
        }
        const auto found = rank_of_pair_.find(pair_key(piece(left).id, piece(piece(left).next).id));
        return found == rank_of_pair_.end() ? none : found->second;
    };
    const auto consider = [&](std::int32_t left) {
        if (const std::int32_t rank = rank_at(left); rank != none) {
            candidates.push({rank, left});
        }
    };

    for (std::int32_t i = 0; i < length; ++i) {
        consider(i);
    }
    while (!candidates.empty()) {
        const Candidate best = candidates.top();
        candidates.pop();
        // Earlier merges may have taken one of the two pieces away: then the pair has another rank.
        if (rank_at(best.left) != best.rank) {
            continue;
        }
        Piece& left = piece(best.left);
        Piece& right = piece(left.next);
        left.id = merges_[static_cast<std::size_t>(best.rank)].result;
        left.next = right.next;
        right = {none, none, none};
        if (left.next != none) {
            piece(left.next).previous = best.left;
        }
        consider(best.left);
        if (left.previous != none) {
            consider(left.previous);
        }
    }
    for (const Piece& remaining : pieces) {
        if (remaining.id != none) {
            ids.push_back(remaining.id);
        }
    }
}

}  // namespace kvtape
