#include "host/channels/index_cache.hpp"

#include "base/fingerprint.hpp"
#include "base/private_files.hpp"
#include "base/whole_io.hpp"

#include <array>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <type_traits>
#include <unistd.h>

namespace cudaenv::channels {
namespace {

// Changes whenever the layout, or what `read_record` accepts, does.
constexpr std::uint32_t k_version = 2;
constexpr std::array<char, 8> k_magic{'c', 'u', 'd', 'a', 'e', 'n', 'v', 'I'};

// The header as it lies in the file.
struct Header {
    std::array<char, 8> magic = k_magic;
    std::uint32_t version = k_version;
    std::uint32_t with_text = 0;
    FileIdentity stamp;
    IndexShape shape;
    std::uint64_t tables_checksum = 0;
    std::uint64_t header_checksum = 0; // of all before it
};
static_assert(sizeof(Header) == k_cache_header_size &&
              std::has_unique_object_representations_v<Header>);

// Any accidental change alters it. Not against forgery: only the user may write these files.
std::uint64_t checksum(std::span<const char> bytes) {
    return std::hash<std::string_view>()({bytes.data(), bytes.size()});
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
    return checksum(
        std::span(reinterpret_cast<const char*>(&header), offsetof(Header, header_checksum)));
}

} // namespace

void Unmap::operator()(void* base) const {
    ::munmap(base, size);
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
    out.m_base = {base, Unmap{size + lead}};
    out.m_bytes = {static_cast<const char*>(base) + lead, size};
    return out;
}

std::string cache_header(const FileIdentity& stamp, const IndexBuilder::Tables& tables,
                         bool with_text) {
    Header header;
    header.with_text = with_text ? 1 : 0;
    header.stamp = stamp;
    header.shape = tables.shape;
    header.tables_checksum = checksum(tables.bytes);
    header.header_checksum = header_checksum(header);
    return {reinterpret_cast<const char*>(&header), sizeof header};
}

std::optional<CacheLayout> read_cache_header(std::span<const char> bytes, std::uint64_t file_size,
                                             const FileIdentity& stamp) {
    if (bytes.size() < k_cache_header_size) {
        return std::nullopt;
    }
    const Header header = header_of(bytes);
    if (header.magic != k_magic || header.version != k_version || header.with_text > 1 ||
        header.header_checksum != header_checksum(header) || header.stamp != stamp) {
        return std::nullopt;
    }
    CacheLayout layout;
    layout.shape = header.shape;
    layout.text_offset = header.with_text != 0 ? k_cache_header_size : 0;
    // A text behind a table of record places fits in 32 bits; so no sum below can overflow.
    if (layout.shape.text_size > 0xFFFFFFFFU ||
        (header.with_text == 0 && layout.shape.text_size != stamp.size)) {
        return std::nullopt;
    }
    layout.tables_offset = tables_offset_of(header.with_text != 0, layout.shape.text_size);
    if (layout.tables_offset + layout.shape.tables_size() != file_size) {
        return std::nullopt;
    }
    return layout;
}

bool tables_are_whole(std::span<const char> header, std::span<const char> tables) {
    return checksum(tables) == header_of(header).tables_checksum;
}

std::string IndexCache::file_for(const std::string& repodata_path) const {
    return m_directory + '/' + fingerprint(repodata_path) + ".index";
}

std::optional<CachedIndex> IndexCache::load(const std::string& repodata_path,
                                            const FileIdentity& stamp) const {
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

bool IndexCache::Draft::commit(const FileIdentity& stamp, const IndexBuilder::Tables& tables,
                               bool with_text) {
    const std::string header = cache_header(stamp, tables, with_text);
    const std::string_view bytes(tables.bytes.data(), tables.bytes.size());
    return write_full(m_file.fd(), header, 0) &&
           write_full(m_file.fd(), bytes, tables_offset_of(with_text, tables.shape.text_size)) &&
           m_file.replace();
}

} // namespace cudaenv::channels
