// What root makes in a directory of another user's is that user's: files of root's there would lock
// the user out.
#pragma once

#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv {

// While it lives, new files of this thread are made as the directory's owner; of use to root alone.
// There is no moment at which they are root's, so that nothing can be swapped for them.
class AsOwner {
public:
    explicit AsOwner(int directory) {
        struct stat status {};
        if (::geteuid() != 0 || ::fstat(directory, &status) != 0 || status.st_uid == 0) {
            return;
        }
        m_group = ::setfsgid(status.st_gid);
        m_user = ::setfsuid(status.st_uid);
        m_is_set = true;
    }
    AsOwner(const AsOwner&) = delete;
    AsOwner& operator=(const AsOwner&) = delete;
    ~AsOwner() {
        if (m_is_set) {
            ::setfsuid(static_cast<uid_t>(m_user));
            ::setfsgid(static_cast<gid_t>(m_group));
        }
    }

private:
    bool m_is_set = false;
    int m_user = 0;
    int m_group = 0;
};

} // namespace cudaenv
