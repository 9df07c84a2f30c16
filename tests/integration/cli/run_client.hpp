// Runs the real client against the real daemon, in a home and a directory of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace cudaenv::test {

struct Ran {
    int status = -1; // 128 + signal where a signal ended it
    std::string out;
    std::string err;
};

class Client {
public:
    Client();
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    // `before` stands before the client: {"strace", "-c", ...}. The environment is only
    // `environment`.
    [[nodiscard]] Ran run(const std::vector<std::string>& arguments, const std::string& input = {},
                          const std::vector<std::string>& before = {}) const;
    // The same with file descriptor `fd` closed.
    [[nodiscard]] Ran run_without(int fd, const std::vector<std::string>& arguments) const;

    std::map<std::string, std::string> environment;
    std::string directory; // current one, absolute

private:
    [[nodiscard]] Ran start(const std::vector<std::string>& words, const std::string& input,
                            int closed) const;
};

std::string read_file(const std::string& path);
void write_file(const std::string& path, const std::string& text);

} // namespace cudaenv::test
