#include "base/failed_call.hpp"

#include <array>
#include <cerrno>
#include <cstring>

namespace cudaenv {

tl::unexpected<Error> failed_call(int error) {
    std::string code = "io";
    if (error == ENOENT || error == ENOTDIR) {
        code = k_not_found;
    } else if (error == EACCES || error == EPERM || error == EROFS) {
        code = k_permission_denied;
    } else if (error == ELOOP) {
        code = k_symlink_loop;
    }
    std::array<char, 128> text{};
    return unavailable(std::move(code), strerror_r(error, text.data(), text.size()));
}

} // namespace cudaenv
