// The files of one environment by their paths in it. Law: nothing is reached that does not lie
// below the prefix when all symlinks are followed, and a path's last name is never followed.
#pragma once

#include "base/fd.hpp"
#include "base/result.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <sys/stat.h>

namespace cudaenv {

// Relative, and no component of it is empty, "." or "..".
bool is_inner_path(std::string_view path);

// What an errno means here: codes of failed_call, and "no-space". `path` is in the message.
tl::unexpected<Error> failed_on(int error, std::string_view what, const std::string& path);

// Where a file lies: the open directory and its name there.
struct Place {
    Fd directory;
    std::string name;

    // None where there is nothing.
    [[nodiscard]] std::optional<struct stat> status() const;
};

class PrefixDirectory {
public:
    // Absolute. Fails where it is no directory that can be opened.
    static Result<PrefixDirectory> open(const std::string& prefix);

    // Codes: "not-found" where its directory is not there, "outside" where that is elsewhere.
    [[nodiscard]] Result<Place> place(const std::string& path) const;
    // The same, its directory made where it is not there.
    [[nodiscard]] Result<Place> make_place(const std::string& path) const;
    // Whether files may come and go in the directory ("" is the prefix).
    [[nodiscard]] bool is_writable(const std::string& directory) const;
    // Takes the directory away where it is empty, then the one above, up to and without `last`.
    void remove_empty(std::string directory, const std::string& last) const;

    [[nodiscard]] int fd() const { return m_fd.get(); }
    [[nodiscard]] const std::string& path() const { return m_path; }
    [[nodiscard]] const std::string& real_path() const { return m_real; }

private:
    [[nodiscard]] bool is_inside(int directory) const;

    Fd m_fd;
    std::string m_path;
    std::string m_real;
};

} // namespace cudaenv
