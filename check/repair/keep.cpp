#include "check/repair/keep.hpp"

#include "base/directory_names.hpp"
#include "base/prefix_directory.hpp"
#include "base/printable.hpp"
#include "base/private_files.hpp"
#include "base/real_path.hpp"
#include "base/shell_word.hpp"
#include "check/repair/file_copy.hpp"
#include "check/repair/repair_case.hpp"
#include "check/repair/staging.hpp"
#include "check/rules/ownership.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <map>
#include <sys/file.h>
#include <sys/statvfs.h>

namespace cudaenv::repair {

namespace {

std::string bytes_text(std::uint64_t bytes) {
    constexpr std::uint64_t k_mebibyte = std::uint64_t{1} << 20U;
    return bytes < 10 * k_mebibyte ? fmt::format("{} KiB", (bytes + 1023) / 1024)
                                   : fmt::format("{} MiB", (bytes + k_mebibyte - 1) / k_mebibyte);
}

struct Gathering {
    const PrefixDirectory& prefix;
    const facts::Distribution& distribution;
    std::map<std::string, KeptFile> gathered{};
    std::map<std::string, const facts::FileClaim*> claims{};
    std::vector<std::string> missing{};
    std::vector<std::string> outside{};

    Result<void> gather(Keeping& keeping) {
        const auto& files = distribution.files;
        for (const auto& file : files) {
            add(std::string(files.path(file)), &file);
        }
        add_metadata(distribution.metadata, 0);
        if (!missing.empty()) {
            return unavailable("files-missing",
                               fmt::format("{} files of {} are missing: {}", missing.size(),
                                           printable(distribution.written), few_of(missing)),
                               "keep needs a complete install: rebuild or reinstall it first");
        }
        for (auto& [path, file] : gathered) {
            keeping.kept.files.push_back(std::move(file));
        }
        keeping.outside = std::move(outside);
        return {};
    }
    // The digest on record; null: it has none.
    [[nodiscard]] const facts::FileClaim* claim_of(const std::string& path) const {
        const auto found = claims.find(path);
        return found == claims.end() ? nullptr : found->second;
    }

    void add(const std::string& path, const facts::FileClaim* claim) {
        if (!is_inner_path(path)) {
            outside.push_back(path);
            return;
        }
        const auto place = prefix.place(path);
        if (!place && place.error().code == "outside") {
            outside.push_back(path);
            return;
        }
        const auto status = place ? place->status() : std::nullopt;
        if (!status) {
            if (claim != nullptr && !rules::is_ordinary_difference(path)) {
                missing.push_back(path);
            }
            return;
        }
        KeptFile file;
        file.path = path;
        if (S_ISLNK(status->st_mode)) {
            const auto text = read_link(place->directory.get(), place->name);
            if (text) {
                file.link = *text;
                gathered.insert_or_assign(path, std::move(file));
            }
        } else if (S_ISREG(status->st_mode)) {
            file.size = static_cast<std::uint64_t>(status->st_size);
            file.mode = status->st_mode & 0777U;
            gathered.insert_or_assign(path, std::move(file));
            if (claim != nullptr) {
                claims[path] = claim;
            }
        }
    }

    // What installers put there beside what is on record.
    void add_metadata(const std::string& directory, int depth) {
        constexpr int k_deepest = 40;
        const auto place = prefix.place(directory);
        const auto status = place ? place->status() : std::nullopt;
        if (!status || depth > k_deepest) {
            return;
        }
        if (!S_ISDIR(status->st_mode)) {
            add(directory, nullptr);
            return;
        }
        const auto names = names_in(prefix.path() + '/' + directory);
        for (const std::string& name : names.value_or(std::vector<std::string>())) {
            const std::string path = directory + '/' + name;
            if (!gathered.contains(path)) {
                add_metadata(path, depth + 1);
            }
        }
    }
};

Result<Fd> open_private(const std::string& directory) {
    if (!make_private_directories(directory)) {
        return failed_on(errno, "cannot make", directory);
    }
    Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0) {
        return failed_on(errno, "cannot open", directory);
    }
    if (!is_ours_alone(status, S_IFDIR)) {
        return unavailable("not-private",
                           printable(directory) + " is writable by others; no copy is stored there",
                           "chmod go-w " + shell_word(directory));
    }
    return fd;
}

// A copy that shares its blocks with the original needs no space: then nothing is counted.
Result<void> check_space(const Fd& directory, const std::string& path, std::uint64_t needed) {
    struct statvfs space {};
    if (::fstatvfs(directory.get(), &space) != 0) {
        return {}; // unknown here: the copy itself will fail
    }
    const std::uint64_t free = std::uint64_t{space.f_bavail} * space.f_frsize;
    return needed <= free
               ? Result<void>()
               : unavailable("no-space",
                             fmt::format("{} bytes ({}) are needed in {}, and {} bytes ({}) are "
                                         "free",
                                         needed, bytes_text(needed), printable(path), free,
                                         bytes_text(free)),
                             "CUDAENV_STATE_DIR names another directory; `cudaenv keep --list` "
                             "shows what is kept");
}

struct Copying {
    const PrefixDirectory& prefix;
    const Gathering& gathered;
    Fd tree;
    std::string where;
    const GoesOn& wanted;

