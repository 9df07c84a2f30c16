// Any bytes as the files that `cudaenv attach` and `cudaenv init` edit: pip.conf,
// conda-meta/pinned, the constraints file, a kernel.json and a shell's start file. An edit can be
// taken out to the byte, pip reads the user's own options as before, and a text that is refused
// gives one Error.
#include "base/raw_bytes.hpp"
#include "cli/commands/file_changes.hpp"
#include "cli/commands/kernelspec.hpp"
#include "cli/commands/pip_conf.hpp"
#include "tests/fuzz/require.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace cudaenv;
using namespace cudaenv::cli;

bool has_no_block(std::string_view text) {
    const auto without = without_block(text);
    return without && *without == text;
}

void require_broken_block(const Error& error, std::string_view text) {
    require(error.kind == ErrorKind::BadInput && error.code == "broken-block");
    require(!error.message.empty() && !error.hint.empty());
    require(error.line >= 1 && error.line <= std::count(text.begin(), text.end(), '\n') + 1);
}

void check_block(const std::string& text) {
    const std::string lines = "# ours\n";
    const auto with = with_block(text, lines);
    if (!with) {
        require_broken_block(with.error(), text);
        require(!without_block(text));
        return;
    }
    require(with_block(*with, lines) == *with);
    require(!has_no_block(text) || without_block(*with) == text);
}

std::string options_in(const std::string& text) {
    std::string shown;
    for (const PipOption& option : pip_options(text)) {
        require(option.line >= 1);
        shown += option.section + '.' + option.name + '=' + option.value + '\n';
    }
    return shown;
}

void check_pip_conf(const std::string& text) {
    const std::string file = "/e/etc/cudaenv/constraints.txt";
    const auto without = without_constraint(text, file);
    if (!without) {
        require_broken_block(without.error(), text);
        return;
    }
    require(without->size() <= text.size());
    const std::string shown = options_in(text);
    if (!has_no_block(text)) {
        return;
    }
    const auto with = with_constraint(text, "# ours\n", {"constraint = " + file});
    require(with && without_constraint(*with, file) == text);
    // pip refuses a file that has the section twice.
    const std::size_t section = text.find("[global]");
    if (section == std::string::npos || text.find("[global]", section + 1) == std::string::npos) {
        require(options_in(*with) == shown);
    }
}

void check_pinned(const std::string& text) {
    const std::vector<std::string> lines{"pytorch ==2.4.0 b", "torchvision ==0.19.0 b"};
    const PinnedChange change = with_pinned(text, lines, true);
    require(change.text && change.text->starts_with(text));
    require(without_pinned(*change.text, pinned_record(change.record)) == text);
    // As a constraints file that others may have edited.
    const PinnedRecord record = pinned_record(text);
    for (const std::string& line : record.lines) {
        require(line.find('\n') == std::string::npos);
    }
    require(without_pinned(text, record).size() <= text.size());
}

void check_note(const std::string& text) {
    const std::string note = creation_note("/e/pip.conf", text);
    require(note.empty() != created_directories(text).has_value());
    require(created_directories(note) == created_directories(text));
    require(note.empty() || note.find('\n') == note.size() - 1);
}

// The last line is the end of the environment's path.
void check_kernel(const std::string& input) {
    const std::size_t end = std::min(input.rfind('\n'), input.size());
    const std::string text = input.substr(0, end);
    const std::string prefix = "/e" + input.substr(std::min(end + 1, input.size()));
    const auto program = kernel_program(text);
    const auto wrapped = wrapped_kernel(text, "/c/bin/cudaenv", prefix);
    const auto plain = plain_kernel(text);
    if (!program) {
        require(program.error().code == "bad-kernel" && !program.error().message.empty());
        require(!wrapped && !plain && !is_wrapped_kernel(text));
        return;
    }
    require(plain && wrapped.has_value() == is_utf8(prefix));
    if (!wrapped) {
        require(wrapped.error().code == "unusable-prefix" && !wrapped.error().message.empty());
        return;
    }
    require(is_wrapped_kernel(*wrapped) && kernel_program(*wrapped) == *program);
    require(wrapped_kernel(*wrapped, "/c/bin/cudaenv", prefix) == *wrapped);
    const auto again = plain_kernel(*wrapped);
    require(again && nlohmann::json::parse(*again) == nlohmann::json::parse(*plain));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // The fuzzer's bytes are text here.
    const std::string text(reinterpret_cast<const char*>(data), size);
    check_block(text);
    check_pip_conf(text);
    check_pinned(text);
    check_note(text);
    check_kernel(text);
    return 0;
}
