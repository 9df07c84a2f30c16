#include "daemon/peer.hpp"

#include <algorithm>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv::daemon {

namespace {

std::optional<struct stat> status_of(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? std::optional(status) : std::nullopt;
}

std::optional<ino_t> mounts_of(const std::string& process) {
    const auto status = status_of("/proc/" + process + "/ns/mnt");
    return status ? std::optional(status->st_ino) : std::nullopt;
}

std::optional<std::pair<dev_t, ino_t>> root_of(const std::string& process) {
    const auto status = status_of("/proc/" + process + "/root");
    return status ? std::optional(std::pair(status->st_dev, status->st_ino)) : std::nullopt;
}

std::vector<gid_t> with(std::vector<gid_t> groups, gid_t effective) {
    groups.push_back(effective);
    std::ranges::sort(groups);
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    return groups;
}

std::optional<ucred> credentials(int socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? std::optional(peer)
                                                                            : std::nullopt;
}

Error elsewhere(const char* what) {
    return unavailable("other-place",
                       std::string("the daemon was started where ") + what + " than here")
        .value();
}

} // namespace

Place Place::own() {
    Place place;
    place.m_mounts = mounts_of("self");
    place.m_root = root_of("self");
    std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
    if (::getgroups(static_cast<int>(groups.size()), groups.data()) < 0) {
        groups.clear();
    }
    place.m_groups = with(std::move(groups), ::getegid());
    return place;
}

bool Place::is_own_user(int socket) {
    const auto peer = credentials(socket);
    return peer && peer->uid == ::geteuid();
}

std::optional<Error> Place::why_elsewhere(int socket) const {
    const auto peer = credentials(socket);
    if (!peer) {
        return elsewhere("other processes are visible");
    }
    const std::string process = std::to_string(peer->pid);
    if (!m_mounts || mounts_of(process) != m_mounts || root_of(process) != m_root) {
        return elsewhere("other file systems are mounted");
    }
#ifdef SO_PEERGROUPS
    std::vector<gid_t> groups(256);
    auto size = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
    if (::getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) == 0) {
        groups.resize(size / sizeof(gid_t));
        if (with(std::move(groups), peer->gid) != m_groups) {
            return elsewhere("the user has other groups");
        }
    }
#endif
    return std::nullopt;
}

} // namespace cudaenv::daemon
