// The verdict of an earlier probe: how long it is reported, and what replaces it. Pure.
//
// Law: a probe that went less far, or skipped rungs, replaces no result beyond that depth or of
// those rungs. A temporary verdict hides no lasting one. A test checks every cell of the tables in
// docs/probe.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::probe {

// How far the probe went. The full ladder includes the quick one. A build is independent of both,
// and depends on more.
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

// At that time, in seconds since the epoch: in the future (a clock was set back), or expired.
bool is_out_of_time(const KeptVerdict& verdict, std::int64_t now);
// Of the same environment and shell: `verdict` replaces `earlier`.
bool replaces(const KeptVerdict& verdict, const KeptVerdict& earlier);
// A good verdict of a build says nothing about the ladder: it only deletes a stored failure.
bool is_worth_keeping(const KeptVerdict& verdict);
// Of two that hold: `verdict` is reported rather than `other`: the worse one; of two equal ones the
// newer.
bool is_worse_than(const KeptVerdict& verdict, const KeptVerdict& other);

} // namespace cudaenv::probe
