#include "host/trusted/trusted_file.hpp"

#include "base/fd.hpp"
#include "base/printable.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "base/whole_file.hpp"
#include "solver/pins/toml_document.hpp"

#include <climits>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <grp.h>
#include <memory>
#include <pwd.h>
#include <span>
#include <sys/xattr.h>
#include <system_error>

namespace cudaenv::trusted {

namespace {

// As many as the kernel follows (MAXSYMLINKS).
constexpr int k_most_links = 40;
constexpr std::size_t k_most_name_bytes = 16384;

struct Place {
    std::string path;
    Fd fd;
    struct statx status {};
};

int look_at(Place& place) {
    return ::statx(place.fd.get(), "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT,
                   STATX_BASIC_STATS | STATX_MNT_ID, &place.status) == 0
               ? 0
               : errno;
}

struct Account {
    std::string name; // empty: unknown
    gid_t group = 0;  // its first
};

Account account_of(uid_t user) {
    std::array<char, k_most_name_bytes> buffer{};
    struct passwd entry {};
    struct passwd* found = nullptr;
    if (::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr) {
        return {found->pw_name, found->pw_gid};
    }
    return {};
}

std::string shown_user(uid_t user) {
    const std::string name = account_of(user).name;
    return name.empty() ? "uid " + std::to_string(user) : printable(name);
}

// One that only this user is in, as Debian and Fedora make for each: it has the user's name.
struct Group {
    std::string name;
    bool is_own = false;
    std::vector<std::string> members{}; // but for those whose first group it is
};

// Of accounts of this machine's own; to ask a directory service for all of its users takes minutes.
bool is_first_group_of_others(gid_t group, const std::string& user) {
    const std::unique_ptr<FILE, int (*)(FILE*)> accounts(std::fopen("/etc/passwd", "re"),
                                                         std::fclose);
    std::array<char, k_most_name_bytes> buffer{};
    struct passwd entry {};
    struct passwd* found = nullptr;
    while (accounts &&
           ::fgetpwent_r(accounts.get(), &entry, buffer.data(), buffer.size(), &found) == 0) {
        if (entry.pw_gid == group && user != entry.pw_name) {
            return true;
        }
    }
    return false;
}

Group group_of(gid_t group, uid_t user) {
    std::array<char, k_most_name_bytes> buffer{};
    struct group entry {};
    struct group* found = nullptr;
    if (::getgrgid_r(group, &entry, buffer.data(), buffer.size(), &found) != 0 ||
        found == nullptr) {
        return {std::to_string(group), group == user};
    }
    Group known{found->gr_name, false};
    for (char** member = found->gr_mem; *member != nullptr; ++member) {
        known.members.emplace_back(*member);
    }
    const std::string owner = account_of(user).name;
    const auto is_owner = [&](const std::string& member) { return member == owner; };
    known.is_own = known.name == owner && std::ranges::all_of(known.members, is_owner) &&
                   !is_first_group_of_others(group, owner);
    return known;
}

// Whether an access control list names users or groups that may write. Its mask stands in the
// mode's place for the group, so a file that is not writable by its group has none.
bool lets_others_write(const Fd& file) {
    // linux/posix_acl_xattr.h: a version, then entries of a tag, permissions and an id.
    struct Entry {
        std::uint16_t tag;
        std::uint16_t permissions;
        std::uint32_t id;
    };
    constexpr std::uint16_t k_user = 2;
    constexpr std::uint16_t k_group = 8;
    constexpr std::uint16_t k_write = 2;
    std::array<char, 4 + 1024 * sizeof(Entry)> list{};
    const std::string path = "/proc/self/fd/" + std::to_string(file.get());
    const ssize_t size =
        ::getxattr(path.c_str(), "system.posix_acl_access", list.data(), list.size());
    if (size < 0) {
        return errno == ERANGE || errno == ENOENT; // thousands of them; no /proc to ask
    }
    for (std::size_t at = 4; at + sizeof(Entry) <= static_cast<std::size_t>(size);
         at += sizeof(Entry)) {
        Entry entry{};
        std::memcpy(&entry, &list[at], sizeof entry);
        if ((entry.tag == k_user || entry.tag == k_group) && (entry.permissions & k_write) != 0) {
            return true;
        }
    }
    return false;
}

// Judges one file, directory or link on the way to `file`.
struct Judge {
    const std::string& file;
    const Trust& trust;

    std::optional<SkippedFile> owner(const Place& place) const {
        const uid_t owner = place.status.stx_uid;
        if (owner == trust.user || owner == 0 ||
            std::ranges::find(trust.owners, owner) != trust.owners.end() ||
            is_of_trusted_group(place)) {
            return std::nullopt;
        }
        // No remedy: a file that somebody else has laid here is not to be adopted.
        return SkippedFile{
            file,
            subject(place) + "belongs to " + shown_user(owner) + ", not to " +
                (trust.user == 0 ? std::string("root") : shown_user(trust.user) + " or root"),
            {}};
    }

