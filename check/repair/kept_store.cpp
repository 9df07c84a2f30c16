#include "check/repair/kept_store.hpp"

#include "base/fingerprint.hpp"
#include "base/prefix_directory.hpp"
#include "base/private_files.hpp"
#include "base/real_path.hpp"
#include "check/inventory/open_files.hpp"
#include "check/repair/staging.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <tuple>

namespace cudaenv::repair {

namespace {

// Some 200 bytes a file.
constexpr std::size_t k_longest_manifest = std::size_t{64} << 20U;

} // namespace

std::string KeptStore::directory_of(const std::string& prefix) const {
    return m_directory + '/' + fingerprint(real_path(prefix));
}

std::vector<KeptDistribution> KeptStore::list(const std::string& prefix) const {
    std::vector<KeptDistribution> all;
    if (!usable()) {
        return all;
    }
    const std::string directory = directory_of(prefix);
    const auto opened = inventory::OpenDirectory::open(directory);
    const auto names = opened ? opened->names() : Result<std::vector<std::string>>();
    for (const std::string& name : names.value_or(std::vector<std::string>())) {
        if (name.starts_with('.')) {
            continue;
        }
        auto kept = read_manifest(
            read_private_file(directory + '/' + name + '/' + k_manifest, k_longest_manifest));
        if (kept && kept->prefix == real_path(prefix) &&
            kept_name(kept->name, kept->version) == name) {
            all.push_back(std::move(*kept));
        }
    }
    std::ranges::sort(all, [](const auto& left, const auto& right) {
        return std::tie(left.name, left.kept_at, left.version) <
               std::tie(right.name, right.kept_at, right.version);
    });
    return all;
}

std::optional<KeptDistribution> KeptStore::find(const std::string& prefix, std::string_view name,
                                                std::string_view version) const {
    std::optional<KeptDistribution> found;
    for (KeptDistribution& one : list(prefix)) {
        if (one.name == name && (version.empty() || one.version == version)) {
            found = std::move(one);
        }
    }
    return found;
}

std::string KeptStore::files_of(const KeptDistribution& kept) const {
    return directory_of(kept.prefix) + '/' + kept_name(kept.name, kept.version) + '/' + k_files;
}

Result<void> KeptStore::forget(const KeptDistribution& kept) const {
    const std::string directory = directory_of(kept.prefix);
    const Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    const std::string name = kept_name(kept.name, kept.version);
    const std::string aside = ".old-" + name;
    if (!fd) {
        return failed_on(errno, "cannot open", directory);
    }
    remove_tree(fd.get(), aside);
    if (::renameat(fd.get(), name.c_str(), fd.get(), aside.c_str()) != 0) {
        return failed_on(errno, "cannot remove", directory + '/' + name);
    }
    if (const int error = remove_tree(fd.get(), aside)) {
        return failed_on(error, "cannot remove", directory + '/' + aside);
    }
    return {};
}

} // namespace cudaenv::repair
