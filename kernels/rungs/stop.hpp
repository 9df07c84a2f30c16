// Why a rung stopped, as a value; and how functions are taken out of a loaded library.
#pragma once

#include "solver/facts/probe.hpp"

#include <dlfcn.h>
#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::kernels {

struct Stop {
    enum class Kind {
        Failed,  // `call` returned `error`
        Refused, // `call` without a number: the loader's
        Wrong,   // the result is not the CPU's: `message`
    } kind = Kind::Failed;
    std::string call{};
    int error = 0;
    std::string error_name{};
    std::string message{};
    facts::RungReason reason = facts::RungReason::None;
    std::string broken{}; // facts::ProbeRung's
};
using MaybeStop = std::optional<Stop>;

// `CUDAENV_STOP_IF(f());`: the enclosing function returns the Stop that f gives, if it gives one.
#define CUDAENV_STOP_IF(expr)                                                                      \
    do {                                                                                           \
        if (MaybeStop cudaenv_stop = (expr)) {                                                     \
            return cudaenv_stop;                                                                   \
        }                                                                                          \
    } while (false)

Stop wrong_result(std::string message);
Stop refused_by_loader(std::string words);
// The library at `path` has no function of that name.
Stop lacks_function(std::string_view name, std::string_view path);

// What a library's function says of an error; empty where it has no such function or no word.
std::string words_of(const char* (*function)(int), int error);

// At most 4 KiB of what a library said, without the blank at its end.
std::string shortened(std::string_view words);

// One function of a loaded library; null where the library does not have it.
template <typename Function>
void find_function(void* handle, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(::dlsym(handle, name));
}

// Functions that the rung requires; the first that is missing is remembered.
class NeededFunctions {
public:
    NeededFunctions(void* handle, std::string_view path) : m_handle(handle), m_path(path) {}

    template <typename Function>
    NeededFunctions& find(const char* name, Function*& function) {
        find_function(m_handle, name, function);
        if (function == nullptr && !m_missing) {
            m_missing = lacks_function(name, m_path);
        }
        return *this;
    }
    const MaybeStop& missing() const { return m_missing; }

private:
    void* m_handle;
    std::string m_path;
    MaybeStop m_missing;
};

} // namespace cudaenv::kernels
