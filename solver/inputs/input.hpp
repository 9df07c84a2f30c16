// What a file that lists dependencies asks for: requirements.txt, environment.yml, pyproject.toml
// or pixi.toml as one value. Pure: files come through `ReadFile`.
//
// Law: each line of the file is in the value, in a note or in an error; an error names file, line
// and column. What holds on other systems or Pythons only is left out.
#pragma once

#include "base/result.hpp"
#include "solver/inputs/target.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::inputs {

// A text of the file and where it stands: "requirements.txt line 3".
struct Entry {
    std::string text;
    std::string origin;
    bool of_conda = false; // a conda dependency
};

struct Input {
    // MatchSpecs and requirements. A marker is there only where it depends on a Python that is not
    // known.
    std::vector<Entry> wanted;
    std::vector<Entry> bounds;  // of constraints files: for what is installed anyway
    std::vector<Entry> pythons; // PEP 440 specifiers, all of which hold: requires-python
    // "12.1", or "cpu": the builds that an index of PyTorch's has, where the file names one.
    std::optional<Entry> index_label;
    // What a pixi workspace expects of the machine: the CUDA of its driver, its glibc.
    std::optional<Entry> driver_cuda;
    std::optional<Entry> glibc;
    std::vector<Entry> channels; // conda's, as written
    std::vector<Entry> indexes;  // of pip, without a label: URLs and directories
    std::vector<std::string> notes;
    bool is_pips = false; // requirements.txt or pyproject.toml: pip's words alone
};

// The text of a file; `path` is the path of the file that was given, or one below its directory.
// Error "file-not-found" where there is none.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;

// Files that a directory stands for, the first that is there.
std::span<const std::string_view> input_file_names();
// Is this word of the command line meant as such a file? By its ending; not whether it is there.
bool is_input_name(std::string_view word);

// `word`: a path as the user wrote it, and extras or dependency groups in brackets:
// "pyproject.toml[gpu]". The kind follows from the name, then from the content. Errors:
// "bad-requirement", "bad-spec", "bad-yaml", "bad-toml", "bad-value", "unknown-extra",
// "not-an-input-file", "no-dependencies", and those of `read`.
Result<Input> read_input(std::string_view word, const ReadFile& read, const Target& target);

// "requirements.txt[gpu]" as path and words.
struct InputWord {
    std::string path;
    std::vector<std::string> extras; // normalized
};
InputWord split_input_word(std::string_view word);

} // namespace cudaenv::inputs
