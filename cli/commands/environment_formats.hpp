// Variables as files that others read. Pure.
#pragma once

#include "base/result.hpp"
#include "solver/plan/activation/patch.hpp"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace cudaenv::cli {

// A .env file that docker, docker compose and python-dotenv read alike: NAME=value without quotes,
// because docker takes quotes for part of the value. Error "no-dotenv": a
// value that no such line can say (a line end, `$`, white space at an end, ...).
Result<std::string> dotenv_text(std::span<const plan::SetVariable> values);

// What a step of GitHub Actions appends to the files that GITHUB_ENV and GITHUB_PATH name.
struct GithubText {
    std::string environment;
    std::string path; // the runner puts each line before PATH, the last one first
};
// `front` are the directories put before PATH. The journal is left out; what is to be unset cannot
// be said there, and is not. Error "no-github": a directory with a line end.
Result<GithubText> github_text(std::span<const plan::SetVariable> values,
                               const std::vector<std::string>& front);

} // namespace cudaenv::cli
