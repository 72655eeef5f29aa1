// Byte pair encoding of one word. (Sennrich et al. 2016, "Neural Machine Translation of Rare Words
// with Subword Units"; on bytes: Radford et al. 2019, GPT-2.)
//
// A word starts as one piece per byte. Again and again, of all neighbouring pairs that the training
// found worth merging, the pair it found first is merged, the leftmost one if it occurs several
// times:
//
//     m e d a      merges: 0 "e d", 1 "m ed", 2 "d a"
//     m ed a       rank 0 wins over rank 2, and takes the d away from it
//     med a        rank 1
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kvtape {

struct Merge {
    std::int32_t left;  // ids of the two pieces
    std::int32_t right;
    std::int32_t result;  // id of the piece they become
};

class Bpe {
  public:
    Bpe() = default;
    // `ids` maps the bytes of a piece to its id. `merges` come in the order of their rank, all
    // pairs different. With `whole_words_first` (ignore_merges in the file), a word that is a piece
    // is taken as it is.
    Bpe(std::unordered_map<std::string, std::int32_t> ids, std::vector<Merge> merges,
        bool whole_words_first);

    // Appends the ids of the word's pieces. Takes O(n log n) for a word of n bytes. Throws Error if
    // a byte of the word has no piece of its own.
    void append_word(std::string_view word, std::vector<std::int32_t>& ids) const;

  private:
    std::unordered_map<std::string, std::int32_t> ids_;
    std::array<std::int32_t, 256> id_of_byte_{};  // -1: none
    std::vector<Merge> merges_;
    std::unordered_map<std::uint64_t, std::int32_t> rank_of_pair_;
    bool whole_words_first_ = false;
};

}  // namespace kvtape
