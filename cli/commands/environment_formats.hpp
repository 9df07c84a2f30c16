// Variables as files that others read. Pure.
#pragma once

#include "base/result.hpp"
#include "shellhooks/patch/patch.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace cudaenv::cli {

// A .env file that docker, docker compose and python-dotenv read alike: NAME=value without quotes,
// because docker takes quotes for part of the value. Error "no-dotenv": a
// value that no such line can say (a line end, `$`, white space at an end, ...).
Result<std::string> dotenv_text(std::span<const patch::SetVariable> values);

// What a step of GitHub Actions appends to the files that GITHUB_ENV and GITHUB_PATH name.
struct GithubText {
    std::string environment;
    std::string path; // the runner puts each line before PATH, the last one first
};
// `front`: directories put before PATH. Without the journal, and without variables to unset, which
// these files cannot express. Error "no-github": a directory with a newline.
Result<GithubText> github_text(std::span<const patch::SetVariable> values,
                               const std::vector<std::string>& front);

} // namespace cudaenv::cli
