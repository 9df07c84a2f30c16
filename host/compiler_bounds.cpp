#include "host/compiler_bounds.hpp"

#include "host/preprocessor.hpp"

namespace cudaenv::host {

namespace {

// Oldest and newest major that is tried. CUDA 7.0 spoke of gcc 4; a header that still accepts the
// newest sets no upper bound.
constexpr int k_oldest = 3;
constexpr int k_newest = 60;

Macros linux_host() {
    return {{"__linux__", 1}, {"__x86_64__", 1}, {"__LP64__", 1}, {"__CUDACC__", 1}};
}

Macros gcc(int major, int minor) {
    auto macros = linux_host();
    macros["__GNUC__"] = major;
    macros["__GNUC_MINOR__"] = minor;
    return macros;
}

Macros clang(int major, int minor) {
    auto macros = linux_host();
    // What clang claims to be for gcc's sake, since its beginnings.
    macros["__GNUC__"] = 4;
    macros["__GNUC_MINOR__"] = 2;
    macros["__clang__"] = 1;
    macros["__clang_major__"] = major;
    macros["__clang_minor__"] = minor;
    return macros;
}

struct Range {
    std::optional<int> min;
    std::optional<int> max;
    bool any = false;
};

// Up to gcc 4 and clang 3 the second part was the release (gcc 4.9, clang 3.8), later it is a
// patch; the major is accepted when one of its releases is.
template <typename MacrosOf>
Range accepted(const Preprocessor& header, MacrosOf macros_of) {
    Range range;
    for (int major = k_oldest; major <= k_newest; ++major) {
        bool good = header.first_error(macros_of(major, 0)).empty();
        for (int minor = 9; !good && major <= 5 && minor > 0; --minor) {
            good = header.first_error(macros_of(major, minor)).empty();
        }
        if (good && !range.any) {
            range.any = true;
            range.min = major == k_oldest ? std::nullopt : std::optional(major);
        }
        if (!good && range.any) {
            range.max = major - 1;
            break;
        }
        if (good && major == k_newest) {
            range.max = std::nullopt;
        }
    }
    return range;
}

} // namespace

std::optional<CompilerBounds> parse_host_config(std::string_view text) {
    const Preprocessor header(text);
    CompilerBounds bounds;
    bool any = false;
    if (header.mentions_error("unsupported GNU version")) {
        const auto range = accepted(header, gcc);
        bounds.gcc_min = range.min;
        bounds.gcc_max = range.max;
        any = range.any;
    }
    if (header.mentions_error("unsupported clang version")) {
        const auto range = accepted(header, clang);
        bounds.clang_min = range.min;
        bounds.clang_max = range.max;
        any = any || range.any;
    }
    return any ? std::optional(bounds) : std::nullopt;
}

} // namespace cudaenv::host
