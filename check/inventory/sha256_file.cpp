#include "check/inventory/sha256_file.hpp"

#include "base/failed_call.hpp"
#include "base/fd.hpp"
#include "base/whole_io.hpp"
#include "check/inventory/open_files.hpp"

#include <openssl/evp.h>

#include <cerrno>
#include <fcntl.h>
#include <new>

namespace cudaenv::inventory {

namespace {

// Fits a core's second cache beside what else is there; larger ones are slower.
constexpr std::size_t k_block = std::size_t{256} << 10U;
// Smaller ones are read at once, whatever the advice to the kernel.
constexpr std::uint64_t k_worth_advice = std::uint64_t{1} << 20U;

// A context of our own, which reads no openssl.cnf: what a shell has in OPENSSL_CONF must not
// decide which SHA-256 is used. Kept until the process ends.
const EVP_MD* sha256() {
    static const EVP_MD* const algorithm = [] {
        OSSL_LIB_CTX* const own = OSSL_LIB_CTX_new();
        return own == nullptr ? nullptr : EVP_MD_fetch(own, "SHA256", "provider=default");
    }();
    return algorithm;
}

} // namespace

bool is_settled(const FileIdentity& file, std::int64_t now_ns) {
    // Linux stamps files by a clock that goes in steps of at most 10 ms; where the stamps are whole
    // seconds it is the file system's, whose steps may be two. One of the future is not settled.
    constexpr std::int64_t k_second = 1'000'000'000;
    const std::int64_t step = file.changed_ns % k_second == 0 ? 2 * k_second : k_second / 50;
    return file.changed_ns < now_ns - step;
}

void FileHasher::Free::operator()(evp_md_ctx_st* context) const {
    EVP_MD_CTX_free(context);
}

FileHasher::FileHasher() : m_context(EVP_MD_CTX_new()), m_memory(new char[k_block]) {
    if (m_context == nullptr || sha256() == nullptr) {
        throw std::bad_alloc();
    }
}
FileHasher::FileHasher(FileHasher&&) noexcept = default;
FileHasher& FileHasher::operator=(FileHasher&&) noexcept = default;
FileHasher::~FileHasher() = default;

Result<std::uint64_t> FileHasher::read_all(int fd, std::uint64_t size, const GoesOn& wanted) {
    std::uint64_t have = 0;
    while (have <= size) { // one that grows under us need not have an end
        if (!goes_on(wanted)) {
            return stopped();
        }
        const ssize_t got = read_full(fd, m_memory.get(), k_block);
        if (got < 0) {
            return failed_call(errno);
        }
        if (got == 0) {
            break;
        }
        have += static_cast<std::uint64_t>(got);
        EVP_DigestUpdate(m_context.get(), m_memory.get(), static_cast<std::size_t>(got));
    }
    return have;
}

Result<facts::Sha256Digest> FileHasher::hash(int directory, const char* name,
                                             const FileIdentity& expected, const GoesOn& wanted) {
    // O_NONBLOCK: what was a file a moment ago may be a pipe now.
    const Fd file(
        ::openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (!file) {
        return failed_call(errno);
    }
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) {
        return failed_call(errno);
    }
    if (!S_ISREG(status.st_mode)) {
        return unavailable("not-a-file", "is not a regular file");
    }
    const auto changed = [] { return unavailable("changed", "was changed while it was read"); };
    if (FileIdentity::of(status) != expected) {
        return changed();
    }
    if (expected.size >= k_worth_advice) {
        ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_SEQUENTIAL); // a wish
    }
    EVP_DigestInit_ex2(m_context.get(), sha256(), nullptr);
    CUDAENV_TRY(const auto have, read_all(file.get(), expected.size, wanted));
    if (have != expected.size || ::fstat(file.get(), &status) != 0 ||
        FileIdentity::of(status) != expected) {
        return changed();
    }
    facts::Sha256Digest digest{};
    EVP_DigestFinal_ex(m_context.get(), digest.data(), nullptr);
    return digest;
}

} // namespace cudaenv::inventory
