// The private directory in which client and daemon meet: socket, lock, stamps. Law: it is used only
// if it is a directory (no link) of this user's own that others may neither enter nor write.
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"

#include <string>
#include <sys/types.h>

namespace cudaenv {

struct RuntimeDirectory {
    std::string path; // absolute
    Fd fd;            // O_DIRECTORY | O_NOFOLLOW: what was checked is what is used
};

enum class IfMissing { Make, Fail };

// Where the directory may be when XDG_RUNTIME_DIR does not say. Other than these in tests only.
struct RuntimeParents {
    std::string run_user = "/run/user";
    std::string temporary = "/tmp";
};

// $XDG_RUNTIME_DIR/cudaenv where that is set and the user's own, else /run/user/UID/cudaenv where
// /run/user/UID is there and the user's own, else /tmp/cudaenv-UID. Which of the three does not
// depend on what is in them, so that client and daemon agree. Made with mode 0700 with
// IfMissing::Make.
// Errors (Unavailable): "no-runtime-directory" (missing, and not to be made or cannot be),
// "unsafe-runtime-directory" (a link, another user's, or of another mode than 0700), each with the
// path.
Result<RuntimeDirectory> open_runtime_directory(const char* xdg_runtime_dir, uid_t user,
                                                IfMissing missing,
                                                const RuntimeParents& parents = {});

constexpr const char* k_socket_name = "daemon.socket";
constexpr const char* k_lock_name = "daemon.lock";
constexpr const char* k_log_name = "daemon.log";

} // namespace cudaenv
