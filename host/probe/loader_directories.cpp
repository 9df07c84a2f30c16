#include "host/probe/loader_directories.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "host/environments/cuda_libraries.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <utility>

namespace cudaenv::probe {

namespace {

// How much of `text`, which begins behind a dollar, is this token: ORIGIN or {ORIGIN}, and not the
// beginning of ORIGINAL. 0: another one.
std::size_t token_length(std::string_view text, std::string_view token) {
    const bool is_curly = text.starts_with('{');
    const std::string_view name = text.substr(is_curly ? 1 : 0);
    if (!name.starts_with(token)) {
        return 0;
    }
    const char next = name.size() > token.size() ? name[token.size()] : '\0';
    if (is_curly) {
        return next == '}' ? token.size() + 2 : 0;
    }
    return is_alnum(next) || next == '_' ? 0 : token.size();
}

// None where a value is needed that is not known. A dollar that begins no token is a dollar.
std::optional<std::string> with_tokens(std::string_view entry, const LoaderTokens& tokens) {
    const std::array<std::pair<std::string_view, std::string_view>, 3> k_tokens{
        {{"ORIGIN", tokens.origin}, {"LIB", tokens.lib}, {"PLATFORM", {}}}};
    std::string text;
    for (std::size_t at = 0; at < entry.size(); ++at) {
        text += entry[at];
        if (entry[at] != '$') {
            continue;
        }
        for (const auto& [token, value] : k_tokens) {
            if (const std::size_t length = token_length(entry.substr(at + 1), token)) {
                if (value.empty()) {
                    return std::nullopt;
                }
                text.pop_back();
                text += value;
                at += length;
                break;
            }
        }
    }
    return text;
}

template <class Part>
std::optional<Part> part_at(std::string_view file, std::uint64_t offset) {
    if (offset > file.size() || file.size() - offset < sizeof(Part)) {
        return std::nullopt;
    }
    Part part;
    std::memcpy(&part, file.data() + offset, sizeof part);
    return part;
}

SearchPathTag tag_in(std::string_view file, const Elf64_Phdr& dynamic) {
    bool rpath = false;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.p_filesz;
         at += sizeof(Elf64_Dyn)) {
        const auto entry = part_at<Elf64_Dyn>(file, dynamic.p_offset + at);
        if (!entry || entry->d_tag == DT_NULL) {
            break;
        }
        if (entry->d_tag == DT_RUNPATH) {
            return SearchPathTag::Runpath;
        }
        rpath = rpath || entry->d_tag == DT_RPATH;
    }
    return rpath ? SearchPathTag::Rpath : SearchPathTag::None;
}

} // namespace

LoaderTokens loader_tokens(host::FileSystem& files,
                           const std::optional<facts::EnvironmentFacts>& environment) {
    LoaderTokens tokens;
    if (environment) {
        const auto python = files.real_path(environment->prefix + "/bin/python");
        tokens.origin = python ? python->substr(0, python->rfind('/')) : std::string();
    }
    // Debian's and Ubuntu's ld.so; others differ among themselves.
    const std::string multiarch = "lib/" + environments::machine_name() + "-linux-gnu";
    if (files.exists('/' + multiarch + "/libc.so.6")) {
        tokens.lib = multiarch;
    }
    return tokens;
}

std::vector<std::string> loader_directories(std::string_view list, const std::string& cwd,
                                            const LoaderTokens& tokens) {
    std::vector<std::string> directories;
    if (list.empty()) {
        return directories;
    }
    for (const std::string_view part : split(list, ':')) {
        for (const std::string_view written : split(part, ';')) {
            const auto entry = with_tokens(written, tokens);
            if (!entry) {
                continue;
            }
            if (entry->starts_with('/')) {
                directories.push_back(*entry);
            } else if (cwd.starts_with('/')) {
                directories.push_back(entry->empty() ? cwd
                                      : cwd == "/"   ? '/' + *entry
                                                     : cwd + '/' + *entry);
            }
        }
    }
    return directories;
}

bool loads_here(std::string_view file) {
#if defined(__x86_64__)
    constexpr Elf64_Half k_here = EM_X86_64;
#elif defined(__aarch64__)
    constexpr Elf64_Half k_here = EM_AARCH64;
#else
    constexpr Elf64_Half k_here = EM_NONE; // unknown: any will do
#endif
    const auto machine = part_at<Elf64_Half>(file, offsetof(Elf64_Ehdr, e_machine));
    if (!machine || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0) {
        return true;
    }
    return file[EI_CLASS] == ELFCLASS64 && file[EI_DATA] == ELFDATA2LSB &&
           (k_here == EM_NONE || *machine == k_here);
}

SearchPathTag search_path_tag(std::string_view file) {
    const auto header = part_at<Elf64_Ehdr>(file, 0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
        return SearchPathTag::None;
    }
    for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
        const auto segment = part_at<Elf64_Phdr>(file, header->e_phoff + i * sizeof(Elf64_Phdr));
        if (!segment) {
            break;
        }
        if (segment->p_type == PT_DYNAMIC) {
            return tag_in(file, *segment);
        }
    }
    return SearchPathTag::None;
}

} // namespace cudaenv::probe
