#include "host/channels/repodata_file.hpp"

#include "base/real_path.hpp"
#include "base/text.hpp"
#include "base/whole_io.hpp"
#include "host/channels/repodata_scan.hpp"

#include <climits>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <optional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unordered_map>

namespace cudaenv::channels {

namespace {

constexpr std::size_t k_window = 256U << 10U; // stays in a core's own cache
constexpr std::uint64_t k_gap = 4096;         // cheaper to read over than to begin another read

tl::unexpected<Error> cannot_read(const std::string& path, int number) {
    const auto kind =
        number == ENOENT || number == EISDIR ? ErrorKind::BadInput : ErrorKind::Unavailable;
    return tl::unexpected(Error{kind,
                                "cannot-read",
                                std::string("cannot read repodata: ") + std::strerror(number),
                                path,
                                0,
                                0,
                                {}});
}

tl::unexpected<Error> changed(const std::string& path) {
    return unavailable("channel-changed", "the channel changed while it was being read",
                       "run the command again", path);
}

struct LineColumn {
    int line = 1;
    int column = 1;
};

// Of byte `offset` of the text that begins at `text_offset` of `fd`.
LineColumn line_and_column(int fd, std::uint64_t text_offset, std::uint64_t offset) {
    std::vector<char> window(k_window);
    std::uint64_t lines = 1;
    std::uint64_t line_begin = 0;
    for (std::uint64_t at = 0; at < offset;) {
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(k_window, offset - at));
        if (read_full(fd, window.data(), size, text_offset + at) != static_cast<ssize_t>(size)) {
            return {0, 0};
        }
        for (std::size_t i = 0; i < size; ++i) {
            if (window[i] == '\n') {
                ++lines;
                line_begin = at + i + 1;
            }
        }
        at += size;
    }
    const auto clamp = [](std::uint64_t value) {
        return static_cast<int>(std::min<std::uint64_t>(value, INT_MAX));
    };
    return {clamp(lines), clamp(offset - line_begin + 1)};
}

tl::unexpected<Error> fault_in(const RepodataFault& fault, const std::string& path, bool compressed,
                               int text_fd, std::uint64_t text_offset) {
    std::string message = "not a usable repodata file: ";
    if (!fault.record.empty()) {
        message += fault.truncated ? fault.what + " of record \"" + fault.record + '"'
                                   : "record \"" + fault.record + "\": " + fault.what;
    } else {
        message += fault.what;
    }
    message += " (byte " + std::to_string(fault.offset);
    message += compressed ? " of the decompressed text)" : ")";
    const LineColumn place = line_and_column(text_fd, text_offset, fault.offset);
    std::string hint = fault.truncated || fault.record.empty()
                           ? "fetch the file again, or create it again with `conda index`"
                           : "correct or remove that record, or fetch the file again";
    return tl::unexpected<Error>(Error{ErrorKind::BadInput, "bad-repodata", std::move(message),
                                       path, place.line, place.column, std::move(hint)});
}

// Whether the file changed so lately that a next change could leave the same time on it (kernels
// stamp with the tick, 10 ms at most; file systems that know only seconds show none below).
bool changed_just_now(const FileIdentity& stamp) {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    const std::int64_t grain = stamp.changed_ns % 1'000'000'000 == 0 ? 2'100'000'000 : 50'000'000;
    return nanoseconds(now) - stamp.changed_ns < grain;
}

// "pytorch-1.7.0-0" of "pytorch-1.7.0-0.conda"; .conda and .tar.bz2 of one stem are one package.
std::string_view stem_of(std::string_view file_name) {
    for (const std::string_view ending : {".conda", ".tar.bz2"}) {
        if (file_name.ends_with(ending)) {
            return file_name.substr(0, file_name.size() - ending.size());
        }
    }
    return file_name;
}

// Leaves, of records from `first` on, one for each stem: the .conda, else the later one.
void drop_doubles(std::vector<specs::PackageRecord>& records, std::size_t first) {
    std::unordered_map<std::string_view, std::size_t> kept;
    kept.reserve(records.size() - first);
    std::vector<bool> dropped(records.size() - first, false);
    bool any = false;
    for (std::size_t i = first; i < records.size(); ++i) {
        const auto [place, is_new] = kept.try_emplace(stem_of(records[i].file_name), i);
        if (is_new) {
            continue;
        }
        any = true;
        const bool keep_old = records[place->second].file_name.ends_with(".conda") &&
                              !records[i].file_name.ends_with(".conda");
        dropped[(keep_old ? i : place->second) - first] = true;
        if (!keep_old) {
            place->second = i;
        }
    }
    if (!any) {
        return;
    }
    std::size_t to = first;
    for (std::size_t i = first; i < records.size(); ++i) {
        if (!dropped[i - first]) {
            if (to != i) {
                records[to] = std::move(records[i]);
            }
            ++to;
        }
    }
    records.resize(to);
}

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

RepodataFile::RepodataFile(std::string path, RecordOrigin origin, const Options& options)
    : m_path(std::move(path)), m_origin(std::move(origin)), m_cache(options.cache_directory),
      m_largest_text(std::min<std::uint64_t>(options.largest_text, 0xFFFFFFFFU)),
      m_compressed(m_path.ends_with(".zst")) {}

Result<std::unique_ptr<RepodataFile>>
RepodataFile::open(const std::string& path, RecordOrigin origin, const Options& options) {
    std::unique_ptr<RepodataFile> file(new RepodataFile(path, std::move(origin), options));
    CUDAENV_TRY(auto loaded, file->load());
    file->m_loaded = std::move(loaded);
    return file;
}

Result<std::shared_ptr<const RepodataFile::Loaded>> RepodataFile::load() const {
    Fd file(::open(m_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) {
        return cannot_read(m_path, errno);
    }
    if (!S_ISREG(status.st_mode)) {
        return cannot_read(m_path, S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
    }
    const FileIdentity stamp = FileIdentity::of(status);
    const std::string real_path = m_cache.enabled() ? cudaenv::real_path(m_path) : std::string();
    if (auto cached = m_cache.load(real_path, stamp)) {
        auto out = std::make_shared<Loaded>();
        const bool with_text = cached->text_offset != 0;
        if (with_text == m_compressed) {
            out->text = with_text ? std::move(cached->file) : std::move(file);
            out->text_offset = cached->text_offset;
            out->mapped = std::move(cached->tables);
            out->index = cached->index;
            out->cached = true;
            return out;
        }
    }
    return scan(std::move(file), real_path, stamp);
}

Result<std::shared_ptr<const RepodataFile::Loaded>>
RepodataFile::scan(Fd file, const std::string& real_path, const FileIdentity& stamp) const {
    return m_compressed ? scan_compressed(std::move(file), real_path, stamp, m_cache.enabled())
                        : scan_plain(std::move(file), real_path, stamp);
}

Result<std::shared_ptr<const RepodataFile::Loaded>>
RepodataFile::scan_plain(Fd file, const std::string& real_path, const FileIdentity& stamp) const {
    if (stamp.size > m_largest_text) {
        return bad_input("bad-repodata",
                         "a repodata file of more than " + std::to_string(m_largest_text >> 20U) +
                             " MiB",
                         {}, m_path);
    }
    ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_SEQUENTIAL);
    RepodataScan repodata;
    std::vector<char> window(k_window);
    bool going = true;
    for (std::uint64_t at = 0; going && at <= m_largest_text;) {
        const ssize_t n = read_full(file.get(), window.data(), window.size(), at);
        if (n < 0) {
            return cannot_read(m_path, errno);
        }
        if (n == 0) {
            break;
        }
        at += static_cast<std::uint64_t>(n);
        going = repodata.feed({window.data(), static_cast<std::size_t>(n)});
    }
    auto tables = repodata.finish();
    if (!tables) {
        return fault_in(repodata.fault(), m_path, false, file.get(), 0);
    }
    struct stat status {};
    const bool unchanged = ::fstat(file.get(), &status) == 0 && FileIdentity::of(status) == stamp;
    if (m_cache.enabled() && unchanged && !changed_just_now(stamp)) {
        if (auto draft = m_cache.begin(real_path)) {
            // A cache that cannot be written costs the next run time and nothing else.
            draft->commit(stamp, *tables, false);
        }
    }
    auto out = std::make_shared<Loaded>();
    out->text = std::move(file);
    out->owned = std::move(tables->bytes);
    CUDAENV_TRY(out->index, RecordIndex::over(out->owned, tables->shape));
    return out;
}

Result<std::shared_ptr<const RepodataFile::Loaded>>
RepodataFile::scan_compressed(Fd file, const std::string& real_path, const FileIdentity& stamp,
                              bool text_in_cache) const {
    // The text goes where it can be read again: into the cache file, or into memory.
    std::optional<IndexCache::Draft> draft;
    if (text_in_cache) {
        draft = m_cache.begin(real_path);
    }
    Fd memory;
    if (!draft) {
        memory.reset(::memfd_create("cudaenv-repodata", MFD_CLOEXEC));
        if (!memory) {
            return unavailable("no-memory", std::string("cannot hold the decompressed text: ") +
                                                std::strerror(errno));
        }
    }
    const int text_fd = draft ? draft->fd() : memory.get();
    const std::uint64_t text_offset = draft ? IndexCache::Draft::text_offset() : 0;
    RepodataScan repodata;
    std::uint64_t written = 0;
    bool write_failed = false;
    bool sound = true;
    auto end = decompress(file.get(), m_largest_text, [&](std::span<const char> window) {
        write_failed = !write_full(text_fd, {window.data(), window.size()}, text_offset + written);
        written += window.size();
        sound = !write_failed && repodata.feed(window);
        return sound;
    });
    if (write_failed && draft) {
        draft.reset();
        return scan_compressed(std::move(file), real_path, stamp, false);
    }
    if (write_failed) {
        return unavailable("no-memory", "no memory for the decompressed text of " + m_path);
    }
    if (!end) {
        return at_path(m_path, std::move(end).error());
    }
    auto tables = repodata.finish();
    if (!sound || !tables) {
        return fault_in(repodata.fault(), m_path, true, text_fd, text_offset);
    }
    struct stat status {};
    const bool unchanged = ::fstat(file.get(), &status) == 0 && FileIdentity::of(status) == stamp;
    auto out = std::make_shared<Loaded>();
    if (draft) {
        if (unchanged && !changed_just_now(stamp)) {
            draft->commit(stamp, *tables, true);
        }
        out->text = draft->take_file(); // readable through the descriptor, even if the name goes
    } else {
        out->text = std::move(memory);
    }
    out->text_offset = text_offset;
    out->owned = std::move(tables->bytes);
    CUDAENV_TRY(out->index, RecordIndex::over(out->owned, tables->shape));
    return out;
}

std::shared_ptr<const RepodataFile::Loaded> RepodataFile::loaded() const {
    const std::lock_guard lock(m_lock);
    return m_loaded;
}

void RepodataFile::use(std::shared_ptr<const Loaded> fresh) const {
    const std::lock_guard lock(m_lock);
    m_loaded = std::move(fresh);
}

RecordOrigin RepodataFile::origin_of(const Loaded& loaded) const {
    RecordOrigin origin = m_origin;
    if (!loaded.index.subdir().empty()) {
        origin.subdir = loaded.index.subdir();
    }
    if (const std::string base{loaded.index.base_url()}; !base.empty()) {
        // Relative bases are below the place of the repodata file.
        origin.base_url = base.find("://") != std::string::npos
                              ? redact_secrets(base)
                              : origin.base_url + redact_secrets(base);
        if (!origin.base_url.ends_with('/')) {
            origin.base_url += '/';
        }
    }
    return origin;
}

Result<void> RepodataFile::decode(const Loaded& loaded, std::string_view name,
                                  std::vector<specs::PackageRecord>& out) const {
    const auto places = loaded.index.places_of(name);
    const RecordOrigin origin = origin_of(loaded);
    const std::size_t first = out.size();
    out.reserve(first + places.size());
    std::vector<char> text;
    for (std::size_t i = 0; i < places.size();) {
        // One read for records that lie together.
        const std::uint64_t begin = places[i].offset;
        std::uint64_t end = begin + places[i].length;
        std::size_t behind = i + 1;
        while (behind < places.size() && places[behind].offset >= end &&
               places[behind].offset - end < k_gap) {
            end = std::uint64_t{places[behind].offset} + places[behind].length;
            ++behind;
        }
        text.resize(end - begin);
        if (read_full(loaded.text.get(), text.data(), text.size(), loaded.text_offset + begin) !=
            static_cast<ssize_t>(text.size())) {
            return changed(m_path);
        }
        for (; i < behind; ++i) {
            const char* at = text.data() + (places[i].offset - begin);
            JsonCursor cursor(at, at + places[i].length);
            RecordText record;
            if (read_record(cursor, record) != Step::Ok || cursor.at() != at + places[i].length ||
                !record.name.is(name)) {
                return changed(m_path);
            }
            out.push_back(decode_record(record, origin));
        }
    }
    drop_doubles(out, first);
    return {};
}

Result<void> RepodataFile::records_of(std::string_view name,
                                      std::vector<specs::PackageRecord>& out) const {
    const std::size_t first = out.size();
    const auto now = loaded();
    auto done = decode(*now, name, out);
    if (done || !now->cached) {
        return done;
    }
    // An index that was kept and does not fit its text: read the file itself, which also says what
    // is wrong with it, if that is where the fault lies.
    out.resize(first);
    Fd file(::open(m_path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) {
        return cannot_read(m_path, errno);
    }
    CUDAENV_TRY(auto fresh,
                scan(std::move(file), m_cache.enabled() ? cudaenv::real_path(m_path) : "",
                     FileIdentity::of(status)));
    use(fresh);
    return decode(*fresh, name, out);
}

bool RepodataFile::has(std::string_view name) const {
    return !loaded()->index.places_of(name).empty();
}

std::vector<std::string> RepodataFile::names() const {
    const auto now = loaded();
    std::vector<std::string> out;
    out.reserve(now->index.name_count());
    for (std::uint32_t i = 0; i < now->index.name_count(); ++i) {
        out.emplace_back(now->index.name(i));
    }
    return out;
}

bool RepodataFile::from_cache() const {
    return loaded()->cached;
}

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
