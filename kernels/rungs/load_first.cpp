#include "kernels/rungs/load_first.hpp"

#include "kernels/library_files.hpp"
#include "kernels/reporter.hpp"

#include <algorithm>
#include <array>
#include <dlfcn.h>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace cudaenv::kernels {
namespace {

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
