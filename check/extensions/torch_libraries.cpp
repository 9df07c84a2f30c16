#include "check/extensions/torch_libraries.hpp"

#include "check/extensions/cxx_abi.hpp"
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

} // namespace cudaenv::extensions
