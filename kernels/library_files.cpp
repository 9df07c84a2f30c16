#include "kernels/library_files.hpp"

#include "base/fd.hpp"
#include "base/real_path.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <filesystem>
#include <link.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace cudaenv::kernels {

namespace {

namespace fs = std::filesystem;

#if defined(__x86_64__)
constexpr Elf64_Half k_here = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half k_here = EM_AARCH64;
#else
#error "the probe runs on x86_64 and aarch64"
#endif

template <class Part>
std::optional<Part> part_at(const Fd& file, std::uint64_t offset) {
    Part part;
    const auto read = ::pread(file.get(), &part, sizeof part, static_cast<off_t>(offset));
    return read == static_cast<ssize_t>(sizeof part) ? std::optional(part) : std::nullopt;
}

Fd open_to_read(const std::string& path) {
    // Not blocked by a named pipe of that name.
    return Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

std::optional<Elf64_Ehdr> elf_header(const Fd& file) {
    const auto header = part_at<Elf64_Ehdr>(file, 0);
    const bool is_elf = header && std::equal(ELFMAG, ELFMAG + SELFMAG, header->e_ident);
    return is_elf ? header : std::nullopt;
}

bool is_of_here(const Elf64_Ehdr& header) {
    return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
           header.e_machine == k_here;
}

// LD_LIBRARY_PATH as the loader itself read it, and the system's directories.
std::vector<std::string> loader_places() {
    void* const program = ::dlopen(nullptr, RTLD_LAZY); // itself: there is nothing to close
    Dl_serinfo size{};
    if (program == nullptr || ::dlinfo(program, RTLD_DI_SERINFOSIZE, &size) != 0) {
        return {};
    }
    std::vector<Dl_serinfo> room(size.dls_size / sizeof size + 1);
    room.front() = size;
    if (::dlinfo(program, RTLD_DI_SERINFO, room.data()) != 0) {
        return {};
    }
    std::vector<std::string> places;
    const Dl_serpath* const listed = room.front().dls_serpath; // declared shorter than it is
    for (unsigned i = 0; i < room.front().dls_cnt; ++i) {
        places.emplace_back(listed[i].dls_name);
    }
    return places;
}

// What the loader passes over silently.
bool is_passed_over(const std::string& path) {
    const Fd file = open_to_read(path);
    if (!file) {
        return true;
    }
    const auto header = elf_header(file);
    return header && !is_of_here(*header);
}

std::optional<CutShort> cut_short_in(const fs::path& directory) {
    std::vector<std::string> names; // a directory is read in no order
    std::error_code error;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (is_named_like_cuda(name) && name.find(".so") != std::string::npos) {
            names.push_back(name);
        }
    }
    std::ranges::sort(names);
    for (const std::string& name : names) {
        if (auto found = cut_short((directory / name).string())) {
            return found;
        }
    }
    return std::nullopt;
}

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

bool is_named_like_cuda(std::string_view name) {
    constexpr auto k_begins =
        std::to_array<std::string_view>({"libcu", "libnv", "libnccl", "libnpp"});
    return std::ranges::any_of(k_begins,
                               [&](std::string_view begin) { return name.starts_with(begin); });
}

std::string mapped_file(void* handle, const std::string& fallback) {
    std::string loaded = fallback;
    link_map* map = nullptr;
    if (::dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) == 0 && map != nullptr &&
        map->l_name != nullptr && *map->l_name != '\0') {
        loaded = map->l_name;
    }
    return real_path(loaded);
}

std::vector<std::string> mapped_paths() {
    std::vector<std::string> paths;
    ::dl_iterate_phdr(
        [](dl_phdr_info* library, std::size_t /*size*/, void* list) {
            if (library->dlpi_name != nullptr && *library->dlpi_name == '/') {
                static_cast<std::vector<std::string>*>(list)->emplace_back(library->dlpi_name);
            }
            return 0;
        },
        &paths);
    return paths;
}

std::string mapped_library(std::string_view name) {
    for (const std::string& path : mapped_paths()) {
        if (!name.empty() && path.substr(path.rfind('/') + 1) == name) {
            return path;
        }
    }
    return {};
}

std::string part_from_elsewhere(std::string_view stem, const std::string& file) {
    const fs::path directory = fs::path(file).parent_path();
    std::string part; // the first by name: libraries are mapped in no stable order
    for (const std::string& path : mapped_paths()) {
        if (!path.substr(path.rfind('/') + 1).starts_with(stem)) {
            continue;
        }
        std::string real = resolved_path(path);
        if (real.empty()) {
            real = path;
        }
        if (fs::path(real).parent_path() != directory && (part.empty() || real < part)) {
            part = std::move(real);
        }
    }
    return part;
}

FoundFile find_as_the_loader(const std::string& name) {
    FoundFile found;
    const bool is_path = name.starts_with('/');
    for (const std::string& place : is_path ? std::vector<std::string>{""} : loader_places()) {
        const std::string path = is_path ? name : place + '/' + name;
        struct stat status {};
        if (::lstat(path.c_str(), &status) != 0) {
            continue;
        }
        struct stat behind {};
        if (S_ISLNK(status.st_mode) && ::stat(path.c_str(), &behind) != 0 && errno != EACCES) {
            found.links_to_nothing.push_back(path);
            continue;
        }
        if (!is_passed_over(path)) {
            found.path = path;
            break;
        }
    }
    return found;
}

std::string refused_file(std::string_view words, const std::string& name) {
    auto found = find_as_the_loader(name).path;
    if (found.empty() && name.starts_with('/')) {
        found = name; // closed, or of another machine
    }
    const bool is_another =
        words.starts_with('/') && (found.empty() || !words.starts_with(found + ':'));
    return is_another ? std::string(words.substr(0, words.find(':'))) : found;
}

std::string pipe_in_its_place(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode)
               ? path + ": cannot read file data: Is a pipe"
               : std::string();
}

std::optional<CutShort> cut_short(const std::string& path) {
    const Fd file = open_to_read(path);
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return std::nullopt;
    }
    const auto header = elf_header(file);
    if (!header || !is_of_here(*header) || header->e_phentsize != sizeof(Elf64_Phdr)) {
        return std::nullopt;
    }
    const auto has = static_cast<std::uint64_t>(status.st_size);
    std::uint64_t needs = 0;
    for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
        const auto segment = part_at<Elf64_Phdr>(file, header->e_phoff + i * sizeof(Elf64_Phdr));
        if (!segment) {
            return std::nullopt; // the loader reports that itself
        }
        std::uint64_t end = 0;
        if (segment->p_type == PT_LOAD &&
            !__builtin_add_overflow(segment->p_offset, segment->p_filesz, &end)) {
            needs = std::max(needs, end);
        }
    }
    if (needs <= has) {
        return std::nullopt;
    }
    return CutShort{path,
                    "has " + std::to_string(has) + " bytes of at least " + std::to_string(needs)};
}

std::optional<CutShort> cut_short_beside(const std::string& path) {
    const fs::path directory = fs::path(path).parent_path();
    if (auto found = cut_short_in(directory)) {
        return found;
    }
    const fs::path wheels = directory.parent_path().parent_path();
    if (wheels.filename() != "nvidia") {
        return std::nullopt;
    }
    std::error_code error;
    for (fs::directory_iterator entry(wheels, error), end; !error && entry != end;
         entry.increment(error)) {
        if (auto found = cut_short_in(entry->path() / "lib")) {
            return found;
        }
    }
    return std::nullopt;
}

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
