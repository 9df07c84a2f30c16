// A FileSystem that remembers what was asked of it and what the answers rested on, so that a value
// computed from files can be kept and known to be right later: every answer is checked again, which
// costs one `stat` or so each, where computing the value costs reading.
//
// Law: while `hold` says true, every question that was asked would be answered the same way again
// (as far as modification times, sizes and inodes tell).
#pragma once

#include "host/file_system.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace cudaenv::observed {

enum class Question { Contents, Status, RealPath, Link };

struct Observation {
    Question question = Question::Status;
    std::string path;
    std::string answer; // what must be the same again
};

struct Observations {
    std::vector<std::string> answering; // silent, they would keep whoever checks the rest waiting
    std::vector<Observation> seen;
};

class RecordingFileSystem final : public host::FileSystem {
public:
    explicit RecordingFileSystem(host::FileSystem& files) : m_files(&files) {}

    Result<std::string> read_file(const std::string& path, std::size_t limit) override;
    Result<std::vector<std::string>> list_directory(const std::string& path) override;
    Result<std::string> real_path(const std::string& path) override;
    Result<host::FileStatus> status(const std::string& path) override;
    Result<std::string> read_link(const std::string& path) override;
    std::vector<std::string> silent(std::span<const std::string> paths) override;

    [[nodiscard]] Observations observations() const;
    // Of the files and directories that were asked for: the newest modification time, nanoseconds
    // since the epoch; 0 without one.
    [[nodiscard]] std::int64_t newest() const { return m_newest; }
    // Whether something was silent: what was found then does not rest on files.
    [[nodiscard]] bool met_silence() const { return m_met_silence; }

private:
    void record(Question question, const std::string& path);

    host::FileSystem* m_files;
    std::map<std::pair<Question, std::string>, std::string> m_seen;
    std::vector<std::string> m_answering; // those of which it was asked whether they answer
    std::int64_t m_newest = 0;
    bool m_met_silence = false;
};

bool hold(host::FileSystem& files, const Observations& observations);

} // namespace cudaenv::observed
