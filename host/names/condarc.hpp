// A condarc file as far as names of environments need it: the list `envs_dirs`, with conda's marks.
// Pure. Law: what YAML would not accept, or what this reader does not know, is an error with its
// line, never a shorter list.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::names {

// In a comment behind a key or an item: #!final, #!top, #!bottom.
enum class CondarcMark { None, Final, Top, Bottom };

struct CondarcItem {
    std::string text; // as written: ~ and $NAME are not expanded
    CondarcMark mark = CondarcMark::None;
};

// Of one source: a file, or a variable of the environment.
struct CondarcList {
    std::vector<CondarcItem> items;
    CondarcMark mark = CondarcMark::None;
};

// `envs_dirs` or its other name `envs_path`; empty where the file has neither. Error:
// "bad-condarc", with a line.
Result<CondarcList> parse_condarc(std::string_view text);

// What conda makes of several sources, weakest first: the strongest source's items come first; what
// is marked goes to the top or the bottom; a source marked final is the last that counts.
std::vector<std::string> merge_condarc(const std::vector<CondarcList>& sources);

} // namespace cudaenv::names
