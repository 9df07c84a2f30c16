// Values computed from files, kept as long as the files they came from are as they were. Safe to
// use from several threads; the same value may then be computed twice, never wrongly.
#pragma once

#include "host/file_system.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace cudaenv::observed {

// A FileSystem that remembers what was asked of it and what the answers rested on, so that a value
// computed from files can be kept and known to be right later: every answer is checked again, which
// costs one `stat` or so each, where computing the value costs reading.
//
// Law: while `hold` says true, every question that was asked would be answered the same way again
// (as far as modification times, sizes and inodes tell).
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

template <typename Value>
class ObservedCache {
public:
    // At most `most` values are kept; the one not asked for longest goes first.
    explicit ObservedCache(std::size_t most) : m_most(most) {}

    // The value of `key`: the kept one while it holds, else `compute(FileSystem&)`. `longest`: how
    // long a value is believed whatever the files say, for what files do not show.
    template <typename Compute>
    Value get(const std::string& key, host::FileSystem& files, std::chrono::seconds longest,
              const Compute& compute) {
        const auto now = std::chrono::steady_clock::now();
        if (const auto kept = find(key);
            kept && now < kept->until && hold(files, kept->observations)) {
            return kept->value;
        }
        const auto began = std::chrono::system_clock::now().time_since_epoch();
        RecordingFileSystem recording(files);
        Value value = compute(recording);
        if (!recording.met_silence() && settled(recording.newest(), began)) {
            keep(key, std::make_shared<const Kept>(
                          Kept{value, recording.observations(), now + longest}));
        }
        return value;
    }

private:
    // File systems count time in ticks of up to 10 ms: two changes within one leave the same
    // modification time, so what changed just now is not believed to stay. A time that lies well in
    // the future is another clock's, and no sign of a change just now.
    static bool settled(std::int64_t newest_ns, std::chrono::nanoseconds began) {
        constexpr std::chrono::seconds k_other_clock{5};
        const std::chrono::nanoseconds newest(newest_ns);
        return newest < began - std::chrono::milliseconds(20) || newest > began + k_other_clock;
    }

    struct Kept {
        Value value;
        Observations observations;
        std::chrono::steady_clock::time_point until;
    };
    struct Slot {
        std::shared_ptr<const Kept> kept;
        std::uint64_t used = 0;
    };

    std::shared_ptr<const Kept> find(const std::string& key) {
        const std::lock_guard lock(m_mutex);
        const auto found = m_slots.find(key);
        if (found == m_slots.end()) {
            return nullptr;
        }
        found->second.used = ++m_clock;
        return found->second.kept;
    }

    void keep(const std::string& key, std::shared_ptr<const Kept> kept) {
        const std::lock_guard lock(m_mutex);
        m_slots.insert_or_assign(key, Slot{std::move(kept), ++m_clock});
        if (m_slots.size() > m_most) {
            m_slots.erase(std::ranges::min_element(m_slots, [](const auto& a, const auto& b) {
                return a.second.used < b.second.used;
            }));
        }
    }

    std::size_t m_most;
    std::mutex m_mutex;
    std::uint64_t m_clock = 0;
    std::map<std::string, Slot> m_slots;
};

} // namespace cudaenv::observed
