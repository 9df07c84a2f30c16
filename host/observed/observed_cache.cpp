#include "host/observed/observed_cache.hpp"

#include "base/text.hpp"

namespace cudaenv::observed {

namespace {

// Files that the kernel makes up have no modification time worth the name; they are small, and
// compared by what they say.
bool is_made_up(const std::string& path) {
    return path.starts_with("/proc/") || path.starts_with("/sys/");
}

std::string identity_of(const host::FileStatus& status) {
    return std::to_string(static_cast<int>(status.kind)) + ' ' + std::to_string(status.device) +
           ' ' + std::to_string(status.inode) + (status.executable ? " x" : "");
}

std::string answer_to(host::FileSystem& files, Question question, const std::string& path) {
    switch (question) {
    case Question::Contents: {
        if (is_made_up(path)) {
            if (const auto names = files.list_directory(path)) {
                return join(*names, "/");
            }
            const auto text = files.read_file(path);
            return text ? *text : text.error().code;
        }
        const auto status = files.status(path);
        return status ? identity_of(*status) + ' ' + std::to_string(status->size) + ' ' +
                            std::to_string(status->modified_ns)
                      : status.error().code;
    }
    case Question::Status: {
        // Of a directory only that it is there: what happens inside it was not asked about.
        const auto status = files.status(path);
        if (!status) {
            return status.error().code;
        }
        return status->kind == host::FileKind::Directory || is_made_up(path)
                   ? identity_of(*status)
                   : identity_of(*status) + ' ' + std::to_string(status->size) + ' ' +
                         std::to_string(status->modified_ns);
    }
    case Question::RealPath: {
        const auto real = files.real_path(path);
        return real ? '/' + *real : real.error().code;
    }
    case Question::Link:
        break;
    }
    const auto target = files.read_link(path);
    return target ? '/' + *target : target.error().code;
}

} // namespace

void RecordingFileSystem::record(Question question, const std::string& path) {
    const auto [place, fresh] = m_seen.try_emplace({question, path});
    if (fresh) {
        place->second = answer_to(*m_files, question, path);
        if (question == Question::Contents && !is_made_up(path)) {
            if (const auto status = m_files->status(path)) {
                m_newest = std::max(m_newest, status->modified_ns);
            }
        }
    }
}

// Recorded before it is read: a change between the two shows as a difference later.
Result<std::string> RecordingFileSystem::read_file(const std::string& path, std::size_t limit) {
    record(Question::Contents, path);
    return m_files->read_file(path, limit);
}

Result<std::vector<std::string>> RecordingFileSystem::list_directory(const std::string& path) {
    record(Question::Contents, path);
    return m_files->list_directory(path);
}

Result<std::string> RecordingFileSystem::real_path(const std::string& path) {
    record(Question::RealPath, path);
    return m_files->real_path(path);
}

Result<host::FileStatus> RecordingFileSystem::status(const std::string& path) {
    record(Question::Status, path);
    return m_files->status(path);
}

Result<std::string> RecordingFileSystem::read_link(const std::string& path) {
    record(Question::Link, path);
    return m_files->read_link(path);
}

std::vector<std::string> RecordingFileSystem::silent(std::span<const std::string> paths) {
    auto silent = m_files->silent(paths);
    m_met_silence = m_met_silence || !silent.empty();
    m_answering.insert(m_answering.end(), paths.begin(), paths.end());
    return silent;
}

Observations RecordingFileSystem::observations() const {
    Observations all{m_answering, {}};
    all.seen.reserve(m_seen.size());
    for (const auto& [question, answer] : m_seen) {
        all.seen.push_back({question.first, question.second, answer});
    }
    return all;
}

bool hold(host::FileSystem& files, const Observations& observations) {
    if (!observations.answering.empty() && !files.silent(observations.answering).empty()) {
        return false;
    }
    return std::ranges::all_of(observations.seen, [&](const Observation& seen) {
        return answer_to(files, seen.question, seen.path) == seen.answer;
    });
}

} // namespace cudaenv::observed
