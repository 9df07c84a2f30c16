// A 64-bit ELF file as the loader sees it: what it needs, where it looks, what it defines and what
// it wants from others. Only the sections of the dynamic linker are read (a few megabytes of a
// library of 400), by position, so that a file that is changed meanwhile is an error and not a
// signal. Law: any bytes are read or refused.
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::extensions {

class ElfFile {
public:
    // Errors: those of host/file_system.hpp, "not-a-file", and "not-elf" with the reason as its
    // message: no ELF, for another machine or word size, no dynamic section, damaged.
    static Result<ElfFile> open(const std::string& path);
    // `bytes` outlive it, and are not written to.
    static Result<ElfFile> of_bytes(std::span<char> bytes);

    ElfFile(ElfFile&&) noexcept;
    ElfFile& operator=(ElfFile&&) noexcept;
    ~ElfFile();

    [[nodiscard]] const std::vector<std::string>& needed() const { return m_needed; }
    // DT_RPATH and DT_RUNPATH, split at colons, as written ("$ORIGIN/../lib").
    [[nodiscard]] const std::vector<std::string>& search_path() const { return m_search_path; }
    // Strong, in the file's order. Error: "not-elf" where the table is damaged.
    [[nodiscard]] Result<std::vector<std::string>> undefined_symbols() const;
    // Whether another file that needs this one is served with the name. By the hash table where
    // there is one.
    [[nodiscard]] bool defines(std::string_view symbol) const;
    // The first defined name that begins with `beginning`; empty: no name does. Linear in the
    // table.
    [[nodiscard]] std::string defined_with_beginning(std::string_view beginning) const;

private:
    struct Parts;

    ElfFile();
    static Result<ElfFile> read(ElfFile file);

    std::unique_ptr<Parts> m_parts;
    std::vector<std::string> m_needed;
    std::vector<std::string> m_search_path;
};

} // namespace cudaenv::extensions
