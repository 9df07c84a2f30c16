#include "host/channels/zstd_stream.hpp"

#include "base/whole_io.hpp"

#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace cudaenv::channels {
namespace {

// Real repodata shrinks to a seventh or a tenth, generated channels to a fortieth. What grows two
// thousandfold is a bomb; small files are let off, since they can do no harm.
constexpr std::uint64_t k_bomb_ratio = 2000;
constexpr std::uint64_t k_harmless = 64U << 20U;

struct FreeStream {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

tl::unexpected<Error> bad_zstd(std::uint64_t at, const std::string& what) {
    return bad_input("bad-zstd",
                     what + " (at byte " + std::to_string(at) + " of the compressed file)",
                     "fetch the file again");
}

} // namespace

Result<StreamEnd> decompress(int fd, std::uint64_t largest, const WindowSink& sink) {
    const std::unique_ptr<ZSTD_DStream, FreeStream> stream(ZSTD_createDStream());
    if (!stream) {
        return unavailable("no-memory", "no memory to decompress with");
    }
    std::vector<char> compressed(ZSTD_DStreamInSize());
    std::vector<char> window(256U << 10U);
    std::uint64_t taken = 0;
    std::uint64_t given = 0;
    std::size_t wanted = 1; // 0 exactly at the end of a frame
    for (std::uint64_t offset = 0;;) {
        const ssize_t n = read_full(fd, compressed.data(), compressed.size(), offset);
        if (n < 0) {
            return unavailable("cannot-read", std::string("cannot read: ") + std::strerror(errno));
        }
        if (n == 0) {
            if (wanted != 0) {
                return bad_zstd(offset, offset == 0 ? "the file is empty"
                                                    : "the compressed file ends in the middle");
            }
            return StreamEnd::Whole;
        }
        offset += static_cast<std::uint64_t>(n);
        ZSTD_inBuffer in{compressed.data(), static_cast<std::size_t>(n), 0};
        bool window_was_full = false;
        while (in.pos < in.size || window_was_full) {
            ZSTD_outBuffer out{window.data(), window.size(), 0};
            const std::size_t before = in.pos;
            wanted = ZSTD_decompressStream(stream.get(), &out, &in);
            taken += in.pos - before;
            if (ZSTD_isError(wanted) != 0) {
                return bad_zstd(taken,
                                std::string("damaged zstd data: ") + ZSTD_getErrorName(wanted));
            }
            window_was_full = out.pos == out.size && wanted != 0;
            given += out.pos;
            if (given > largest) {
                return bad_zstd(taken, "the decompressed text is larger than " +
                                           std::to_string(largest >> 20U) + " MiB");
            }
            if (given > k_harmless && given / k_bomb_ratio > taken) {
                return bad_zstd(taken, "the text grows more than " + std::to_string(k_bomb_ratio) +
                                           "-fold when decompressed, as no channel does");
            }
            if (out.pos > 0 && !sink({window.data(), out.pos})) {
                return StreamEnd::Stopped;
            }
        }
    }
}

} // namespace cudaenv::channels
