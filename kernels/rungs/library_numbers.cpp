#include "kernels/rungs/library_numbers.hpp"

#include "kernels/library_files.hpp"
#include "kernels/reporter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <dlfcn.h>
#include <filesystem>
#include <system_error>

namespace cudaenv::kernels {

namespace {

std::string dotted(std::size_t number, std::size_t major_unit) {
    return std::to_string(number / major_unit) + '.' + std::to_string(number % major_unit / 100) +
           '.' + std::to_string(number % 100);
}

// The older numbers count the major in thousands.
std::string dotted_from(std::size_t first_of_ten_thousands, std::size_t number) {
    return dotted(number, number >= first_of_ten_thousands ? 10000 : 1000);
}

std::string of_value(float value) {
    const double rounded = std::nearbyint(static_cast<double>(value));
    if (std::abs(rounded) < 1e9 && rounded == static_cast<double>(value)) {
        return std::to_string(static_cast<long>(rounded));
    }
    return std::to_string(value);
}

constexpr std::string_view k_cannot_open = ": cannot open shared object file";

// The file whose absence the loader names; empty where its words are others.
std::string missing_file(std::string_view words) {
    const std::size_t end = words.find(k_cannot_open);
    if (end == std::string_view::npos ||
        words.find("No such file", end) == std::string_view::npos) {
        return {};
    }
    return std::string(words.substr(0, end));
}

std::string last_words() {
    const char* words = ::dlerror();
    return words == nullptr ? "the loader gave no reason" : words;
}

bool is_file(const std::filesystem::path& path) {
    std::error_code error;
    return std::filesystem::is_regular_file(path, error);
}

// Where a library that `file` needs may lie without the loader looking there: beside it, and in
// the libraries of other wheels (nvidia/cudnn/lib and nvidia/cublas/lib). A framework finds those
// by the search path of its own library, which covers all that it loads.
std::string find_sibling(const std::filesystem::path& file, const std::string& name) {
    const std::filesystem::path beside = file.parent_path() / name;
    if (is_file(beside)) {
        return beside.string();
    }
    const std::filesystem::path wheels = file.parent_path().parent_path().parent_path();
    if (wheels.filename() != "nvidia") {
        return {};
    }
    std::string found; // the first by name: a directory is read in no order
    std::error_code error;
    for (std::filesystem::directory_iterator entry(wheels, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::filesystem::path candidate = entry->path() / "lib" / name;
        if (is_file(candidate) && (found.empty() || candidate.string() < found)) {
            found = candidate.string();
        }
    }
    return found;
}

// What these libraries open or need by name. A framework's process finds it by the search path of
// the framework's own library, before LD_LIBRARY_PATH and the system's: in a wheel, the one beside
// it.
struct Companion {
    std::string_view library;
    std::string_view opened;
};
constexpr auto k_companions = std::to_array<Companion>(
    {{"libnvrtc.so", "libnvrtc-builtins.so"}, {"libcublas.so", "libcublasLt.so"}});

void open_companions_of_wheel(const std::filesystem::path& file) {
    const std::filesystem::path directory = file.parent_path();
    const auto companion = std::ranges::find_if(k_companions, [&](const Companion& one) {
        return file.filename().string().starts_with(one.library);
    });
    if (companion == k_companions.end() ||
        directory.parent_path().parent_path().filename() != "nvidia") {
        return;
    }
    std::error_code error;
    for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        if (entry->path().filename().string().starts_with(companion->opened)) {
            MaybeStop refusal; // the library itself then says what is missing
            open_whole(entry->path().string(), refusal);
        }
    }
}

// Null with the loader's words in `refusal`. A sibling that was opened stays: the loader then knows
// its soname.
void* open_library(const std::string& file, int attempts, MaybeStop& refusal) {
    open_companions_of_wheel(file);
    if (void* handle = open_whole(file, refusal); handle != nullptr) {
        return handle;
    }
    for (; attempts > 0 && file.starts_with('/'); --attempts) {
        const std::string missing = missing_file(refusal->message);
        if (missing.empty() || missing.find('/') != std::string::npos) {
            return nullptr;
        }
        const std::string sibling = find_sibling(file, missing);
        MaybeStop of_sibling;
        if (sibling.empty() || open_library(sibling, attempts - 1, of_sibling) == nullptr) {
            return nullptr;
        }
        if (void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr) {
            return handle;
        }
        refusal = refused_by_loader(last_words());
    }
    return nullptr;
}

} // namespace

std::string cudnn_version(std::size_t number) {
    return dotted_from(90000, number);
}

std::string cublas_version(int number) {
    return dotted_from(100000, static_cast<std::size_t>(std::max(number, 0)));
}

std::string nccl_version(int number) {
    return dotted_from(10000, static_cast<std::size_t>(std::max(number, 0)));
}

std::string ptx_isa(std::string_view ptx) {
    constexpr std::string_view k_directive = ".version ";
    std::size_t line = 0;
    while (line < ptx.size()) {
        if (ptx.substr(line).starts_with(k_directive)) {
            const std::string_view rest = ptx.substr(line + k_directive.size());
            return std::string(rest.substr(0, rest.find_first_not_of("0123456789.")));
        }
        const std::size_t newline = ptx.find('\n', line);
        line = newline == std::string_view::npos ? ptx.size() : newline + 1;
    }
    return {};
}

std::string architecture_name(std::string_view prefix, ComputeCapability capability) {
    return std::string(prefix) + std::to_string(capability.major) +
           std::to_string(capability.minor);
}

std::optional<int> highest_architecture_for(ComputeCapability capability,
                                            std::span<const int> supported) {
    const int own = capability.major * 10 + capability.minor;
    std::optional<int> highest;
    for (const int architecture : supported) {
        if (architecture <= own && (!highest || architecture > *highest)) {
            highest = architecture;
        }
    }
    return highest;
}

std::span<const int> architectures_of_old_nvrtc() {
    static constexpr std::array k_architectures = {86, 80, 75, 72, 70, 62, 61, 60,
                                                   53, 52, 50, 37, 35, 32, 30};
    return k_architectures;
}

std::vector<float> small_integers(std::size_t count, unsigned seed) {
    std::vector<float> values(count);
    unsigned state = seed;
    for (float& value : values) {
        state = state * 1664525U + 1013904223U; // a full period modulo 2^32; its high bits are used
        value = static_cast<float>(static_cast<int>((state >> 16U) % 7U) - 3);
    }
    return values;
}

std::uint16_t half_of_integer(int value) {
    if (value == 0) {
        return 0;
    }
    const unsigned sign = value < 0 ? 0x8000U : 0U;
    const unsigned size = static_cast<unsigned>(std::abs(value));
    unsigned exponent = 0;
    while ((size >> (exponent + 1U)) != 0) {
        ++exponent;
    }
    // 10 bits behind the leading one, which is not stored.
    const unsigned fraction =
        exponent <= 10 ? (size << (10U - exponent)) & 0x3FFU : (size >> (exponent - 10U)) & 0x3FFU;
    return static_cast<std::uint16_t>(sign | ((exponent + 15U) << 10U) | fraction);
}

std::vector<float> product(std::span<const float> a, std::span<const float> b, std::size_t n) {
    std::vector<float> c(n * n, 0.0F);
    for (std::size_t column = 0; column < n; ++column) {
        for (std::size_t k = 0; k < n; ++k) {
            for (std::size_t row = 0; row < n; ++row) {
                c[row + column * n] += a[row + k * n] * b[k + column * n];
            }
        }
    }
    return c;
}

std::vector<float> cross_correlation(std::span<const float> image, std::size_t side,
                                     std::span<const float> filter, std::size_t filter_side) {
    const std::size_t margin = filter_side / 2;
    std::vector<float> result(side * side, 0.0F);
    for (std::size_t row = 0; row < side; ++row) {
        for (std::size_t column = 0; column < side; ++column) {
            float sum = 0.0F;
            for (std::size_t down = 0; down < filter_side; ++down) {
                for (std::size_t along = 0; along < filter_side; ++along) {
                    // Both shifted by the margin, so that no number is negative.
                    const std::size_t at_row = row + down;
                    const std::size_t at_column = column + along;
                    const bool inside = at_row >= margin && at_row - margin < side &&
                                        at_column >= margin && at_column - margin < side;
                    if (inside) {
                        sum += image[(at_row - margin) * side + (at_column - margin)] *
                               filter[down * filter_side + along];
                    }
                }
            }
            result[row * side + column] = sum;
        }
    }
    return result;
}

std::optional<std::string> first_difference(std::span<const float> got,
                                            std::span<const float> right, double tolerance) {
    for (std::size_t index = 0; index < right.size(); ++index) {
        const double seen = index < got.size() ? static_cast<double>(got[index]) : NAN;
        const double wanted = static_cast<double>(right[index]);
        // Written so that NaN differs.
        if (!(std::abs(seen - wanted) <= tolerance * std::max(1.0, std::abs(wanted)))) {
            return "element " + std::to_string(index) + " is " +
                   (index < got.size() ? of_value(got[index]) : "missing") + ", and should be " +
                   of_value(right[index]);
        }
    }
    return std::nullopt;
}

void* open_whole(const std::string& file, MaybeStop& refusal) {
    const std::string path = find_as_the_loader(file).path;
    if (!path.empty()) {
        report_opening(path);
        if (const auto pipe = pipe_in_its_place(path); !pipe.empty()) {
            refusal = refused_by_loader(pipe);
            return nullptr;
        }
        if (const auto cut = cut_short(path)) {
            refusal = refused_by_loader(cut->sizes);
            refusal->reason = facts::RungReason::CutShort;
            refusal->broken = cut->path;
            return nullptr;
        }
        // What it needs may be cut short as well; only the loader knows which files those are.
        if (const auto cut = cut_short_beside(path)) {
            report_opening(path, cut);
        }
    }
    void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        refusal = refused_by_loader(last_words());
    }
    return handle;
}

