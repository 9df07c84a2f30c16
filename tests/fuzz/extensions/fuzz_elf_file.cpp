// Any bytes as a compiled module or a shared library: read or refused, and what is read of it are
// whole names.
#include "check/extensions/elf_file.hpp"
#include "check/extensions/torch_libraries.hpp"
#include "host/probe/loader_directories.hpp"
#include "tests/fuzz/require.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace cudaenv;
    std::vector<char> bytes(data, data + size);
    const std::string_view text(bytes.data(), bytes.size());
    require(probe::loads_here(text) == probe::loads_here(text.substr(0, probe::k_head_that_tells)));
    static_cast<void>(probe::search_path_tag(text));
    const auto file = extensions::ElfFile::of_bytes(bytes);
    if (!file) {
        require(!file.error().message.empty());
        return 0;
    }
    for (const auto& needed : file->needed()) {
        require(!needed.empty() && needed.find('\0') == std::string::npos);
    }
    using namespace std::string_view_literals;
    require(!file->defines("no\0name"sv)); // names end at a zero
    require(file->defined_with_beginning("no\0name"sv).empty());
    (void)file->defines("_ZN3c106servedEv");
    if (const auto wanted = file->undefined_symbols()) {
        for (const auto& name : *wanted) {
            require(!name.empty() && name.find('\0') == std::string::npos);
            (void)extensions::is_symbol_of_torch(name);
            for (const auto& other : extensions::under_other_abi(name).names) {
                require(other != name);
            }
        }
    }
    return 0;
}
