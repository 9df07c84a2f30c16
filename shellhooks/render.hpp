// What a shell evaluates to carry out changes, and to know later whether anything may have changed.
// Pure.
//
// Law: evaluating render_changes in the shell makes exactly those changes to its environment,
// whatever the bytes of the values, also under `set -eu`, noclobber, posix mode and with odd IFS;
// and changes no other state of the shell.
#pragma once

#include "shellhooks/shell.hpp"
#include "solver/plan/activation/patch.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cudaenv::shellhooks {

std::string render_changes(Shell shell, std::span<const plan::Change> changes);

// What a shell compares at its prompt; as long as all of it holds, nothing is to be done.
struct WatchedFile {
    std::string path;
    bool exists = false;       // it did; else its appearing is what is watched for
    std::string stamp;         // a file with the same modification time (bash); empty: none
    long long modified_ns = 0; // 0: not known, so that it has changed
    // What has to be seen at least; to see more is right as well. bash pays 4 microseconds at every
    // prompt for another time, 2 for a newer one (directories: the kernel only ever sets them to
    // now) and 1 for existence. WhereFree: bash and zsh leave it out; the others compare times by
    // themselves, at no price that is felt.
    enum class Seen { Time, Newer, Existence, WhereFree } seen = Seen::Time;
    // Files a nanosecond older and newer (zsh, where -nt is false of a file that is not there, so
    // that it need not be looked for besides).
    std::string stamp_before{};
    std::string stamp_after{};
};
struct Watch {
    std::string directory;               // $PWD
    std::vector<plan::Change> variables; // name and value, no value: unset
    std::vector<WatchedFile> files;
    // The question that was waited for in vain, one plain word, for `cudaenv prompt --waited`;
    // empty: none. The shell keeps it until the next answer.
    std::string waited{};
};
// Defines what the hook asks at each prompt: for bash and zsh the function `__cudaenv_stale`
// (builtins only; true when anything differs); for the others a variable that is not exported, which
// xonsh compares itself and fish and tcsh hand back to `cudaenv prompt --watch`.
std::string render_watch(Shell shell, const Watch& watch);

// The same watch as one word for `--watch`, and its reading back. Letters, digits and _ . / + - : ,
// = % ; only.
std::string write_watch(const Watch& watch);
std::optional<Watch> read_watch(std::string_view text);

} // namespace cudaenv::shellhooks
