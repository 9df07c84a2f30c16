#include "host/project/project_search.hpp"

#include "base/printable.hpp"
#include "base/real_path.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>

namespace cudaenv::project {

namespace {

std::string parent_of(const std::string& directory) {
    const std::size_t slash = directory.rfind('/');
    return slash == 0 || slash == std::string::npos ? "/" : directory.substr(0, slash);
}

std::string inside(const std::string& directory, const char* name) {
    return directory == "/" ? '/' + std::string(name) : directory + '/' + name;
}

// Nothing where it cannot be looked at.
std::optional<struct statx> status_of(const std::string& directory) {
    struct statx status {};
    if (::statx(AT_FDCWD, directory.c_str(), AT_NO_AUTOMOUNT, STATX_BASIC_STATS | STATX_MNT_ID,
                &status) != 0) {
        return std::nullopt;
    }
    return status;
}

// Empty where there is no such file, or it is passed over.
std::optional<std::string> text_at(const std::string& path, const trusted::Trust& trust,
                                   std::vector<trusted::SkippedFile>& skipped) {
    trusted::TrustedFile file = trusted::read_trusted_file(path, trust);
    if (file.skipped) {
        skipped.push_back(*std::move(file.skipped));
    }
    return std::move(file.text);
}

} // namespace

std::string FoundProject::local_file() const {
    return inside(directory, k_local_file);
}

Result<ProjectSearch> find_project(const std::string& start_directory,
                                   const trusted::Trust& trust) {
    const std::string start = resolved_path(start_directory);
    const auto mount = start.empty() ? std::nullopt : status_of(start);
    if (!mount || !S_ISDIR(mount->stx_mode)) {
        const int problem = start.empty() ? errno : ENOTDIR;
        return unavailable("no-directory",
                           "cannot search for a project: " +
                               std::generic_category().message(problem),
                           "change to a directory that exists", printable(start_directory));
    }
    ProjectSearch search;
    search.start = start;
    std::string directory = start;
    while (true) {
        const std::string file = inside(directory, k_project_file);
        struct stat found {};
        // Most directories have none.
        if (::lstat(file.c_str(), &found) == 0 || errno == EACCES) {
            if (auto text = text_at(file, trust, search.skipped)) {
                search.found = FoundProject{directory, file, *std::move(text), std::nullopt};
                search.found->local_text =
                    text_at(search.found->local_file(), trust, search.skipped);
                return search;
            }
        }
        const std::string parent = parent_of(directory);
        const auto above = parent == directory ? std::nullopt : status_of(parent);
        if (!above || !trusted::is_same_mount(*above, *mount)) {
            return search;
        }
        directory = parent;
    }
}

} // namespace cudaenv::project
