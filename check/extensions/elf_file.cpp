#include "check/extensions/elf_file.hpp"

#include "base/text.hpp"
#include "host/file_system.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <utility>

namespace cudaenv::extensions {

namespace {

#if defined(__aarch64__)
constexpr unsigned k_machine = EM_AARCH64;
#else
constexpr unsigned k_machine = EM_X86_64;
#endif

// torch's own have 200,000 symbols.
constexpr std::size_t k_most_symbols = std::size_t{4} << 20U;

tl::unexpected<Error> refused(std::string why) {
    return unavailable("not-elf", std::move(why));
}

std::string libelf_words() {
    const char* const words = elf_errmsg(-1);
    return words == nullptr ? "damaged" : words;
}

const char* code_of(int error) {
    return error == ENOENT || error == ENOTDIR ? k_not_found
           : error == EACCES || error == EPERM ? k_permission_denied
           : error == ELOOP                    ? k_symlink_loop
                                               : "io";
}

std::uint32_t gnu_hash(std::string_view name) {
    std::uint32_t hash = 5381;
    for (const char c : name) {
        hash = hash * 33 + static_cast<unsigned char>(c);
    }
    return hash;
}

template <typename Word>
std::optional<Word> word_at(std::string_view bytes, std::size_t offset) {
    if (offset > bytes.size() || bytes.size() - offset < sizeof(Word)) {
        return std::nullopt;
    }
    Word word = 0;
    std::memcpy(&word, bytes.data() + offset, sizeof word);
    return word;
}

} // namespace

struct ElfFile::Parts {
    Fd fd;
    Elf* elf = nullptr;
    Elf_Data* symbols = nullptr;
    std::size_t symbol_count = 0;
    std::string_view names;    // .dynstr
    std::string_view gnu_hash; // empty: the file has no such section

    Parts() = default;
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;
    ~Parts() {
        if (elf != nullptr) {
            elf_end(elf);
        }
    }