    std::optional<SkippedFile> writers(const Place& place) const {
        if ((place.status.stx_mode & S_IWOTH) != 0) {
            return SkippedFile{file, subject(place) + "is writable by everyone",
                               "chmod o-w " + printable(place.path)};
        }
        const gid_t gid = place.status.stx_gid;
        if ((place.status.stx_mode & S_IWGRP) == 0 || gid == 0) {
            return std::nullopt;
        }
        const Group group = group_of(gid, trust.user);
        if (lets_others_write(place.fd)) {
            return SkippedFile{file,
                               subject(place) + "is writable by others by its access control list",
                               "setfacl -b " + printable(shell_word(place.path))};
        }
        if (is_own_group(gid) || is_trusted(group)) {
            return std::nullopt;
        }
        if (trust.is_for_config) {
            return SkippedFile{file,
                               subject(place) + "is writable by the group " + printable(group.name),
                               "chmod g-w " + printable(shell_word(place.path))};
        }
        std::string remedy = "cudaenv config set activate.trusted_groups";
        for (const std::string& trusted : trust.groups) {
            remedy += ' ' + shell_word(trusted);
        }
        return SkippedFile{file,
                           subject(place) + "is writable by the group " + printable(group.name),
                           printable(remedy + ' ' + shell_word(group.name))};
    }

