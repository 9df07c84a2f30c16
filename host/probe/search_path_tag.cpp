#include "host/probe/search_path_tag.hpp"

#include <cstdint>
#include <cstring>
#include <elf.h>
#include <optional>

namespace cudaenv::probe {

namespace {

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