    Result<void> copy(Keeping& keeping) {
        std::uint64_t needed = 0;
        constexpr std::uint64_t k_disk_block = 4096;
        for (const KeptFile& file : keeping.kept.files) {
            needed +=
                (file.size + k_disk_block - 1) / k_disk_block * k_disk_block + k_disk_block / 4;
        }
        CUDAENV_TRY_VOID(see_whether_it_fits(keeping, needed));
        for (KeptFile& file : keeping.kept.files) {
            CUDAENV_TRY_VOID(make_directories(file.path));
            CUDAENV_TRY(const auto place, prefix.place(file.path));
            if (file.link) {
                if (::symlinkat(file.link->c_str(), tree.get(), file.path.c_str()) != 0) {
                    return failed_on(errno, "cannot copy", file.path);
                }
                continue;
            }
            CUDAENV_TRY(const auto way, copy_one(place, file.path));
            static_cast<void>(way);
            CUDAENV_TRY(file.sha256, digest_of(tree.get(), file.path, wanted));
            const auto* claim = gathered.claim_of(file.path);
            if (claim != nullptr && claim->hash == facts::ClaimHash::Sha256 &&
                claim->sha256 != file.sha256 && !rules::is_ordinary_difference(file.path)) {
                keeping.changed.push_back(file.path);
            }
        }
        return {};
    }

    // By the smallest file: whether copies share their blocks, or need room.
    Result<void> see_whether_it_fits(Keeping& keeping, std::uint64_t needed) {
        const KeptFile* smallest = nullptr;
        for (const KeptFile& file : keeping.kept.files) {
            if (file.size > 0 && (smallest == nullptr || file.size < smallest->size)) {
                smallest = &file;
            }
        }
        if (smallest == nullptr) {
            return {};
        }
        CUDAENV_TRY(const auto place, prefix.place(smallest->path));
        const auto way =
            copy_file(place.directory.get(), place.name, tree.get(), "try", 0600, wanted);
        ::unlinkat(tree.get(), "try", 0);
        keeping.shared = way && *way == CopyWay::Shared;
        return keeping.shared ? Result<void>() : check_space(tree, where, needed);
    }

    Result<CopyWay> copy_one(const Place& place, const std::string& path) {
        return copy_file(place.directory.get(), place.name, tree.get(), path, 0600, wanted);
    }

