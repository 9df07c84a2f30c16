// Any bytes as cudaenv.toml and config.toml: read, or refused with a line. What is read can be
// edited: the result reads back as the old pins with the change, the same edit again changes
// nothing, and a new pin is an insertion into otherwise the same bytes.
#include "base/printable.hpp"
#include "solver/pins/config.hpp"
#include "solver/pins/pins.hpp"
#include "solver/pins/project_file.hpp"
#include "tests/fuzz/require.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

namespace {

using namespace cudaenv::pins;

void require_placed(const cudaenv::Error& error) {
    require(error.kind == cudaenv::ErrorKind::BadInput && error.path == "p");
    require(error.line >= 1 && error.column >= 1);
    require(!error.message.empty() && cudaenv::printable(error.message) == error.message);
    require(cudaenv::printable(error.hint) == error.hint);
}

std::map<std::string, std::string> pins_of(const ProjectFile& file) {
    std::map<std::string, std::string> pins;
    for (const Pin& pin : file.pins) {
        pins.emplace(pin.name, pin.constraint);
    }
    require(pins.size() == file.pins.size());
    return pins;
}

void edit(std::string_view text, const ProjectFile& before, const PinEdit& change) {
    auto expected = pins_of(before);
    const bool there = expected.contains(change.name);
    if (change.constraint) {
        expected[change.name] = *change.constraint;
    } else {
        expected.erase(change.name);
    }
    const std::array<PinEdit, 1> edits{change};
    const auto after = edit_pins(text, "p", edits);
    require(after.has_value());
    const auto file = parse_project(*after, "p");
    require(file && pins_of(*file) == expected && file->settings.size() == before.settings.size());
    const auto again = edit_pins(*after, "p", edits);
    require(again && *again == *after);
    // `pins = {}` is rewritten with spaces inside its braces.
    if (change.constraint && !there && text.find('{') == std::string_view::npos) {
        const auto head =
            std::mismatch(text.begin(), text.end(), after->begin(), after->end()).first;
        const auto tail =
            std::mismatch(text.rbegin(), text.rend(), after->rbegin(), after->rend()).first;
        require(static_cast<std::size_t>((head - text.begin()) + (tail - text.rbegin())) >=
                text.size());
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // The fuzzer's bytes are text here.
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto file = parse_project(text, "p");
    if (file) {
        edit(text, *file, {"cuda", "11.3"});
        edit(text, *file, {"cuda", std::nullopt});
        edit(text, *file, {"gcc", ">=9,<12"});
        for (const Pin& pin : file->pins) {
            edit(text, *file, {pin.name, std::nullopt});
            edit(text, *file, {pin.name, "==1.2.3"});
        }
    } else {
        require_placed(file.error());
    }
    for (const FileScope scope : {FileScope::User, FileScope::System}) {
        const auto config = parse_config(text, "p", scope);
        if (!config) {
            require_placed(config.error());
            continue;
        }
        for (const SettingKey& key : setting_keys()) {
            const std::vector<std::string> words{
                key.kind == SettingKind::Truth          ? "false"
                : key.kind == SettingKind::Word         ? std::string(key.words[0])
                : key.kind == SettingKind::Capabilities ? "8.6"
                                                        : "/a \\\"b"};
            const auto set = edit_config(text, "p", scope, key.name(), ConfigAction::Set, words);
            require(set.has_value());
            const auto unset = edit_config(*set, "p", scope, key.name(), ConfigAction::Unset, {});
            require(unset.has_value());
        }
    }
    return 0;
}
