// The libraries of the torch that an environment would import: which there are, and what they
// define. Opened when first asked.
#pragma once

#include "check/extensions/elf_file.hpp"
#include "solver/facts/inventory.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// Mangled names of C++ as the Itanium ABI has them, as far as telling torch's from others' and
// libstdc++'s two std::string from each other needs. Pure text.

// Of c10, at, torch, caffe2, or one of torch's bindings (THPVariable_Wrap).
bool is_symbol_of_torch(std::string_view symbol);

// The same function under the other ABI of std::string. `names`: whole, with or without the tag
// [abi:cxx11]. `beginnings`: up to the first std::string and that other one's, for behind it
// substitutions are numbered otherwise.
struct OtherAbi {
    std::vector<std::string> names;
    std::vector<std::string> beginnings;
};
OtherAbi under_other_abi(std::string_view symbol);

} // namespace cudaenv::extensions