    Result<void> make_directories(const std::string& path) {
        for (auto slash = path.find('/'); slash != std::string::npos;
             slash = path.find('/', slash + 1)) {
            if (::mkdirat(tree.get(), path.substr(0, slash).c_str(), 0700) != 0 &&
                errno != EEXIST) {
                return failed_on(errno, "cannot make the directory of", path);
            }
        }
        return {};
    }
};

// Puts the new directory in the place of an older one.
Result<void> put_in_place(int directory, const std::string& made, const std::string& name) {
    if (::renameat2(directory, made.c_str(), directory, name.c_str(), RENAME_EXCHANGE) == 0) {
        remove_tree(directory, made); // the older one, now
        return {};
    }
    if (errno != ENOENT) { // no exchange here: there is a moment without either
        const std::string aside = ".old-" + name;
        remove_tree(directory, aside);
        if (::renameat(directory, name.c_str(), directory, aside.c_str()) == 0) {
            const bool put = ::renameat(directory, made.c_str(), directory, name.c_str()) == 0;
            const int error = errno;
            if (!put) {
                ::renameat(directory, aside.c_str(), directory, name.c_str());
                return failed_on(error, "cannot keep", name);
            }
            remove_tree(directory, aside);
            return {};
        }
    }
    return ::renameat(directory, made.c_str(), directory, name.c_str()) == 0
               ? Result<void>()
               : failed_on(errno, "cannot keep", name);
}

Result<void> write_copy(const KeptStore& store, const PrefixDirectory& prefix,
                        const Gathering& gathered, Keeping& keeping, int directory,
                        const std::string& made, const GoesOn& wanted) {
    const std::string whole = store.directory_of(keeping.kept.prefix) + '/' + made;
    for (const std::string& path : {made, made + '/' + KeptStore::k_files}) {
        if (::mkdirat(directory, path.c_str(), 0700) != 0) {
            return failed_on(errno, "cannot make", whole);
        }
    }
    Fd tree(::openat(directory, (made + '/' + KeptStore::k_files).c_str(),
                     O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!tree) {
        return failed_on(errno, "cannot open", whole);
    }
    Copying copying{prefix, gathered, std::move(tree), store.directory_of(keeping.kept.prefix),
                    wanted};
    CUDAENV_TRY_VOID(copying.copy(keeping));
    const timespec now{0, UTIME_NOW};
    return write_file(directory, made + '/' + KeptStore::k_manifest, write_manifest(keeping.kept),
                      0600, now);
}

// One that setuptools lists in easy-install.pth: all of it is its metadata's file or directory.
bool is_of_path_file(const facts::Distribution& distribution) {
    using facts::DistributionKind;
    return distribution.kind == DistributionKind::EggLink ||
           distribution.kind == DistributionKind::EggDirectory ||
           distribution.kind == DistributionKind::EggFile;
}

} // namespace

Result<Keeping> keep(const KeptStore& store, const facts::Inventory& inventory,
                     const facts::Distribution& distribution, std::string source, std::int64_t now,
                     const GoesOn& wanted) {
    if (!store.usable()) {
        return unavailable("no-state", "there is no state directory for the copy",
                           "set CUDAENV_STATE_DIR or HOME");
    }
    const bool of_path_file = is_of_path_file(distribution);
    if (!distribution.has_record && !of_path_file) {
        return unavailable(
            "no-record", printable(distribution.written) + " has no RECORD: its files are unknown",
            "`pip install .` in its source creates one");
    }
    CUDAENV_TRY(const auto prefix, PrefixDirectory::open(inventory.prefix));
    Keeping keeping;
    keeping.kept = {real_path(inventory.prefix),
                    distribution.name,
                    distribution.version,
                    distribution.metadata,
                    distribution.site,
                    std::move(source),
                    distribution.direct_url && distribution.direct_url->editable,
                    now,
                    {}};
    if (of_path_file) {
        const auto slash = distribution.metadata.rfind('/');
        const bool develops = distribution.kind == facts::DistributionKind::EggLink;
        keeping.kept.site = distribution.metadata.substr(0, slash);
        keeping.kept.editable = develops;
        keeping.kept.path_line = develops ? distribution.source_directory
                                          : "./" + distribution.metadata.substr(slash + 1);
    }
    Gathering gathered{prefix, distribution};
    CUDAENV_TRY_VOID(gathered.gather(keeping));
    CUDAENV_TRY(const Fd directory, open_private(store.directory_of(inventory.prefix)));
    if (::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) {
        return unavailable("busy", "another `cudaenv keep` is running for this environment");
    }
    const std::string name = kept_name(distribution.name, distribution.version);
    const std::string made = ".new-" + name; // of one that was interrupted, too
    remove_tree(directory.get(), made);
    auto copied = write_copy(store, prefix, gathered, keeping, directory.get(), made, wanted);
    if (copied) {
        copied = put_in_place(directory.get(), made, name);
    }
    if (!copied) {
        remove_tree(directory.get(), made);
        return tl::unexpected(std::move(copied).error());
    }
    return keeping;
}

} // namespace cudaenv::repair
