#include "host/version_question.hpp"

namespace cudaenv::host {

namespace {

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