    // Those that decide who may replace what lies in the last.
    std::optional<SkippedFile> directories(std::span<const Place> places) const {
        for (std::size_t i = places.size(); i-- > 0;) {
            const Place& place = places[i];
            if (!is_same_mount(place.status, places.back().status)) {
                break;
            }
            if (auto reason = owner(place)) {
                return reason;
            }
            const bool sticky = (place.status.stx_mode & S_ISVTX) != 0;
            if (i + 1 == places.size() || !sticky) {
                if (auto reason = writers(place)) {
                    return reason;
                }
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] bool is_trusted(const Group& group) const {
        return std::ranges::find(trust.groups, group.name) != trust.groups.end();
    }

    // What a member of a trusted group has made for the group.
    [[nodiscard]] bool is_of_trusted_group(const Place& place) const {
        if (trust.groups.empty()) {
            return false;
        }
        const gid_t gid = place.status.stx_gid;
        const Group group = group_of(gid, trust.user);
        const Account owner = account_of(place.status.stx_uid);
        return is_trusted(group) && !owner.name.empty() &&
               (owner.group == gid ||
                std::ranges::find(group.members, owner.name) != group.members.end());
    }

    // The group of the user's own, or of one of the owners.
    [[nodiscard]] bool is_own_group(gid_t gid) const {
        return group_of(gid, trust.user).is_own ||
               std::ranges::any_of(trust.owners,
                                   [&](uid_t owner) { return group_of(gid, owner).is_own; });
    }

    [[nodiscard]] std::string subject(const Place& place) const {
        return place.path == file ? "" : printable(place.path) + ' ';
    }
};

SkippedFile unreachable(const std::string& file, int problem) {
    if (problem == ENXIO || problem == EISDIR) { // a socket
        return {file, "is not a regular file", {}};
    }
    const bool loop = problem == ELOOP;
    return {file,
            loop ? std::string("has symlinks that lead in a circle")
                 : "cannot be read: " + std::generic_category().message(problem),
            loop ? "rm " + printable(file) : std::string()};
}

class Walk {
public:
    Walk(const Judge& judge, const std::string& path) : m_judge(judge) { add_names(path); }

    // To the end of the path. What is there is opened for reading where it is no directory. 0 or
    // errno; EACCES also where a link on the way is not trusted: then there is an objection.
    int go() {
        if (const int problem = begin_at_root()) {
            return problem;
        }
        while (!m_names.empty()) {
            const std::string name = std::move(m_names.front());
            m_names.pop_front();
            if (const int problem = step(name)) {
                return problem;
            }
        }
        return 0;
    }

    [[nodiscard]] std::span<const Place> places() const { return m_places; }
    [[nodiscard]] const Place* file() const { return m_file ? &*m_file : nullptr; }
    [[nodiscard]] bool has_followed() const { return m_links > 0; }
    [[nodiscard]] const std::optional<SkippedFile>& objection() const { return m_objection; }

private:
    void add_names(std::string_view path) {
        std::vector<std::string_view> names = split(path, '/');
        std::erase_if(names, [](std::string_view name) { return name.empty() || name == "."; });
        m_names.insert(m_names.begin(), names.begin(), names.end());
    }

    int begin_at_root() {
        Place root{"/", Fd(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC))};
        if (const int problem = root.fd ? look_at(root) : errno) {
            return problem;
        }
        m_places.clear();
        m_places.push_back(std::move(root));
        return 0;
    }

    // Opens `name` where the walk stands.
    [[nodiscard]] Place open(const std::string& name, int flags) const {
        const std::string& directory = m_places.back().path;
        return {
            directory == "/" ? directory + name : directory + '/' + name,
            Fd(::openat(m_places.back().fd.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC))};
    }

    int step(const std::string& name) {
        if (name == "..") {
            if (m_places.size() > 1) {
                m_places.pop_back();
            }
            return 0;
        }
        // O_DIRECTORY: what is mounted on demand is mounted.
        Place next = open(name, O_PATH | O_DIRECTORY);
        if (next.fd) {
            const int problem = look_at(next);
            m_places.push_back(std::move(next));
            return problem;
        }
        if (errno != ENOTDIR) {
            return errno;
        }
        next = open(name, O_PATH);
        if (const int problem = next.fd ? look_at(next) : errno) {
            return problem;
        }
        if (S_ISLNK(next.status.stx_mode)) {
            return follow(next);
        }
        if (!m_names.empty()) {
            return ENOTDIR;
        }
        // O_NONBLOCK: a pipe is not waited for.
        m_file = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
        return m_file->fd ? look_at(*m_file) : errno;
    }

    int follow(const Place& link) {
        if (++m_links > k_most_links) {
            return ELOOP;
        }
        m_objection = m_judge.owner(link);
        if (!m_objection) {
            m_objection = m_judge.directories(m_places);
        }
        if (m_objection) {
            return EACCES;
        }
        std::array<char, PATH_MAX> target{};
        const ssize_t size = ::readlinkat(link.fd.get(), "", target.data(), target.size());
        if (size <= 0) {
            return size < 0 ? errno : ENOENT;
        }
        add_names({target.data(), static_cast<std::size_t>(size)});
        return target[0] == '/' ? begin_at_root() : 0;
    }

    const Judge& m_judge;
    std::deque<std::string> m_names; // that are still to go
    std::vector<Place> m_places;     // from the root to where the walk stands
    std::optional<Place> m_file;
    std::optional<SkippedFile> m_objection;
    int m_links = 0;
};

// Why what the walk has come to is not read.
std::optional<SkippedFile> reason_against(const Walk& walk, const Judge& judge,
                                          const std::string& path) {
    const Place* file = walk.file();
    if (file == nullptr || !S_ISREG(file->status.stx_mode)) {
        return SkippedFile{path, "is not a regular file", {}};
    }
    if (auto reason = judge.owner(*file)) {
        return reason;
    }
    if (auto reason = judge.writers(*file)) {
        return reason;
    }
    return judge.directories(walk.places());
}

} // namespace

bool is_same_mount(const struct statx& one, const struct statx& other) {
    if ((one.stx_mask & other.stx_mask & STATX_MNT_ID) != 0) {
        return one.stx_mnt_id == other.stx_mnt_id;
    }
    return one.stx_dev_major == other.stx_dev_major && one.stx_dev_minor == other.stx_dev_minor;
}

void Trust::add_owner_of(const std::string& prefix) {
    struct stat status {};
    if (::stat(prefix.c_str(), &status) == 0) {
        owners.push_back(status.st_uid);
    }
}

std::string SkippedFile::text() const {
    return printable(path) + " is ignored: it " + why + (remedy.empty() ? "" : " (" + remedy + ')');
}

TrustedFile read_trusted_file(const std::string& path, const Trust& trust) {
    const Judge judge{path, trust};
    Walk walk(judge, path);
    const int problem = walk.go();
    if (walk.objection()) {
        return {{}, walk.objection()};
    }
    if ((problem == ENOENT || problem == ENOTDIR) && !walk.has_followed()) {
        return {};
    }
    if (problem != 0) {
        return {{}, unreachable(path, problem)};
    }
    if (auto reason = reason_against(walk, judge, path)) {
        return {{}, std::move(reason)};
    }
    auto text = read_open_file(walk.file()->fd.get(), path, pins::k_most_toml_bytes);
    if (!text) {
        return {{}, SkippedFile{path, "is not read: " + text.error().message, {}}};
    }
    return {*std::move(text), {}};
}

std::optional<SkippedFile> objection_to(int fd, const std::string& path, const Trust& trust) {
    Place place{path, Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 0))};
    if (const int problem = place.fd ? look_at(place) : errno) {
        return unreachable(path, problem);
    }
    const Judge judge{path, trust};
    auto reason = judge.owner(place);
    return reason || S_ISLNK(place.status.stx_mode) ? reason : judge.writers(place);
}

std::optional<SkippedFile> reason_to_skip(const std::string& directory, const char* name,
                                          const Trust& trust) {
    const std::string file = directory + (directory == "/" ? "" : "/") + name;
    const Judge judge{file, trust};
    Walk walk(judge, directory);
    if (const int problem = walk.go()) {
        return walk.objection() ? walk.objection() : unreachable(file, problem);
    }
    return judge.directories(walk.places());
}

} // namespace cudaenv::trusted