    // Empty also for an offset that leads out of the table.
    [[nodiscard]] std::string_view name_at(std::size_t offset) const {
        if (offset >= names.size()) {
            return {};
        }
        const auto rest = names.substr(offset);
        const auto end = rest.find('\0');
        return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
    }
    [[nodiscard]] bool symbol_at(std::size_t index, GElf_Sym& symbol) const {
        return index < symbol_count &&
               gelf_getsym(symbols, static_cast<int>(index), &symbol) != nullptr;
    }
    static bool is_defined(const GElf_Sym& symbol) {
        const auto binding = GELF_ST_BIND(symbol.st_info);
        const auto visibility = GELF_ST_VISIBILITY(symbol.st_other);
        return symbol.st_shndx != SHN_UNDEF &&
               (binding == STB_GLOBAL || binding == STB_WEAK || binding == STB_GNU_UNIQUE) &&
               (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
    }
    static std::optional<std::string_view> bytes_of(Elf_Scn* section) {
        const Elf_Data* const data = elf_rawdata(section, nullptr);
        if (data == nullptr) {
            return std::nullopt;
        }
        return data->d_buf == nullptr
                   ? std::string_view()
                   : std::string_view(static_cast<const char*>(data->d_buf), data->d_size);
    }
    // By .gnu.hash: nbuckets, symoffset, bloom words, shift; then bloom, buckets, chains.
    [[nodiscard]] bool is_in_hash(std::string_view wanted) const {
        const auto bucket_count = word_at<std::uint32_t>(gnu_hash, 0);
        const auto first = word_at<std::uint32_t>(gnu_hash, 4);
        const auto bloom_words = word_at<std::uint32_t>(gnu_hash, 8);
        if (!bucket_count || !first || !bloom_words || *bucket_count == 0) {
            return false;
        }
        const auto hash = extensions::gnu_hash(wanted);
        const std::size_t buckets = 16 + std::size_t{*bloom_words} * 8;
        const std::size_t chains = buckets + std::size_t{*bucket_count} * 4;
        const auto bucket =
            word_at<std::uint32_t>(gnu_hash, buckets + std::size_t{hash % *bucket_count} * 4);
        if (!bucket || *bucket < *first) {
            return false;
        }
        for (std::size_t index = *bucket; index < symbol_count; ++index) {
            const auto link = word_at<std::uint32_t>(gnu_hash, chains + (index - *first) * 4);
            GElf_Sym symbol;
            if (!link || !symbol_at(index, symbol)) {
                return false;
            }
            if ((*link | 1U) == (hash | 1U) && is_defined(symbol) &&
                name_at(symbol.st_name) == wanted) {
                return true;
            }
            if ((*link & 1U) != 0) {
                return false;
            }
        }
        return false;
    }
};

ElfFile::ElfFile() : m_parts(std::make_unique<Parts>()) {}
ElfFile::ElfFile(ElfFile&&) noexcept = default;
ElfFile& ElfFile::operator=(ElfFile&&) noexcept = default;
ElfFile::~ElfFile() = default;

Result<ElfFile> ElfFile::open(const std::string& path) {
    elf_version(EV_CURRENT);
    ElfFile file;
    // Without O_NONBLOCK a pipe of that name would be waited for.
    file.m_parts->fd = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat status {};
    if (!file.m_parts->fd || ::fstat(file.m_parts->fd.get(), &status) != 0) {
        const int error = errno;
        return unavailable(code_of(error), std::generic_category().message(error));
    }
    if (!S_ISREG(status.st_mode)) {
        return unavailable("not-a-file", "is not a regular file");
    }
    file.m_parts->elf = elf_begin(file.m_parts->fd.get(), ELF_C_READ, nullptr);
    return read(std::move(file));
}

Result<ElfFile> ElfFile::of_bytes(std::span<char> bytes) {
    elf_version(EV_CURRENT);
    ElfFile file;
    file.m_parts->elf = elf_memory(bytes.data(), bytes.size());
    return read(std::move(file));
}

Result<ElfFile> ElfFile::read(ElfFile file) {
    Parts& parts = *file.m_parts;
    if (parts.elf == nullptr || elf_kind(parts.elf) != ELF_K_ELF) {
        return refused("is not an ELF file");
    }
    GElf_Ehdr header;
    if (gelf_getclass(parts.elf) != ELFCLASS64 || gelf_getehdr(parts.elf, &header) == nullptr) {
        return refused("is not a 64-bit ELF file");
    }
    if (header.e_machine != k_machine || header.e_ident[EI_DATA] != ELFDATA2LSB) {
        return refused("is for another machine");
    }
    Elf_Data* dynamic = nullptr;
    std::size_t dynamic_count = 0;
    Elf_Scn* symbols = nullptr;
    for (Elf_Scn* section = elf_nextscn(parts.elf, nullptr); section != nullptr;
         section = elf_nextscn(parts.elf, section)) {
        GElf_Shdr section_header;
        if (gelf_getshdr(section, &section_header) == nullptr) {
            return refused(libelf_words());
        }
        if (section_header.sh_type == SHT_DYNAMIC && dynamic == nullptr) {
            dynamic = elf_getdata(section, nullptr);
            if (dynamic == nullptr || dynamic->d_type != ELF_T_DYN) {
                return refused("its dynamic section cannot be read");
            }
            dynamic_count = dynamic->d_size / sizeof(Elf64_Dyn);
        } else if (section_header.sh_type == SHT_DYNSYM && symbols == nullptr) {
            symbols = section;
            parts.symbols = elf_getdata(section, nullptr);
            Elf_Scn* const strings = elf_getscn(parts.elf, section_header.sh_link);
            const auto names = strings == nullptr ? std::nullopt : Parts::bytes_of(strings);
            if (parts.symbols == nullptr || parts.symbols->d_type != ELF_T_SYM || !names) {
                return refused("its symbols cannot be read");
            }
            parts.names = *names;
            parts.symbol_count = parts.symbols->d_size / sizeof(Elf64_Sym);
        } else if (section_header.sh_type == SHT_GNU_HASH && parts.gnu_hash.empty()) {
            parts.gnu_hash = Parts::bytes_of(section).value_or(std::string_view());
        }
    }
    if (dynamic == nullptr || symbols == nullptr) {
        return refused("has no dynamic section");
    }
    if (parts.symbol_count > k_most_symbols) {
        return refused("has more than four million symbols");
    }
    for (std::size_t i = 0; i < dynamic_count; ++i) {
        GElf_Dyn entry;
        if (gelf_getdyn(dynamic, static_cast<int>(i), &entry) == nullptr ||
            entry.d_tag == DT_NULL) {
            break;
        }
        const bool is_path = entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
        if (entry.d_tag != DT_NEEDED && !is_path) {
            continue;
        }
        const auto text = parts.name_at(entry.d_un.d_val);
        if (text.empty()) {
            continue;
        }
        if (!is_path) {
            file.m_needed.emplace_back(text);
            continue;
        }
        for (const auto directory : split(text, ':')) {
            if (!directory.empty()) {
                file.m_search_path.emplace_back(directory);
            }
        }
    }
    return file;
}

Result<std::vector<std::string>> ElfFile::undefined_symbols() const {
    std::vector<std::string> names;
    for (std::size_t i = 1; i < m_parts->symbol_count; ++i) {
        GElf_Sym symbol;
        if (!m_parts->symbol_at(i, symbol)) {
            return refused("its symbols cannot be read");
        }
        if (symbol.st_shndx != SHN_UNDEF || GELF_ST_BIND(symbol.st_info) != STB_GLOBAL) {
            continue;
        }
        const auto name = m_parts->name_at(symbol.st_name);
        if (name.empty()) {
            return refused("a symbol's name cannot be read");
        }
        names.emplace_back(name);
    }
    return names;
}

bool ElfFile::defines(std::string_view wanted) const {
    if (!m_parts->gnu_hash.empty()) {
        return m_parts->is_in_hash(wanted);
    }
    for (std::size_t i = 1; i < m_parts->symbol_count; ++i) {
        GElf_Sym symbol;
        if (m_parts->symbol_at(i, symbol) && Parts::is_defined(symbol) &&
            m_parts->name_at(symbol.st_name) == wanted) {
            return true;
        }
    }
    return false;
}

std::string ElfFile::defined_with_beginning(std::string_view beginning) const {
    for (std::size_t i = 1; i < m_parts->symbol_count; ++i) {
        GElf_Sym symbol;
        if (!m_parts->symbol_at(i, symbol) || !Parts::is_defined(symbol)) {
            continue;
        }
        const auto name = m_parts->name_at(symbol.st_name);
        if (name.starts_with(beginning)) {
            return std::string(name);
        }
    }
    return {};
}

} // namespace cudaenv::extensions
