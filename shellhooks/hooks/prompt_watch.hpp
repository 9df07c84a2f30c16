// What a shell compares at its prompt to know whether anything may have changed. Pure.
#pragma once

#include "shellhooks/patch/patch.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::hooks {

struct WatchedFile {
    std::string path;
    bool exists = false;       // when the answer was made; a change of it is a difference
    std::string stamp;         // a file with the same modification time (bash); may be empty
    long long modified_ns = 0; // 0: unknown, which counts as changed
    // The least that must be noticed; noticing more is right as well. At every prompt bash pays 4
    // microseconds for a different time, 2 for a newer one (enough for directories: the kernel only
    // ever sets their times to now) and 1 for existence. WhereFree: bash and zsh leave the file
    // out; the others compare times themselves, at no noticeable cost.
    enum class Seen { Time, Newer, Existence, WhereFree } seen = Seen::Time;
    // Files a nanosecond older and newer. In zsh -nt is false for a missing file, so these two
    // comparisons also cover existence.
    std::string stamp_before{};
    std::string stamp_after{};
};
// Nothing needs doing as long as all of it holds.
struct Watch {
    std::string directory;                // $PWD
    std::vector<patch::Change> variables; // name and value, no value: unset
    std::vector<WatchedFile> files;
    // One plain word for `cudaenv prompt --waited`: the question that timed out; empty: none did.
    // The shell keeps it in `__cudaenv_waited` until the next answer.
    std::string waited{};
};

// The same watch as one word for `--watch`, and its reading back. Letters, digits and _ . / + - : ,
// = % ; only.
std::string write_watch(const Watch& watch);
std::optional<Watch> read_watch(std::string_view text);

} // namespace cudaenv::hooks
