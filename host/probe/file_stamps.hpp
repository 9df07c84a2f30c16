// How the files are that a verdict rests on, in short texts that are compared with themselves from
// one run to the next.
//
// Law: files are looked at, never opened but the loader's cache; each once, whoever asks.
#pragma once

#include "host/file_system.hpp"
#include "host/probe/verdict_rules.hpp"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::probe {

class FileStamps {
public:
    // For as long as what was seen is to be believed: one question, or one probe's begin.
    explicit FileStamps(host::FileSystem& files) : m_files(&files) {}

    // Size and time; a package's upgrade changes one of them. Of a directory, and of the loader's
    // cache, the names that a probe so deep may load: what else is there changes with every
    // package.
    std::string of(const std::string& path, VerdictDepth depth);

private:
    struct Look {
        std::string stamp; // empty: that of the names
        std::vector<std::string> names;
        bool all = false; // names of whatever kind count
    };
    const Look& look(const std::string& path);

    host::FileSystem* m_files;
    std::map<std::string, Look> m_looks;
};

// Of a stamp: it depends on how deep the probe looks.
bool is_of_names(std::string_view stamp);

} // namespace cudaenv::probe
