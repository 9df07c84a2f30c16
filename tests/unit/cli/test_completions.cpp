#include "cli/command_table.hpp"
#include "cli/completions.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace cudaenv::cli;

TEST_CASE("each shell's completions offer every command and every option, and no other option") {
    for (const char* shell : {"bash", "zsh", "fish", "tcsh"}) {
        INFO(shell);
        const std::string text = completions_for(shell);
        for (const CommandRow& command : commands()) {
            CHECK(text.find(command.name) != std::string::npos);
            for (const OptionRow& option : options_of(command)) {
                CHECK((text.find(option.name) != std::string::npos) ==
                      (option.offered == Offered::Yes));
            }
        }
    }
    CHECK(completions_for("powershell").empty());
}
