#include "host/channels/index_cache.hpp"

#include "base/private_files.hpp"
#include "base/whole_io.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv::channels {
namespace {

// Changes whenever the layout, or what `read_record` accepts, does.
constexpr std::uint32_t k_version = 1;
constexpr std::array<char, 8> k_magic{'c', 'u', 'd', 'a', 'e', 'n', 'v', 'I'};

// The header as it lies in the file.
struct Header {
    std::array<char, 8> magic{};
    std::uint32_t version = 0;
    std::uint32_t with_text = 0;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::int64_t modified_ns = 0;
    std::int64_t changed_ns = 0;
    std::uint64_t text_size = 0;
    std::uint64_t tables_checksum = 0;
    std::uint32_t name_count = 0;
    std::uint32_t record_count = 0;
    std::uint32_t strings_size = 0;
    std::uint32_t subdir_size = 0;
    std::uint32_t base_url_size = 0;
    std::uint32_t unused = 0;
    std::uint64_t header_checksum = 0; // of all before it
};
static_assert(sizeof(Header) == k_cache_header_size);

// 64 bits that any accidental change alters; four lanes, so that megabytes take less than a
// millisecond. Not against forgery: only the user may write these files.
std::uint64_t checksum(std::span<const char> bytes) {
    constexpr std::uint64_t k_first = 0x9E3779B185EBCA87U;
    constexpr std::uint64_t k_second = 0xC2B2AE3D27D4EB4FU;
    const auto mix = [](std::uint64_t lane, std::uint64_t word) {
        return std::rotl(lane + word * k_second, 31) * k_first;
    };
    std::array<std::uint64_t, 4> lanes{1, 2, 3, 4};
    const char* p = bytes.data();
    std::size_t left = bytes.size();
    for (; left >= 32; left -= 32) {
        for (std::uint64_t& lane : lanes) {
            std::uint64_t word = 0;
            std::memcpy(&word, p, 8);
            lane = mix(lane, word);
            p += 8;
        }
    }
    std::uint64_t sum = bytes.size();
    for (const std::uint64_t lane : lanes) {
        sum = mix(sum, lane);
    }
    for (; left > 0; --left) {
        sum = mix(sum, static_cast<unsigned char>(*p++));
    }
    return sum ^ (sum >> 29);
}

std::uint64_t aligned(std::uint64_t offset) {
    return (offset + 7) & ~std::uint64_t{7};
}

std::uint64_t tables_offset_of(bool with_text, std::uint64_t text_size) {
    return aligned(k_cache_header_size + (with_text ? text_size : 0));
}

Header header_of(std::span<const char> bytes) {
    Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    return header;
}

std::uint64_t header_checksum(const Header& header) {
    std::array<char, sizeof(Header)> bytes{};
    std::memcpy(bytes.data(), &header, sizeof header);
    return checksum(std::span(bytes).first(offsetof(Header, header_checksum)));
}

std::int64_t nanoseconds(const timespec& time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

} // namespace

FileStamp FileStamp::of(const struct stat& status) {
    return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino),
            static_cast<std::uint64_t>(status.st_size), nanoseconds(status.st_mtim),
            nanoseconds(status.st_ctim)};
}

Mapping::Mapping(Mapping&& other) noexcept
    : m_base(std::exchange(other.m_base, nullptr)),
      m_base_size(std::exchange(other.m_base_size, 0)), m_bytes(std::exchange(other.m_bytes, {})) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    std::swap(m_base, other.m_base);
    std::swap(m_base_size, other.m_base_size);
    std::swap(m_bytes, other.m_bytes);
    return *this;
}

Mapping::~Mapping() {
    if (m_base != nullptr) {
        ::munmap(m_base, m_base_size);
    }
}

std::optional<Mapping> Mapping::of(int fd, std::uint64_t offset, std::size_t size) {
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::uint64_t first = offset / page * page;
    const std::size_t lead = offset - first;
    void* base = ::mmap(nullptr, size + lead, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd,
                        static_cast<off_t>(first));
    if (base == MAP_FAILED) {
        return std::nullopt;
    }
    Mapping out;
    out.m_base = base;
    out.m_base_size = size + lead;
    out.m_bytes = {static_cast<const char*>(base) + lead, size};
    return out;
}

