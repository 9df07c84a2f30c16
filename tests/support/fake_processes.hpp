// Children that only say what the test wrote down for them.
#pragma once

#include "base/text.hpp"
#include "host/process.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace cudaenv::test {

class FakeProcesses final : public host::ProcessRunner {
public:
    // What a command line, words joined by blanks, prints.
    FakeProcesses& answer(const std::string& command, std::string output) {
        m_answers[command] = std::move(output);
        return *this;
    }
    FakeProcesses& hang(const std::string& command) {
        m_hanging.push_back(command);
        return *this;
    }

    std::vector<host::ChildOutcome> run_all(std::span<const host::ChildCommand> commands,
                                            std::chrono::milliseconds) override {
        std::vector<host::ChildOutcome> outcomes;
        for (const auto& command : commands) {
            const auto line = join(command.arguments, " ");
            started.push_back(line);
            host::ChildOutcome outcome;
            const auto answer = m_answers.find(line);
            outcome.started = true;
            if (answer != m_answers.end()) {
                outcome.exit_status = 0;
                outcome.output = answer->second;
            } else if (std::find(m_hanging.begin(), m_hanging.end(), line) != m_hanging.end()) {
                outcome.timed_out = true;
                outcome.failure = "no answer within 3000 ms, killed";
            } else {
                outcome.exit_status = 1;
                outcome.failure = "exit status 1";
            }
            outcomes.push_back(std::move(outcome));
        }
        return outcomes;
    }

    std::vector<std::string> started;

private:
    std::map<std::string, std::string> m_answers;
    std::vector<std::string> m_hanging;
};

} // namespace cudaenv::test
