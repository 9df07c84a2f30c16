#include "check/extensions/cuda_needs.hpp"

#include "base/fd.hpp"
#include "base/ranges.hpp"
#include "base/real_path.hpp"
#include "base/whole_io.hpp"
#include "check/extensions/elf_file.hpp"
#include "check/rules/cuda_users.hpp"
#include "host/file_system.hpp"

#include <algorithm>
#include <fcntl.h>
#include <map>
#include <optional>
#include <utility>

namespace cudaenv::extensions {

namespace {

using facts::MissingLibrary;

constexpr std::size_t k_most_files = 512;                    // of one distribution
constexpr std::size_t k_most_cache = std::size_t{16} << 20U; // of ld.so.cache

// Whose effect is the gravest of all that need one library.
struct Need {
    const knowledge::LibraryUser* user;
    std::string path;
};

class Search {
public:
    Search(const facts::Inventory& inventory, const LoaderPlaces& places)
        : m_inventory(&inventory), m_places(&places) {
        m_shared.push_back(inventory.prefix + "/lib");
        // A Python of conda's has lib/ beside it in its own DT_RPATH.
        const auto python = real_path(absolute(inventory.python));
        m_shared.push_back(std::string(host::parent_path(host::parent_path(python))) + "/lib");
        for (const auto* sites : {&places.python_path, &inventory.sites, &inventory.base_sites}) {
            for (const auto& site : *sites) {
                add_wheel_libraries(absolute(site) + "/nvidia");
            }
        }
    }

    void find(std::uint32_t index, std::vector<MissingLibrary>& missing) const {
        const auto& distribution = m_inventory->distributions[index];
        std::map<std::string, Need> needed; // by soname
        std::vector<std::string> directories;
        std::size_t read = 0;
        for (const auto& file : distribution.files) {
            const auto path = std::string(distribution.files.path(file));
            const auto* user = rules::cuda_user(distribution.name, path);
            if (user == nullptr || ++read > k_most_files) {
                continue;
            }
            const auto elf = ElfFile::open(absolute(path));
            if (!elf) {
                continue;
            }
            add_directories(*elf, absolute(path), directories);
            for (const auto& soname : elf->needed()) {
                if (!rules::is_cuda_soname(soname)) {
                    continue;
                }
                auto& need = needed.try_emplace(soname, Need{user, path}).first->second;
                if (user < need.user) {
                    need = {user, path};
                }
            }
        }
        directories.insert(directories.end(), m_shared.begin(), m_shared.end());
        for (const auto& [soname, need] : needed) {
            if (!is_in(directories, soname)) {
                missing.push_back({index, need.path, soname, outside(soname)});
            }
        }
    }

private:
    [[nodiscard]] std::string absolute(const std::string& path) const {
        return path.starts_with('/') ? path : m_inventory->prefix + '/' + path;
    }

    // nvidia/cublas/lib, nvidia/cu13/lib.
    void add_wheel_libraries(const std::string& root) {
        for (const auto& entry : m_files.names_in(root)) {
            m_shared.push_back(root + '/' + entry + "/lib");
        }
    }

    static void add_directories(const ElfFile& elf, const std::string& path,
                                std::vector<std::string>& directories) {
        const std::string own(host::parent_path(path));
        std::vector<std::string> places{own};
        for (auto place : elf.search_path()) {
            for (const std::string_view origin : {"${ORIGIN}", "$ORIGIN"}) {
                if (const auto at = place.find(origin); at != std::string::npos) {
                    place.replace(at, origin.size(), own);
                }
            }
            places.push_back(std::move(place));
        }
        for (auto& place : places) {
            if (!is_one_of(place, directories)) {
                directories.push_back(std::move(place));
            }
        }
    }

    [[nodiscard]] bool is_in(const std::vector<std::string>& directories,
                             const std::string& soname) const {
        return std::ranges::any_of(directories, [&](const std::string& directory) {
            return directory.starts_with('/') && m_files.exists(directory + '/' + soname);
        });
    }

    [[nodiscard]] std::string outside(const std::string& soname) const {
        for (const auto& directory : m_places->directories) {
            if (directory.starts_with('/') && m_files.exists(directory + '/' + soname)) {
                return directory + '/' + soname;
            }
        }
        // ld.so.cache has each path whole, between NULs.
        const auto& text = cache();
        const std::string end = '/' + soname + std::string(1, '\0');
        for (auto at = text.find(end); at != std::string::npos; at = text.find(end, at + 1)) {
            const auto begin = text.rfind('\0', at);
            auto path = text.substr(begin + 1, at - begin - 2 + end.size());
            if (begin != std::string::npos && path.starts_with('/') && m_files.exists(path)) {
                return path;
            }
        }
        return {};
    }

    [[nodiscard]] const std::string& cache() const {
        if (!m_cache) {
            const Fd file(::open(m_places->cache.c_str(), O_RDONLY | O_CLOEXEC));
            m_cache = file ? read_rest(file.get(), k_most_cache).value_or("") : std::string();
        }
        return *m_cache;
    }

    const facts::Inventory* m_inventory;
    const LoaderPlaces* m_places;
    mutable host::DiskFileSystem m_files;
    std::vector<std::string> m_shared; // where every framework finds it
    mutable std::optional<std::string> m_cache;
};

} // namespace

std::vector<MissingLibrary> missing_cuda_libraries(const facts::Inventory& inventory,
                                                   const LoaderPlaces& places,
                                                   const GoesOn& wanted) {
    std::vector<MissingLibrary> missing;
    std::optional<Search> search;
    for (std::uint32_t i = 0; i < inventory.distributions.size() && goes_on(wanted); ++i) {
        if (!rules::is_cuda_user(inventory.distributions[i].name)) {
            continue;
        }
        if (!search) {
            search.emplace(inventory, places);
        }
        search->find(i, missing);
    }
    return missing;
}

} // namespace cudaenv::extensions