std::string cache_header(const FileStamp& stamp, const IndexBuilder::Tables& tables,
                         bool with_text) {
    Header header;
    header.magic = k_magic;
    header.version = k_version;
    header.with_text = with_text ? 1 : 0;
    header.device = stamp.device;
    header.inode = stamp.inode;
    header.size = stamp.size;
    header.modified_ns = stamp.modified_ns;
    header.changed_ns = stamp.changed_ns;
    header.text_size = tables.shape.text_size;
    header.tables_checksum = checksum(tables.bytes);
    header.name_count = tables.shape.name_count;
    header.record_count = tables.shape.record_count;
    header.strings_size = tables.shape.strings_size;
    header.subdir_size = tables.shape.subdir_size;
    header.base_url_size = tables.shape.base_url_size;
    header.header_checksum = header_checksum(header);
    std::string out(k_cache_header_size, '\0');
    std::memcpy(out.data(), &header, sizeof header);
    return out;
}

std::optional<CacheLayout> read_cache_header(std::span<const char> bytes, std::uint64_t file_size,
                                             const FileStamp& stamp) {
    if (bytes.size() < k_cache_header_size) {
        return std::nullopt;
    }
    const Header header = header_of(bytes);
    const FileStamp made_for{header.device, header.inode, header.size, header.modified_ns,
                             header.changed_ns};
    if (header.magic != k_magic || header.version != k_version || header.with_text > 1 ||
        header.header_checksum != header_checksum(header) || made_for != stamp) {
        return std::nullopt;
    }
    CacheLayout layout;
    layout.shape = {header.name_count,  header.record_count,  header.strings_size,
                    header.subdir_size, header.base_url_size, header.text_size};
    layout.text_offset = header.with_text != 0 ? k_cache_header_size : 0;
    // A text behind a table of record places fits in 32 bits; so no sum below can overflow.
    if (header.text_size > 0xFFFFFFFFU ||
        (header.with_text == 0 && header.text_size != header.size)) {
        return std::nullopt;
    }
    layout.tables_offset = tables_offset_of(header.with_text != 0, header.text_size);
    if (layout.tables_offset + layout.shape.tables_size() != file_size) {
        return std::nullopt;
    }
    return layout;
}

bool tables_are_whole(std::span<const char> header, std::span<const char> tables) {
    return checksum(tables) == header_of(header).tables_checksum;
}

std::string IndexCache::file_for(const std::string& repodata_path) const {
    constexpr std::string_view k_hex = "0123456789abcdef";
    std::string name = m_directory + '/';
    const std::uint64_t sum = checksum(repodata_path);
    for (int shift = 60; shift >= 0; shift -= 4) {
        name += k_hex[(sum >> shift) & 15U];
    }
    return name + ".index";
}

std::optional<CachedIndex> IndexCache::load(const std::string& repodata_path,
                                            const FileStamp& stamp) const {
    if (!enabled()) {
        return std::nullopt;
    }
    CachedIndex out;
    // O_NONBLOCK: somebody's FIFO in our place must not hang us.
    out.file.reset(
        ::open(file_for(repodata_path).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status {};
    if (!out.file || ::fstat(out.file.get(), &status) != 0 || !is_ours_alone(status, S_IFREG)) {
        return std::nullopt;
    }
    std::array<char, k_cache_header_size> header{};
    if (read_full(out.file.get(), header.data(), header.size(), 0) !=
        static_cast<ssize_t>(header.size())) {
        return std::nullopt;
    }
    const auto layout =
        read_cache_header(header, static_cast<std::uint64_t>(status.st_size), stamp);
    if (!layout) {
        return std::nullopt;
    }
    auto mapping = Mapping::of(out.file.get(), layout->tables_offset, layout->shape.tables_size());
    if (!mapping || !tables_are_whole(header, mapping->bytes())) {
        return std::nullopt;
    }
    auto index = RecordIndex::over(mapping->bytes(), layout->shape);
    if (!index) {
        return std::nullopt;
    }
    out.tables = std::move(*mapping);
    out.index = *index;
    out.text_offset = layout->text_offset;
    return out;
}

std::optional<IndexCache::Draft> IndexCache::begin(const std::string& repodata_path) const {
    if (!enabled() || !make_private_directories(m_directory)) {
        return std::nullopt;
    }
    TemporaryFile file(AT_FDCWD, file_for(repodata_path));
    return file ? std::optional(Draft(std::move(file))) : std::nullopt;
}

std::uint64_t IndexCache::Draft::text_offset() {
    return k_cache_header_size;
}

bool IndexCache::Draft::commit(const FileStamp& stamp, const IndexBuilder::Tables& tables,
                               bool with_text) {
    const std::string header = cache_header(stamp, tables, with_text);
    const std::string_view bytes(tables.bytes.data(), tables.bytes.size());
    return write_full(m_file.fd(), header, 0) &&
           write_full(m_file.fd(), bytes, tables_offset_of(with_text, tables.shape.text_size)) &&
           m_file.replace();
}

} // namespace cudaenv::channels
