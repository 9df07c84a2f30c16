// pip's own configuration file of an environment (PREFIX/pip.conf, its "site" file) as text, with a
// block of ours that names a constraints file. Pure.
//
// Law: without_constraint(with_constraint(t, ...)) == t for every t without a block; what pip reads
// besides our options is the same before, meanwhile and afterwards.
#pragma once

#include "base/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::cli {

// An option as pip names it, outside of our block.
struct PipOption {
    std::string section; // "global", "install"
    std::string name;    // "constraint"
    std::string value;   // of its first line
    int line = 0;
};
std::vector<PipOption> pip_options(std::string_view text);

// `options`: lines of one option each, into [global]: at the end of that section where it is there,
// for pip refuses a file that has it twice. `comment`: whole lines.
// Error "broken-block".
Result<std::string> with_constraint(std::string_view text, std::string_view comment,
                                    const std::vector<std::string>& options);
// What stands behind the block keeps its section. Where `pip config set` wrote the file anew, which
// takes out comments and with them the block's marks: the options that name `value` are taken out.
Result<std::string> without_constraint(std::string_view text, std::string_view value);

// As pip.conf has to have the path, which pip would split at spaces: as it is, or a file: URL.
// Nothing where neither says it: a name that is no UTF-8.
std::optional<std::string> pip_path(std::string_view path);

} // namespace cudaenv::cli
