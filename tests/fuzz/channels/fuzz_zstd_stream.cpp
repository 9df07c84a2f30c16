// Any bytes as a repodata.json.zst: decompressed within the bound that was given, or refused with
// one Error. And any bytes, compressed: they come back whole.
#include "host/channels/repodata_file.hpp"
#include "tests/fuzz/require.hpp"

#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace cudaenv;
using namespace cudaenv::channels;

constexpr std::uint64_t k_largest = std::uint64_t{1} << 20U;

// A file in memory that holds these bytes.
class MemoryFile {
public:
    MemoryFile(const void* bytes, std::size_t size)
        : m_fd(::memfd_create("cudaenv-fuzz", MFD_CLOEXEC)) {
        require(m_fd >= 0 && ::write(m_fd, bytes, size) == static_cast<ssize_t>(size));
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { ::close(m_fd); }
    [[nodiscard]] int fd() const { return m_fd; }

private:
    int m_fd;
};

struct Decompressed {
    Result<StreamEnd> end;
    std::string text;
};

Decompressed decompressed(const MemoryFile& file) {
    std::string text;
    auto end = decompress(file.fd(), k_largest, [&](std::span<const char> window) {
        require(!window.empty());
        text.append(window.data(), window.size());
        return true;
    });
    return {std::move(end), std::move(text)};
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const MemoryFile file(data, size);
    const Decompressed given = decompressed(file);
    require(given.text.size() <= k_largest);
    if (given.end) {
        require(*given.end == StreamEnd::Whole);
    } else {
        require(given.end.error().code == "bad-zstd" && !given.end.error().message.empty());
    }
    const auto stopped =
        decompress(file.fd(), k_largest, [](std::span<const char>) { return false; });
    require(given.text.empty() || (stopped && *stopped == StreamEnd::Stopped));

    std::vector<char> packed(ZSTD_compressBound(size));
    const std::size_t length = ZSTD_compress(packed.data(), packed.size(), data, size, 1);
    require(ZSTD_isError(length) == 0);
    const Decompressed whole = decompressed(MemoryFile(packed.data(), length));
    require(whole.end && *whole.end == StreamEnd::Whole);
    require(whole.text == std::string(data, data + size));
    return 0;
}