LoadedLibrary load_first(const std::vector<std::string>& files) {
    constexpr int k_siblings = 4; // as many as may be missing, one behind the other
    LoadedLibrary refused;
    for (const std::string& file : files) {
        std::error_code error;
        if (file.empty() || (file.starts_with('/') && !std::filesystem::exists(file, error))) {
            continue;
        }
        // A library of that name that is mapped already, by LD_PRELOAD, is the one that every
        // program binds to, wherever else the file may be.
        const std::string mapped = mapped_library(file.substr(file.rfind('/') + 1));
        if (void* handle =
                mapped.empty() ? nullptr : ::dlopen(mapped.c_str(), RTLD_LAZY | RTLD_NOLOAD);
            handle != nullptr) {
            return {handle, mapped_file(handle, file), {}};
        }
        MaybeStop refusal;
        if (void* handle = open_library(file, k_siblings, refusal); handle != nullptr) {
            return {handle, mapped_file(handle, file), {}};
        }
        const bool absent = missing_file(refusal->message) == file; // a soname that is nowhere
        if (!absent && !refused.refusal) {
            refused.path =
                refusal->broken.empty() ? refused_file(refusal->message, file) : refusal->broken;
            refused.refusal = std::move(refusal);
        }
    }
    return refused;
}

} // namespace cudaenv::kernels
