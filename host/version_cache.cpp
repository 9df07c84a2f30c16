#include "host/version_cache.hpp"

#include "base/json_members.hpp"

#include <nlohmann/json.hpp>

namespace cudaenv::host {

namespace {

constexpr const char* k_file = "compilers.json";
constexpr const char* k_schema = "cudaenv.compilers/1";
constexpr std::size_t k_size_limit = std::size_t{1024} * 1024;
constexpr std::size_t k_entry_limit = 2000;
// A refusal may heal without the program changing (a missing library installed): it is asked again.
constexpr std::int64_t k_refusal_life = 600;
// From when the cache was read: the wait itself is in it.
constexpr std::int64_t k_brief_life = 15;

// Only what a program needs to start; LC_ALL=C so that it answers in the words that we read, and no
// variable that would bend a compiler's answer (CCACHE_*, GCC_EXEC_PREFIX, ...).
std::vector<std::string> plain_environment(const Environment& environment) {
    std::vector<std::string> plain = {"LC_ALL=C"};
    for (const auto* name : {"PATH", "HOME", "LD_LIBRARY_PATH", "TMPDIR"}) {
        if (auto value = value_of(environment, name); !value.empty()) {
            plain.push_back(std::string(name) + '=' + value);
        }
    }
    return plain;
}

} // namespace

std::string version_key(const FileStatus& status) {
    return std::to_string(status.device) + ':' + std::to_string(status.inode) + ':' +
           std::to_string(status.size) + ':' + std::to_string(status.modified_ns);
}

VersionCache::VersionCache(std::string directory, std::int64_t now)
    : m_store(std::move(directory), k_file, k_size_limit), m_now(now) {
    const auto document = m_store.read_json(k_schema);
    for (const auto& [key, entry] : member(document, "entries").items()) {
        if (!entry.is_array() || entry.size() != 3 || !entry[0].is_string() ||
            !entry[1].is_string() || !entry[2].is_number_integer()) {
            continue;
        }
        Entry read{{entry[0].get<std::string>(), entry[1].get<std::string>()},
                   entry[2].get<std::int64_t>()};
        // A time in the future is a clock that stepped back: a refusal's age is then not known.
        if (read.answer.version.empty() && (read.at > m_now || read.at < m_now - k_refusal_life)) {
            continue;
        }
        m_entries.emplace(key, std::move(read));
    }
}

std::optional<KeptVersion> VersionCache::find(const std::string& key) const {
    const auto found = m_entries.find(key);
    return found == m_entries.end() ? std::nullopt : std::optional(found->second.answer);
}

void VersionCache::keep(const std::string& key, KeptVersion answer) {
    keep(key, std::move(answer), m_now);
}

void VersionCache::keep_briefly(const std::string& key, KeptVersion answer) {
    keep(key, std::move(answer), m_now - k_refusal_life + k_brief_life);
}

void VersionCache::keep(const std::string& key, KeptVersion answer, std::int64_t at) {
    if (m_entries.size() >= k_entry_limit) {
        m_entries.clear(); // years of upgrades: start over
    }
    m_entries[key] = Entry{std::move(answer), at};
    m_changed = true;
}

void VersionCache::save() const {
    if (!m_changed) {
        return;
    }
    nlohmann::json entries = nlohmann::json::object();
    for (const auto& [key, entry] : m_entries) {
        entries[key] = {entry.answer.version, entry.answer.reason, entry.at};
    }
    static_cast<void>(m_store.write_json({{"schema", k_schema}, {"entries", std::move(entries)}}));
}

std::vector<KeptVersion> VersionAsker::ask(const std::vector<VersionQuestion>& questions) const {
    std::vector<KeptVersion> answers(questions.size());
    std::vector<std::size_t> open;
    std::vector<ChildCommand> commands;
    for (std::size_t i = 0; i < questions.size(); ++i) {
        if (auto kept = cache.find(version_key(questions[i].status))) {
            answers[i] = std::move(*kept);
            continue;
        }
        ChildCommand command{{questions[i].program}, plain_environment(environment)};
        command.arguments.insert(command.arguments.end(), questions[i].arguments.begin(),
                                 questions[i].arguments.end());
        open.push_back(i);
        commands.push_back(std::move(command));
    }
    if (commands.empty()) {
        return answers;
    }
    const auto outcomes = processes.run_all(commands, deadline);
    for (std::size_t k = 0; k < open.size(); ++k) {
        const auto& question = questions[open[k]];
        auto& answer = answers[open[k]];
        if (outcomes[k].exit_status == 0) {
            answer.version = question.parse(outcomes[k].output + outcomes[k].error);
        }
        if (answer.version.empty()) {
            answer.reason = outcomes[k].failure.empty()
                                ? "printed no version that cudaenv recognizes"
                                : outcomes[k].failure;
        }
        // A time-out says more of the machine's load than of the program: asked again soon.
        if (outcomes[k].timed_out) {
            cache.keep_briefly(version_key(question.status), answer);
        } else {
            cache.keep(version_key(question.status), answer);
        }
    }
    return answers;
}

} // namespace cudaenv::host
