// The verdict of an earlier probe: how long it is reported, and what replaces it. Pure.
//
// Law: a probe that looked less far, or left rungs out, takes nothing back of what was found beyond
// or there. What passes hides nothing that does not. docs/probe.md has the table that a test walks.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::probe {

// How far the probe looked. The full ladder begins with the quick one; what was built stands for
// itself and rests on more.
enum class VerdictDepth { Quick, Full, Build };
std::string_view name_of(VerdictDepth depth); // "quick", "full", "build"

struct KeptVerdict {
    std::string verdict; // "ok", "fails": judge::name_of
    std::string step;    // the first rung that failed, else the first that warns; empty: none
    std::string code;    // its
    std::string summary;
    std::int64_t at = 0; // seconds since the epoch
    VerdictDepth depth = VerdictDepth::Quick;
    // Rungs that it skipped though it reached that depth: an earlier failure there stays. Not
    // saved.
    std::vector<std::string> left_out = {};
    // No file shows that its failure was repaired (judge::JudgedStep::of_the_moment).
    bool of_the_moment = false;
};

// "busy", "crashed", "timeout": the next probe may say something else.
bool is_transient(std::string_view verdict);
// "ok" and "warns".
bool is_well(const KeptVerdict& verdict);
// It is reported for an hour, and then ignored.
bool passes(const KeptVerdict& verdict);
inline constexpr std::chrono::hours k_transient_life{1};

// At that time, in seconds since the epoch: not yet there (a clock that was set back), or past.
bool is_out_of_time(const KeptVerdict& verdict, std::int64_t now);
// Of the same environment and shell: `verdict` takes `earlier` back.
bool replaces(const KeptVerdict& verdict, const KeptVerdict& earlier);
// That all is well with what was built is no answer about the ladder: it only takes back.
bool is_worth_keeping(const KeptVerdict& verdict);
// Of two that hold: `verdict` is reported rather than `other`: the worse one; of two equal ones the
// newer.
bool is_worse_than(const KeptVerdict& verdict, const KeptVerdict& other);

} // namespace cudaenv::probe
