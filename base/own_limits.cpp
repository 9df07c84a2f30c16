#include "base/own_limits.hpp"

#include <algorithm>
#include <csignal>
#include <string>
#include <sys/resource.h>

namespace cudaenv {

namespace {

// As this process was started.
struct Inherited {
    rlimit descriptors{};
    bool raised = false;
    struct sigaction file_size {};
    bool ignores = false; // this process ignores SIGXFSZ, and its starter did not
};
Inherited g_inherited;

Error few_descriptors(rlim_t hard) {
    return unavailable(
               "few-descriptors",
               "this process may open only " + std::to_string(hard) +
                   " files (ulimit -n); cudaenv needs " + std::to_string(k_needed_descriptors),
               "raise the limit where it is set: `ulimit -n 1024` in a script, LimitNOFILE= of a "
               "systemd unit, /etc/security/limits.conf")
        .value();
}

} // namespace

void take_file_size_as_error() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    struct sigaction before {};
    if (::sigaction(SIGXFSZ, &ignore, &before) == 0 && before.sa_handler != SIG_IGN) {
        g_inherited.file_size = before;
        g_inherited.ignores = true;
    }
}

Result<void> take_descriptors(unsigned wanted) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return {}; // opening one too many reports it then
    }
    g_inherited.descriptors = limit;
    if (limit.rlim_cur < wanted && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
        g_inherited.raised = ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
    }
    const rlim_t had = g_inherited.raised ? limit.rlim_cur : g_inherited.descriptors.rlim_cur;
    return had < k_needed_descriptors ? Result<void>(tl::unexpected(few_descriptors(had)))
                                      : Result<void>();
}

unsigned descriptor_limit() {
    rlimit limit{};
    constexpr rlim_t k_plenty = 1U << 20U;
    return ::getrlimit(RLIMIT_NOFILE, &limit) == 0
               ? static_cast<unsigned>(std::min(limit.rlim_cur, k_plenty))
               : k_needed_descriptors;
}

void give_back_limits() {
    if (g_inherited.raised) {
        ::setrlimit(RLIMIT_NOFILE, &g_inherited.descriptors);
    }
    if (g_inherited.ignores) {
        ::sigaction(SIGXFSZ, &g_inherited.file_size, nullptr);
    }
}

} // namespace cudaenv
