// The files that a request names with -r, or as a separate argument, read and merged into what is
// asked of the resolver.
#pragma once

#include "base/result.hpp"
#include "daemon/project_of_request.hpp"
#include "protocol/caller.hpp"
#include "solver/facts/host.hpp"
#include "solver/inputs/input.hpp"
#include "solver/resolve/channel.hpp"
#include "solver/resolve/request.hpp"

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::daemon {

struct FilesOfRequest {
    std::vector<std::string> words; // as the user wrote them
    std::vector<inputs::Input> inputs;

    // conda-forge is the only channel that they name.
    [[nodiscard]] bool names_conda_forge_alone() const;
};

// Whether this word names such a file: by its form, not whether it is there.
bool is_file_word(std::string_view word, const protocol::Caller& caller);

// `python` is the Python that the answer is for, "3.11" or "3.11.7"; empty where it is open.
// Errors: those of inputs::read_input, "no-such-file", "cannot-read", "file-too-large",
// "silent-file-system".
Result<FilesOfRequest> files_of(const nlohmann::json& params, const Arguments& arguments,
                                const protocol::Caller& caller, std::string_view python,
                                const std::string& machine);

// Adds what the files ask for to `request`, whose own pins win, and one line to `notes` for what is
// not used.
Result<void> merge_files(const FilesOfRequest& files, const facts::Host& host,
                         resolve::Request& request, std::vector<std::string>& notes);

// What a project's own file says; nothing of it where it cannot be read.
FilesOfRequest manifest_of(const std::string& path);

// conda's torch and its partners as conda-forge's builds of them.
resolve::Request from_conda_forge(resolve::Request request);

// Directories that the files name as channels, absolute. Others are named in `notes`.
std::vector<std::string> local_channels_of(const FilesOfRequest& files,
                                           const protocol::Caller& caller,
                                           std::vector<std::string>& notes);

// Judges the environment markers of what is asked, and leaves out what they exclude. True where one
// depends on a Python that is not known yet: that spec is left out too.
Result<bool> decide_markers(resolve::Request& request, std::string_view python,
                            const std::string& machine, std::vector<std::string>& notes);

// An error of the resolver with its place: the line of the file, or the file where nothing is left
// to ask for.
Error at_file_line(Error error, const FilesOfRequest& files);

// Takes out of `request` what no channel (or the catalogue) has and a file asked for: cudaenv
// answers for the rest. One line to `notes`.
void drop_unknown(resolve::Request& request, const facts::Host& host,
                  std::span<const resolve::Channel* const> channels,
                  std::vector<std::string>& notes);

} // namespace cudaenv::daemon
