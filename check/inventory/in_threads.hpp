// Many small jobs for a few threads, the caller's among them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace cudaenv::inventory {

// `wanted`: at most so many; 0: as many as there are cores, up to `most`. Never more than `shares`,
// but one.
inline unsigned threads_for(unsigned wanted, std::size_t shares, unsigned most = 8) {
    if (wanted == 0) {
        wanted = std::clamp(std::thread::hardware_concurrency(), 1U, most);
    }
    return static_cast<unsigned>(
        std::clamp<std::size_t>(shares, 1, static_cast<std::size_t>(wanted)));
}

// Does jobs 0 to `jobs`, each once, `at_once` neighbours by one thread: `work(thread, job)` with
// threads from 0. Where the system has no more threads, those that there are do it all. Comes back
// when all is done; `work` must not throw.
template <class Work>
void in_threads(unsigned threads, std::size_t jobs, std::size_t at_once, const Work& work) {
    std::atomic<std::size_t> next{0};
    const auto run = [&](unsigned thread) {
        for (auto at = next.fetch_add(at_once); at < jobs; at = next.fetch_add(at_once)) {
            for (auto job = at; job < std::min(jobs, at + at_once); ++job) {
                work(thread, job);
            }
        }
    };
    std::vector<std::jthread> others;
    for (unsigned other = 1; other < threads; ++other) {
        try {
            others.emplace_back(run, other);
        } catch (const std::system_error&) {
            break;
        }
    }
    run(0);
}

} // namespace cudaenv::inventory
