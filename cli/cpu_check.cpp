// Refuses a CPU that lacks the vector instructions this program was built with, in one line instead
// of a crash.
//
// The other files are compiled with those instructions, and the compiler may use them anywhere,
// also where global objects are set up before main. So the check is a constructor that comes before
// theirs (101 is the first priority that is not reserved), this file is compiled for any x86-64
// CPU, and it calls no inline function of the C++ library: the linker keeps one copy of such a
// function, and could keep one that another file compiled.
#include <unistd.h>

#include <cstddef>

namespace {

constexpr bool same_name(const char* a, const char* b) {
    while (*a != '\0' && *a == *b) {
        ++a;
        ++b;
    }
    return *a == *b;
}

constexpr bool built_with_avx512 = same_name(KVTAPE_ISA_NAME, "avx512");

template <std::size_t size>
[[noreturn]] void refuse(const char (&message)[size]) {
    // Nothing is left to do if standard error cannot be written.
    [[maybe_unused]] const auto written = write(STDERR_FILENO, message, size - 1);
    _exit(1);
}

__attribute__((constructor(101))) void check_cpu() {
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        refuse(
            "kvtape: this CPU does not have AVX2 and FMA (Intel since Haswell, AMD since Zen have "
            "them); kvtape runs on no other\n");
    }
    if (built_with_avx512 &&
        (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512dq"))) {
        refuse(
            "kvtape: this CPU does not have AVX-512, which this program was built with; build it "
            "anew with -DKVTAPE_ISA=avx2\n");
    }
}

}  // namespace
