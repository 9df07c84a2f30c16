// Mangled names of C++ as the Itanium ABI has them, as far as telling torch's from others' and
// libstdc++'s two std::string from each other needs. Pure text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::extensions {

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
