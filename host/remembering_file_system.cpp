#include "host/remembering_file_system.hpp"

namespace cudaenv::host {

namespace {

template <typename Key, typename Answer, typename Ask>
const Answer& once(std::map<Key, Answer>& answers, const Key& key, const Ask& ask) {
    const auto found = answers.find(key);
    return found != answers.end() ? found->second : answers.emplace(key, ask()).first->second;
}

} // namespace

Result<std::string> RememberingFileSystem::read_file(const std::string& path, std::size_t limit) {
    return once(m_texts, std::pair(path, limit), [&] { return m_files->read_file(path, limit); });
}

Result<std::vector<std::string>> RememberingFileSystem::list_directory(const std::string& path) {
    return once(m_lists, path, [&] { return m_files->list_directory(path); });
}

Result<std::string> RememberingFileSystem::real_path(const std::string& path) {
    return once(m_real_paths, path, [&] { return m_files->real_path(path); });
}

Result<FileStatus> RememberingFileSystem::status(const std::string& path) {
    return once(m_statuses, path, [&] { return m_files->status(path); });
}

Result<std::string> RememberingFileSystem::read_link(const std::string& path) {
    return once(m_links, path, [&] { return m_files->read_link(path); });
}

std::vector<std::string> RememberingFileSystem::silent(std::span<const std::string> paths) {
    return m_files->silent(paths);
}

} // namespace cudaenv::host
