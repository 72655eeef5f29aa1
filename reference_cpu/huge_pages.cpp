#include "reference_cpu/huge_pages.h"

#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace kvtape {

void* allocate_huge_pages(std::size_t bytes) {
    constexpr std::size_t cache_line = 64;
    constexpr std::size_t huge_page = std::size_t{2} << 20;
    void* memory = nullptr;
    if (posix_memalign(&memory, bytes < huge_page ? cache_line : huge_page, bytes) != 0) {
        throw std::bad_alloc();
    }
#if defined(__linux__)
    // Before the first touch, which is when Linux decides what kind of page to hand out.
    if (bytes >= huge_page) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

void free_huge_pages(void* memory) noexcept {
    std::free(memory);
}

}  // namespace kvtape
