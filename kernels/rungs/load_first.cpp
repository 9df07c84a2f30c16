#include "kernels/library_files.hpp"
#include "kernels/reporter.hpp"
#include "kernels/rungs/rungs.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <link.h>
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

// Null with the loader's words in `refusal`. A sibling that was opened stays: the loader then knows
// its soname.
void* open_library(const std::string& file, int attempts, std::string& refusal) {
    if (void* handle = open_whole(file, refusal); handle != nullptr) {
        return handle;
    }
    for (; attempts > 0 && file.starts_with('/'); --attempts) {
        const std::string missing = missing_file(refusal);
        if (missing.empty() || missing.find('/') != std::string::npos) {
            return nullptr;
        }
        const std::string sibling = find_sibling(file, missing);
        std::string of_sibling;
        if (sibling.empty() || open_library(sibling, attempts - 1, of_sibling) == nullptr) {
            return nullptr;
        }
        if (void* handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr) {
            return handle;
        }
        refusal = last_words();
    }
    return nullptr;
}

// What the loader took, links followed; `file` where it does not say.
std::string path_of(void* handle, const std::string& file) {
    std::string loaded = file;
    link_map* map = nullptr;
    if (::dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map != nullptr &&
        map->l_name != nullptr && *map->l_name != '\0') {
        loaded = map->l_name;
    }
    std::string real = real_path(loaded);
    return real.empty() ? loaded : real;
}

} // namespace

void* open_whole(const std::string& file, std::string& refusal) {
    const std::string path = find_as_the_loader(file).path;
    if (!path.empty()) {
        report_opening(path);
        refusal = pipe_in_its_place(path);
        if (refusal.empty()) {
            refusal = cut_short(path);
        }
        if (!refusal.empty()) {
            return nullptr;
        }
        // What it needs may be cut short as well; which file that is, the loader decides.
        if (const auto words = cut_short_beside(path); !words.empty()) {
            report_opening(path, words);
        }
    }
    void* const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
        refusal = last_words();
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
        std::string refusal;
        if (void* handle = open_library(file, k_siblings, refusal); handle != nullptr) {
            return {handle, path_of(handle, file), {}};
        }
        const bool absent = missing_file(refusal) == file; // a soname that is nowhere
        if (!absent && refused.refusal.empty()) {
            refused.path = refused_file(refusal, file);
            refused.refusal = refusal;
        }
    }
    return refused;
}

} // namespace cudaenv::kernels
