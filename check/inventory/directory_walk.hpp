// Coming from one directory of an environment to the next, with each opened as seen from the one
// above it: some thousand of them, of long paths that begin alike. Law: nothing is read but links,
// and a directory counts as outside where a link on the way leads out of the environment.
#pragma once

#include "base/fd.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::inventory {

enum class Way {
    Inside,
    Outside,    // beneath a link that leads out, or may, for it cannot be followed
    Absent,     // it is not there, or something on the way is no directory
    Unreadable, // may not be entered; a circle of links
};

// One for each thread. Cheapest where directories come sorted.
class DirectoryWalk {
public:
    // `prefix` as whoever asks calls it; `real_prefix` without symlinks, empty where not known.
    DirectoryWalk(std::string prefix, std::string real_prefix);

    // `directory`: of a claim, relative to the prefix ("" is the prefix), without "." and "..".
    Way go_to(std::string_view directory);
    // Of the directory gone to, which is Inside; good until the next call. It need not be readable.
    [[nodiscard]] int fd() const { return m_steps.back().fd.get(); }

private:
    struct Step {
        std::string name;
        Fd fd;
        Way way = Way::Inside;
    };

    [[nodiscard]] Step step_from(const Step& above, std::string_view name) const;
    [[nodiscard]] std::string target_of(int above, const char* link) const;
    [[nodiscard]] Way way_to(const std::string& target) const;

    std::string m_real_prefix;
    std::vector<Step> m_steps; // the prefix, then one for each component
};

// Where an open file is, by /proc; empty where that does not say.
std::string path_of_open(int fd);

} // namespace cudaenv::inventory
