// Another file system, asked each question once: for one request, whose parts rest on the same
// files and are to be of one moment. Not safe to use from several threads.
#pragma once

#include "host/file_system.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cudaenv::host {

class RememberingFileSystem final : public FileSystem {
public:
    explicit RememberingFileSystem(FileSystem& files) : m_files(&files) {}

    Result<std::string> read_file(const std::string& path, std::size_t limit) override;
    Result<std::vector<std::string>> list_directory(const std::string& path) override;
    Result<std::string> real_path(const std::string& path) override;
    Result<FileStatus> status(const std::string& path) override;
    Result<std::string> read_link(const std::string& path) override;
    std::vector<std::string> silent(std::span<const std::string> paths) override;

private:
    FileSystem* m_files;
    std::map<std::pair<std::string, std::size_t>, Result<std::string>> m_texts;
    std::map<std::string, Result<std::vector<std::string>>> m_lists;
    std::map<std::string, Result<std::string>> m_real_paths;
    std::map<std::string, Result<FileStatus>> m_statuses;
    std::map<std::string, Result<std::string>> m_links;
};

} // namespace cudaenv::host
