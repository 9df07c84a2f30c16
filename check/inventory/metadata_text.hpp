// The files beside RECORD in a dist-info: METADATA (PKG-INFO of an egg-info), WHEEL,
// direct_url.json, and requires.txt of an egg-info. Pure text; what is odd is passed over, as
// Python does.
#pragma once

#include "base/result.hpp"
#include "check/inventory/claimed_path.hpp"
#include "solver/facts/inventory.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::inventory {

// The headers are read and the description behind them is not: the largest seen (a package with
// every extra of a large project) are 300 KiB.
inline constexpr std::size_t k_longest_headers = std::size_t{4} << 20U;

// Where the headers end, the empty line included; npos where `text` does not come to it. `from`: up
// to where it is known that they do not.
std::size_t end_of_headers(std::string_view text, std::size_t from = 0);

struct MetadataText {
    std::string name;
    std::string version;
    std::vector<std::string> requires_dist; // a folded one on one line
};

MetadataText parse_metadata(std::string_view text);

struct WheelText {
    std::string generator;
    std::vector<std::string> tags;
};

WheelText parse_wheel(std::string_view text);

// "[extra:marker]" and names below it, as Requires-Dist has them.
std::vector<std::string> parse_requires_txt(std::string_view text);

// Left by conda-build or rattler-build: "file:///home/conda/feedstock_root/build_artifacts/
// numpy_1700000000000/work", whose directory is another machine's. pip, which does not know it,
// lets it stay where it installs the same version over conda's.
bool is_of_conda_build(const facts::DirectUrl& direct_url);
Result<facts::DirectUrl> parse_direct_url(std::string_view text);

// How an environment leads to source elsewhere: .pth files and egg-links. Pure text.
struct PathFileText {
    std::vector<std::string> directories; // absolute
    std::vector<std::string> finders;     // modules imported whose name says "editable"
};

// As Python's site module reads it: a line is a directory, seen from `site`, or begins with
// "import" and is run.
PathFileText parse_path_file(std::string_view text, std::string_view site, ClaimedPaths& paths);

// The directory that an egg-link names, absolute; empty where it names none.
std::string parse_egg_link(std::string_view text, std::string_view site, ClaimedPaths& paths);

} // namespace cudaenv::inventory
