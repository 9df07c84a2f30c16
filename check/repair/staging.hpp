// Where a repair makes what it will put into an environment: a directory in the prefix, on the same
// file system, so that each file comes into place whole or not at all. Law: one repair of an
// environment at a time; what an interrupted one left is gone when the next begins.
#pragma once

#include "base/fd.hpp"
#include "base/prefix_directory.hpp"
#include "base/result.hpp"

#include <memory>
#include <string>
#include <vector>

namespace cudaenv::repair {

// Everything below, and itself; links are taken away, not followed. 0, or an errno.
int remove_tree(int directory, const std::string& name);

class Staging {
public:
    static constexpr const char* k_name = ".cudaenv-fix";

    // Codes: "busy" where another repair is at work, and those of failed_on.
    static Result<std::unique_ptr<Staging>> begin(const PrefixDirectory& prefix);
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;
    ~Staging();

    [[nodiscard]] int fd() const { return m_fd.get(); }
    // Not used yet.
    std::string new_name() { return std::to_string(++m_count); }
    // Puts the staged file or link in the place of what lies there; the directory is made.
    Result<void> put(const std::string& staged, const std::string& path);
    // Takes a file or a whole directory out of the environment at once.
    Result<void> take_away(const std::string& path);
    // Everything is as before the first put() and take_away(), as far as it can be: the first error
    // is returned, and the rest is done. What was replaced and taken away lies here until then.
    Result<void> take_back();

private:
    Staging(const PrefixDirectory& prefix, Fd fd) : m_prefix(&prefix), m_fd(std::move(fd)) {}

    // With what a change is undone; both empty: nothing lay there.
    struct Change {
        std::string path;
        std::string before; // its name here
        std::string beside; // where a directory is that another file system holds
    };
    Result<void> take_back(const Change& change);
    Result<std::string> keep_before(const Place& place, const std::string& path);
    Result<void> place_staged(const std::string& staged, const std::string& path);

    const PrefixDirectory* m_prefix;
    Fd m_fd;
    unsigned m_count = 0;
    std::vector<Change> m_changes;
};

} // namespace cudaenv::repair
