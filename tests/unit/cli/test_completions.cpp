#include "cli/command_line.hpp"
#include "cli/command_table.hpp"
#include "shellhooks/hooks/shell.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv::cli;

TEST_CASE("each shell's completions offer every command and every option, and no other option") {
    int with_completions = 0;
    for (const auto* const shell : cudaenv::hooks::shells()) {
        if (shell->completions == nullptr) {
            continue;
        }
        ++with_completions;
        INFO(shell->name);
        const std::string text = completions_for(*shell);
        for (const CommandRow& command : commands()) {
            CHECK(text.find(command.name) != std::string::npos);
            for (const OptionRow& option : options_of(command)) {
                CHECK((text.find(option.name) != std::string::npos) == !option.hidden);
            }
        }
    }
    CHECK(with_completions >= 4);
}
