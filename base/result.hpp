// What can fail in use, as a value. "No solution" is an outcome, not an error.
#pragma once

#include <tl/expected.hpp>

#include <string>
#include <utility>

namespace cudaenv {

// Which exit status a failure ends in (cli: 2, 3 and 70).
enum class ErrorKind {
    BadInput,    // what was asked or read is malformed: the user can mend it
    Unavailable, // could not be done: I/O, permission, network, time
    Defect,      // cudaenv itself is wrong
};

// One failure, reported once: what was tried, on what, what happened; `hint` says what to do.
struct Error {
    ErrorKind kind = ErrorKind::BadInput;
    std::string code;    // stable short word, as in "bad-spec"
    std::string message; // one line, no newline at the end
    std::string path;    // the file meant, or "argument 1"; empty when there is none
    int line = 0;        // from 1; 0 = unknown
    int column = 0;      // from 1, in bytes; 0 = unknown
    std::string hint;    // what would be right; may be empty
};

template <typename T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> bad_input(std::string code, std::string message,
                                                     std::string hint = {}, std::string path = {}) {
    return tl::unexpected(Error{ErrorKind::BadInput, std::move(code), std::move(message),
                                std::move(path), 0, 0, std::move(hint)});
}

[[nodiscard]] inline tl::unexpected<Error>
unavailable(std::string code, std::string message, std::string hint = {}, std::string path = {}) {
    return tl::unexpected(Error{ErrorKind::Unavailable, std::move(code), std::move(message),
                                std::move(path), 0, 0, std::move(hint)});
}

[[nodiscard]] inline tl::unexpected<Error> at_path(const std::string& path, Error error) {
    error.path = path;
    return tl::unexpected(std::move(error));
}

[[nodiscard]] inline tl::unexpected<Error> defect(std::string message) {
    constexpr const char* k_hint =
        "this is a defect of cudaenv; `cudaenv --version` and the command belong in a report";
    return tl::unexpected(Error{ErrorKind::Defect, "defect", std::move(message), "", 0, 0, k_hint});
}

} // namespace cudaenv

// Leaves the enclosing function with the error of `expr`, or goes on.
#define CUDAENV_TRY_VOID(expr)                                                                     \
    do {                                                                                           \
        auto cudaenv_try_result = (expr);                                                          \
        if (!cudaenv_try_result) {                                                                 \
            return tl::unexpected(std::move(cudaenv_try_result).error());                          \
        }                                                                                          \
    } while (false)

#define CUDAENV_TRY_CONCAT2(a, b) a##b
#define CUDAENV_TRY_CONCAT(a, b) CUDAENV_TRY_CONCAT2(a, b)
#define CUDAENV_TRY_NAMED(temporary, target, expr)                                                 \
    auto temporary = (expr);                                                                       \
    if (!temporary) {                                                                              \
        return tl::unexpected(std::move(temporary).error());                                       \
    }                                                                                              \
    target = std::move(*temporary)
// `CUDAENV_TRY(auto x, f());`: x is f's value, or the enclosing function returns f's error.
#define CUDAENV_TRY(target, expr)                                                                  \
    CUDAENV_TRY_NAMED(CUDAENV_TRY_CONCAT(cudaenv_try_, __LINE__), target, expr)
