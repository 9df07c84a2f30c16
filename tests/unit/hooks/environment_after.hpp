// What children of a shell see after it has read changes from a file: for the tests of the
// renderers.
#pragma once

#include "shell_run.hpp"
#include "shellhooks/hooks/prompt_watch.hpp"

#include <catch2/catch_test_macros.hpp>

#include <map>
#include <string>
#include <vector>

namespace cudaenv::tests {

using Environment = std::map<std::string, std::string>;

// What `env -0` printed.
inline Environment parsed_environment(const std::string& zero_separated) {
    Environment out;
    for (std::size_t at = 0; at < zero_separated.size();) {
        const std::size_t end = zero_separated.find('\0', at);
        const std::string line = zero_separated.substr(at, end - at);
        const std::size_t equals = line.find('=');
        out[line.substr(0, equals)] = line.substr(equals + 1);
        at = end + 1;
    }
    return out;
}

// Every nasty word as a variable of its own, and lists as loaders and compilers read them.
inline std::vector<patch::Change> nasty_changes() {
    std::vector<patch::Change> changes;
    for (const std::string& word : nasty_words()) {
        changes.push_back({"WORD_" + std::to_string(changes.size()), word});
    }
    int number = 0;
    for (const char* list :
         {"", ":", "/a", ":/a", "/a:", "/a::/b", "/a b:/c\nd:/$HOME/x:~/y:$(id)",
          "./x:../y:/a/:/a//b", "/a:/a", "~", "=/a:x=~/b", "/caf\xc3\xa9:/\xff"}) {
        changes.push_back({"LIST_" + std::to_string(number++) + "_PATH", list});
    }
    return changes;
}

// Of the environment what the changes speak about.
inline void check_environment(const Environment& seen, const std::vector<patch::Change>& changes) {
    for (const patch::Change& change : changes) {
        const auto found = seen.find(change.name);
        INFO(change.name << " is to be <" << change.value.value_or("(unset)") << ">, is <"
                         << (found == seen.end() ? "(unset)" : found->second) << '>');
        CHECK((found != seen.end()) == change.value.has_value());
        if (found != seen.end() && change.value) {
            CHECK(found->second == *change.value);
        }
    }
}

inline std::vector<patch::Change> unset_all(std::vector<patch::Change> changes) {
    for (patch::Change& change : changes) {
        change.value.reset();
    }
    return changes;
}

} // namespace cudaenv::tests
