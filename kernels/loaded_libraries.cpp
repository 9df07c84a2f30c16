#include "kernels/loaded_libraries.hpp"

#include "base/real_path.hpp"
#include "kernels/library_files.hpp"

#include <algorithm>
#include <string_view>

namespace cudaenv::kernels {

namespace {

constexpr std::size_t k_most_files = 64;

std::string_view name_in(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

std::string directory_of(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}

struct Mapped {
    std::string name; // as it was opened: a link may lead to a name that is not CUDA's
    std::string file;
};

std::vector<Mapped> mapped_now() {
    std::vector<Mapped> mapped;
    for (const std::string& name : mapped_paths()) {
        std::string file = resolved_path(name);
        mapped.push_back({name, file.empty() ? name : std::move(file)});
    }
    return mapped;
}

} // namespace

LoadedLibraries::LoadedLibraries(const LadderLibraries& asked_for) {
    for (const std::string& file : asked_for.all()) {
        if (file.starts_with('/')) {
            m_directories.insert(directory_of(file));
            if (const std::string real = resolved_path(file); !real.empty()) {
                m_directories.insert(directory_of(real));
            }
        }
    }
    for (const Mapped& library : mapped_now()) {
        if (name_in(library.name).starts_with("libc.so.")) {
            m_directories.erase(directory_of(library.name));
            m_directories.erase(directory_of(library.file));
        }
    }
}

void LoadedLibraries::look() {
    for (const Mapped& library : mapped_now()) {
        if (is_named_like_cuda(name_in(library.name)) ||
            is_named_like_cuda(name_in(library.file))) {
            m_named.insert(library.file);
        } else if (m_directories.contains(directory_of(library.name)) ||
                   m_directories.contains(directory_of(library.file))) {
            m_beside.insert(library.file);
        }
    }
}

std::vector<std::string> LoadedLibraries::files() const {
    std::vector<std::string> files(m_named.begin(), m_named.end());
    files.insert(files.end(), m_beside.begin(), m_beside.end());
    files.resize(std::min(files.size(), k_most_files));
    std::ranges::sort(files);
    return files;
}

} // namespace cudaenv::kernels
