// A buffer for arrays that are streamed again and again: weights and caches.
//
// The processor translates every address through a small table of pages (the TLB). With pages of
// 4 KiB, 100 MB of weights are 25,000 entries and the table misses all the time; with pages of 2
// MiB they are 50. Linux gives the large pages to memory that asks for them with madvise(). Asking
// is a hint: where it is refused, everything works as before, only slower.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

namespace kvtape {

// `bytes` bytes of uninitialised memory at a multiple of 64 (a cache line, and the widest vector);
// from 2 MiB on at a multiple of 2 MiB, and huge pages are asked for. Throws std::bad_alloc. To be
// given back with free_huge_pages.
void* allocate_huge_pages(std::size_t bytes);
void free_huge_pages(void* memory) noexcept;

// `count` elements, each value-initialised (numbers are 0). Moves, does not copy.
template <class T>
class HugePageBuffer {
    static_assert(std::is_trivially_destructible_v<T>, "elements are dropped, not destroyed");
    static_assert(alignof(T) <= 64);

  public:
    HugePageBuffer() = default;
    explicit HugePageBuffer(std::int64_t count)
        : memory_(
              static_cast<T*>(allocate_huge_pages(static_cast<std::size_t>(count) * sizeof(T)))),
          count_(count) {
        std::uninitialized_value_construct_n(data(), count);
    }
    HugePageBuffer(HugePageBuffer&& other) noexcept
        : memory_(std::move(other.memory_)), count_(std::exchange(other.count_, 0)) {}
    HugePageBuffer& operator=(HugePageBuffer&& other) noexcept {
        memory_ = std::move(other.memory_);
        count_ = std::exchange(other.count_, 0);
        return *this;
    }

    T* data() { return memory_.get(); }
    const T* data() const { return memory_.get(); }
    std::int64_t size() const { return count_; }
    std::int64_t bytes() const { return count_ * static_cast<std::int64_t>(sizeof(T)); }
    std::span<T> span() { return {data(), static_cast<std::size_t>(count_)}; }
    std::span<const T> span() const { return {data(), static_cast<std::size_t>(count_)}; }

  private:
    struct Free {
        void operator()(T* memory) const noexcept { free_huge_pages(memory); }
    };
    std::unique_ptr<T, Free> memory_;
    std::int64_t count_ = 0;
};

}  // namespace kvtape
