// The GPU whose context is current, asked of the libcuda.so.1 that the probe has loaded; and what a
// scenario has for a call of a library on it. Shared by the stand-ins that compute through it.
#pragma once

#include "scenario.hpp"

#include <dlfcn.h>
#include <optional>
#include <string_view>

namespace standin {

inline std::optional<int> current_gpu() {
    static void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    static auto* ask = driver == nullptr
                           ? nullptr
                           : reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuCtxGetDevice"));
    int gpu = 0;
    return ask != nullptr && ask(&gpu) == 0 ? std::optional(gpu) : std::nullopt;
}

// What the call is to do besides its work: nothing, refuse with a status, be wrong, lie, or not do
// it.
struct Scripted {
    int status = 0;
    bool is_wrong = false;
    bool is_unwritten = false;
    std::optional<int> garbage{};
};

inline Scripted scripted_for(std::string_view function) {
    const Rule* rule = rule_for(function, {.gpu = current_gpu()});
    if (rule == nullptr) {
        return {};
    }
    return {.status = rule->action == Action::Return ? rule->number : 0,
            .is_wrong = rule->action == Action::Wrong,
            .is_unwritten = rule->action == Action::Unwritten,
            .garbage =
                rule->action == Action::Garbage ? std::optional(rule->number) : std::nullopt};
}

} // namespace standin
