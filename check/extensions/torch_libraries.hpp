// The libraries of the torch that an environment would import: which there are, and what they
// define. Opened when first asked.
#pragma once

#include "check/extensions/elf_file.hpp"
#include "solver/facts/inventory.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace cudaenv::extensions {

// "libc10.so", "libtorch_cuda.so"; not libtorchvision.so.
bool is_torch_library(std::string_view file_name);

class TorchLibraries {
public:
    explicit TorchLibraries(const facts::Inventory& inventory);

    // No torch was found: nothing is known.
    [[nodiscard]] bool empty() const { return m_libraries.empty(); }
    [[nodiscard]] bool has(std::string_view file_name) const {
        return m_libraries.find(file_name) != m_libraries.end();
    }
    // Empty where a library cannot be read: its symbols are unknown.
    std::optional<bool> define(std::string_view symbol);
    // The same function as torch's libraries have it under the other ABI; empty: they have none.
    std::string defined_under_other_abi(std::string_view symbol);

private:
    struct Library {
        std::string path;
        std::optional<ElfFile> file;
        bool tried = false;
    };
    void add_directory(const std::string& directory);
    static ElfFile* opened(Library& library);

    std::map<std::string, Library, std::less<>> m_libraries; // by file name
};

} // namespace cudaenv::extensions
