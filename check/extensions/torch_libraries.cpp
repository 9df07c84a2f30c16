#include "check/extensions/torch_libraries.hpp"

#include "base/ascii.hpp"
#include "host/file_system.hpp"

#include <array>

namespace cudaenv::extensions {

namespace {

constexpr std::array<std::string_view, 9> k_names = {
    "libc10.",        "libc10_cuda.",   "libc10_hip.",   "libtorch.",       "libtorch_cpu.",
    "libtorch_cuda.", "libtorch_cuda_", "libtorch_hip.", "libtorch_python."};

// Whatever of torch's might define what a module asks for; libtorchvision.so does no harm.
bool may_define(std::string_view file_name) {
    return file_name.find(".so") != std::string_view::npos &&
           (file_name.starts_with("libtorch") || file_name.starts_with("libc10") ||
            file_name.starts_with("libcaffe2") || file_name.starts_with("libshm."));
}

constexpr std::string_view k_new_string = "NSt7__cxx1112basic_string";
constexpr std::string_view k_old_string = "Ss";
constexpr std::string_view k_tag = "B5cxx11";

// What follows _Z, _ZN, _ZNK, _ZTV, _ZTIN, _ZGVN: the first name.
std::string_view first_name(std::string_view symbol) {
    symbol.remove_prefix(2);
    for (const std::string_view special : {"TV", "TI", "TS", "TT", "GV", "GR", "Th", "Tv"}) {
        if (symbol.starts_with(special)) {
            symbol.remove_prefix(2);
            break;
        }
    }
    if (symbol.starts_with('N')) {
        symbol.remove_prefix(1);
        while (!symbol.empty() &&
               (symbol.front() == 'K' || symbol.front() == 'V' || symbol.front() == 'r' ||
                symbol.front() == 'R' || symbol.front() == 'O')) {
            symbol.remove_prefix(1);
        }
    }
    return symbol;
}

} // namespace

bool is_torch_library(std::string_view file_name) {
    for (const auto name : k_names) {
        if (file_name.starts_with(name)) {
            return file_name.find(".so") != std::string_view::npos;
        }
    }
    return false;
}

TorchLibraries::TorchLibraries(const facts::Inventory& inventory) {
    const auto absolute = [&](const std::string& path) {
        return path.starts_with('/') ? path : inventory.prefix + '/' + path;
    };
    for (const auto& site : inventory.sites) {
        add_directory(absolute(site) + "/torch/lib");
    }
    for (const auto& distribution : inventory.distributions) {
        if (distribution.name != "torch") {
            continue;
        }
        if (distribution.direct_url && !distribution.direct_url->local_directory.empty()) {
            add_directory(distribution.direct_url->local_directory + "/torch/lib");
        }
        if (!distribution.source_directory.empty()) {
            add_directory(absolute(distribution.source_directory) + "/torch/lib");
        }
    }
    for (const auto& site : inventory.base_sites) {
        add_directory(site + "/torch/lib");
    }
    if (inventory.conda_prefix) {
        add_directory(inventory.prefix + "/lib"); // conda-forge's libtorch
    }
}

void TorchLibraries::add_directory(const std::string& directory) {
    host::DiskFileSystem files;
    const auto names = files.list_directory(directory);
    if (!names) {
        return;
    }
    for (const auto& name : *names) {
        if (may_define(name)) {
            // Of two places the first is imported; what only the other has is not missed either.
            m_libraries.try_emplace(name, Library{directory + '/' + name, {}, false});
        }
    }
}

ElfFile* TorchLibraries::opened(Library& library) {
    if (!library.tried) {
        library.tried = true;
        if (auto file = ElfFile::open(library.path)) {
            library.file = std::move(*file);
        }
    }
    return library.file ? &*library.file : nullptr;
}

std::optional<bool> TorchLibraries::define(std::string_view symbol) {
    bool is_known = true;
    for (auto& [name, library] : m_libraries) {
        const auto* const file = opened(library);
        if (file == nullptr) {
            is_known = false;
        } else if (file->defines(symbol)) {
            return true;
        }
    }
    return is_known ? std::optional(false) : std::nullopt;
}

std::string TorchLibraries::defined_under_other_abi(std::string_view symbol) {
    const auto other = under_other_abi(symbol);
    for (auto& [name, library] : m_libraries) {
        const auto* const file = opened(library);
        if (file == nullptr) {
            continue;
        }
        for (const auto& candidate : other.names) {
            if (file->defines(candidate)) {
                return candidate;
            }
        }
        for (const auto& beginning : other.beginnings) {
            if (auto found = file->defined_with_beginning(beginning); !found.empty()) {
                return found;
            }
        }
    }
    return {};
}

bool is_symbol_of_torch(std::string_view symbol) {
    if (!symbol.starts_with("_Z")) {
        return false;
    }
    const auto name = first_name(symbol);
    for (const std::string_view space : {"3c10", "2at", "5torch", "6caffe2"}) {
        if (name.starts_with(space)) {
            return true;
        }
    }
    auto own = name;
    while (!own.empty() && is_digit(own.front())) {
        own.remove_prefix(1);
    }
    return own.size() < name.size() && own.starts_with("THP");
}

OtherAbi under_other_abi(std::string_view symbol) {
    OtherAbi other;
    if (const auto at = symbol.find(k_new_string); at != std::string_view::npos) {
        other.beginnings.push_back(std::string(symbol.substr(0, at)) + std::string(k_old_string));
    } else {
        for (auto old = symbol.find(k_old_string); old != std::string_view::npos;
             old = symbol.find(k_old_string, old + 1)) {
            other.beginnings.push_back(std::string(symbol.substr(0, old)) +
                                       std::string(k_new_string));
        }
    }
    if (const auto at = symbol.find(k_tag); at != std::string_view::npos) {
        other.names.emplace_back(symbol);
        other.names.back().erase(at, k_tag.size());
    } else if (symbol.starts_with("_ZN")) {
        // The tag stands behind the function's own name, which ends the nested one.
        for (auto close = symbol.find('E'); close != std::string_view::npos;
             close = symbol.find('E', close + 1)) {
            other.names.push_back(std::string(symbol.substr(0, close)) + std::string(k_tag) +
                                  std::string(symbol.substr(close)));
        }
    }
    return other;
}

} // namespace cudaenv::extensions
