// A directory for one test, gone afterwards, and ways to look at it as somebody else.
#pragma once

#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

class Scratch {
public:
    Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch();

    [[nodiscard]] const std::string& path() const { return m_path; } // symlinks resolved
    [[nodiscard]] std::string path(const std::string& name) const { return m_path + '/' + name; }
    // Makes the directories above too.
    std::string write(const std::string& name, const std::string& text) const;
    std::string make_directory(const std::string& name) const;
    [[nodiscard]] std::string read(const std::string& name) const;
    [[nodiscard]] std::vector<std::string>
    names(const std::string& directory = ".") const; // sorted

private:
    std::string m_path;
};

bool is_root();
// Gives all of `path` to `owner`.
void give(const std::string& path, uid_t owner);

// Runs `work` in a child process, as `user` where that is not this one, and returns what it
// returned. Root reads and writes everything: tests of permissions drop to another uid.
inline constexpr uid_t k_nobody = 65534;
std::string in_child(const std::function<std::string()>& work, uid_t user);
// The same in a mount namespace of its own; "skip: ..." where there can be none.
std::string in_mount_namespace(const std::function<std::string()>& work);
