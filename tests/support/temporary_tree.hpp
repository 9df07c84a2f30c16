// A directory of a test's own, gone with it; and a body of code run as another user, since for root
// nothing is unreadable.
#pragma once

#include <functional>
#include <string>

namespace cudaenv::test {

class TemporaryTree {
public:
    TemporaryTree();
    TemporaryTree(const TemporaryTree&) = delete;
    TemporaryTree& operator=(const TemporaryTree&) = delete;
    ~TemporaryTree();

    [[nodiscard]] const std::string& path() const { return m_path; }
    // Each creates the parents too and returns the whole path.
    std::string file(const std::string& relative, const std::string& content,
                     unsigned mode = 0644) const;
    std::string link(const std::string& relative, const std::string& target) const;
    std::string directory(const std::string& relative) const;

private:
    std::string m_path;
};

// Runs `body` in a child that is user 65534, and gives back what it returns. Skips the test where
// this process may not change its user.
std::string as_nobody(const std::function<std::string()>& body);

} // namespace cudaenv::test
