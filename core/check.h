// How kvtape says that something is wrong. Two cases, never mixed:
//
//   Error          the *user's* input cannot be used: a file, an option, a prompt that is too long.
//                  One line: what was wrong, where, and what to do. `main` prints it and exits 1.
//   KVTAPE_CHECK   *our* code broke a contract between two functions. Prints the expression and
//                  both values, so that a failed shape check tells which shapes met.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace kvtape {

// A message for people; `what()` is one line without a trailing newline.
struct Error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// A contract between two functions of this project was broken: a bug here, not in the input.
struct ContractViolation : std::logic_error {
    using std::logic_error::logic_error;
};

// Throws Error with all arguments written one after another, as a stream would.
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
    std::ostringstream message;
    (message << ... << parts);
    throw Error(message.str());
}

namespace detail {
template <class A, class B>
[[noreturn]] void contract_violated(const char* file, int line, const char* expression, const A& a,
                                    const B& b) {
    std::ostringstream message;
    message << file << ":" << line << ": expected " << expression << ", got " << +a << " and "
            << +b;
    throw ContractViolation(message.str());
}
}  // namespace detail
}  // namespace kvtape

// KVTAPE_CHECK(rows, ==, 3): always on, both sides are numbers, each is evaluated once.
#define KVTAPE_CHECK(a, op, b)                                                                   \
    do {                                                                                         \
        const auto kvtape_a = (a);                                                               \
        const auto kvtape_b = (b);                                                               \
        if (!(kvtape_a op kvtape_b))                                                             \
            ::kvtape::detail::contract_violated(__FILE__, __LINE__, #a " " #op " " #b, kvtape_a, \
                                                kvtape_b);                                       \
    } while (false)
