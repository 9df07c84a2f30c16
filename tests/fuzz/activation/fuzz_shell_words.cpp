// Any bytes as what a shell hands over: the first line is the word of its watch, the others are
// variables, NAME=VALUE. The watch is refused, or writes and reads back as itself. Whatever the
// variables say (LOADEDMODULES, PATH, CUDA_HOME, LD_LIBRARY_PATH, ...), a choice is made, its lines
// are printable, and its patch can be taken back.
#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/variables.hpp"
#include "host/probe/loader_directories.hpp"
#include "shellhooks/activation/toolkit_match.hpp"
#include "shellhooks/hooks/prompt_watch.hpp"
#include "shellhooks/patch/update.hpp"
#include "solver/facts/visible.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/unit/activation/situations.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace cudaenv;
using namespace cudaenv::activation;
using namespace cudaenv::patch;

void check_watch(std::string_view word) {
    const auto watch = hooks::read_watch(word);
    if (!watch) {
        return;
    }
    const std::string written = hooks::write_watch(*watch);
    require(std::ranges::all_of(written, [](char c) {
        return std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./+-:,=%;")
                   .find(c) != std::string_view::npos;
    }));
    const auto again = hooks::read_watch(written);
    require(again && again->directory == watch->directory);
    require(std::ranges::equal(
        again->variables, watch->variables, [](const Change& one, const Change& other) {
            return !one.name.empty() && one.name == other.name && one.value == other.value;
        }));
    require(std::ranges::equal(again->files, watch->files, [](const auto& one, const auto& other) {
        return !one.path.empty() && one.path == other.path && one.exists == other.exists &&
               one.stamp == other.stamp && one.modified_ns == other.modified_ns;
    }));
}

void require_lines(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) {
        require(!line.empty() && printable(line) == line);
    }
}

// As test_composition_law has it, of variables that no test thought of.
void check_patch(const Situation& situation, const Patch& patch) {
    std::set<std::string> names;
    for (const SetVariable& variable : patch.variables) {
        require(names.insert(variable.name).second);
        require(is_managed(variable.name) && !is_managed_list(variable.name));
        require(!situation.is_kept(variable.name));
    }
    for (const AddEntry& entry : patch.entries) {
        require(is_managed_list(entry.list) && entry.entry.starts_with('/'));
        require(entry.entry.find(':') == std::string::npos && !entry.entry.ends_with('/'));
    }
    const Applied applied = apply(situation.base, patch, "h", "c");
    require(undo(applied.environment) == situation.base);
}

void check_choice(const Variables& variables) {
    Situation situation = test::machine();
    situation.base = undo(variables);
    situation.inherited = inherited_variables(variables);
    for (const bool has_environment : {false, true}) {
        if (has_environment) {
            situation.environment = test::environment(facts::EnvironmentKind::Venv);
            situation.environment->frameworks = {test::torch("1.12.1+cu113", "11.3")};
        }
        if (const auto by_hand = set_by_hand(situation)) {
            require(printable(by_hand->module) == by_hand->module);
            require(by_hand->module.find(':') == std::string::npos);
        }
        const CudaChoice choice = choose(situation);
        std::optional<facts::ToolkitLayout> layout;
        if (choice.toolkit) {
            layout = test::layout(choice.toolkit->path, "11.0");
        }
        const Composition composition = compose(situation, choice, layout);
        require_lines(choice.warnings);
        require_lines(composition.notes);
        require_lines(composition.warnings);
        for (const std::string* line : {&choice.inherited, &choice.silent, &choice.remedy}) {
            require(printable(*line) == *line);
        }
        const std::string line = quiet_line(situation, choice, composition, true);
        require(line.empty() == choice.none());
        require(std::ranges::all_of(line, [](char c) { return c >= 0x20 && c < 0x7f; }));
        check_patch(situation, composition.patch);
    }
}

void check_lists(const Variables& variables) {
    facts::Host host;
    for (const char* uuid : {"GPU-1a", "GPU-1b"}) {
        facts::Gpu& gpu = host.gpus.emplace_back();
        gpu.index = static_cast<int>(host.gpus.size()) - 1;
        gpu.uuid = uuid;
    }
    for (const auto& [name, value] : variables) {
        require(facts::narrowed_to_visible(host, value).gpus.size() <= host.gpus.size());
        for (const std::string& directory :
             probe::loader_directories(value, "/w", {"/e/bin", "lib/x"})) {
            require(directory.starts_with('/'));
            require(directory.find_first_of(":;") == std::string::npos);
        }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // The fuzzer's bytes are text here.
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto lines = split(text, '\n');
    check_watch(lines.front());
    Variables variables{{"HOME", "/home/u"}, {"PATH", "/home/u/bin:/usr/bin:/bin"}};
    for (std::size_t line = 1; line < lines.size(); ++line) {
        const std::size_t equals = lines[line].find('=');
        if (equals != std::string_view::npos && equals > 0 && // no environment holds a NUL
            lines[line].find('\0') == std::string_view::npos) {
            variables.insert_or_assign(std::string(lines[line].substr(0, equals)),
                                       std::string(lines[line].substr(equals + 1)));
        }
    }
    check_choice(variables);
    check_lists(variables);
    return 0;
}
