// What the file name of a compiled Python module says. Pure text.
#pragma once

#include <string>
#include <string_view>

namespace cudaenv::rules {

// "cpython-311-x86_64-linux-gnu" of apex_C.cpython-311-x86_64-linux-gnu.so, "abi3" of x.abi3.so;
// empty for x.so and for libx.so.1.
std::string_view python_tag_of(std::string_view file_name);
// "3.11" of a tag; empty of one that is of no single CPython ("abi3", "pypy39-pp73").
std::string python_of_tag(std::string_view tag);
// "3.11" of lib/python3.11/site-packages; empty where the path does not tell (python3).
std::string python_of_site(std::string_view site);
// The path up to what the name of the module itself ends with: "a/apex_C".
std::string_view module_stem(std::string_view path);

} // namespace cudaenv::rules
