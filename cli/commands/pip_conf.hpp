// pip's own configuration file of an environment (PREFIX/pip.conf, its "site" file) as text, with a
// block of ours that names a constraints file. Pure.
//
// Law: without_constraint(with_constraint(t, ...)) == t for every t without a block; pip reads the
// user's options the same before, meanwhile and afterwards.
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

// `options`: one option a line, for [global]: at the end of that section if it exists, since pip
// rejects a file with the section twice. `comment`: whole lines.
// Error "broken-block".
Result<std::string> with_constraint(std::string_view text, std::string_view comment,
                                    const std::vector<std::string>& options);
// Lines after the block keep their section. `pip config set` rewrites the file without comments,
// and so without the block's marks; then the options that name `value` are removed.
Result<std::string> without_constraint(std::string_view text, std::string_view value);

// The path for pip.conf, where pip splits at spaces: as it is, or as a file: URL. Nothing if
// neither works: a name that is not UTF-8.
std::optional<std::string> pip_path(std::string_view path);

} // namespace cudaenv::cli
