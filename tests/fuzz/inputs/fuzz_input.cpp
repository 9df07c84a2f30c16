// Any bytes as each of the files that -r reads, also including themselves: read, or refused with a
// line of text; what is read has an origin and a spec that parses.
#include "base/printable.hpp"
#include "solver/inputs/input.hpp"
#include "solver/specs/ask.hpp"
#include "solver/specs/requirement.hpp"
#include "tests/fuzz/require.hpp"

#include <cstddef>
#include <cstdint>

namespace {

using namespace cudaenv;

bool reads_as_spec(const std::string& text) {
    return specs::Ask::parse(text).has_value() || specs::Requirement::parse(text).has_value();
}

void read_as(const char* word, std::string_view text, const inputs::Target& target) {
    const auto input = inputs::read_input(
        word, [&](const std::string&) -> Result<std::string> { return std::string(text); }, target);
    if (!input) {
        const Error& error = input.error();
        require(error.kind == ErrorKind::BadInput && !error.message.empty() && !error.path.empty());
        require(printable(error.message) == error.message);
        require(printable(error.hint) == error.hint && printable(error.path) == error.path);
        return;
    }
    for (const auto* list : {&input->wanted, &input->bounds}) {
        for (const inputs::Entry& entry : *list) {
            require(!entry.origin.empty() && reads_as_spec(entry.text));
        }
    }
    for (const inputs::Entry& python : input->pythons) {
        require(specs::SpecifierSet::parse(python.text).has_value());
    }
    for (const std::string& note : input->notes) {
        require(printable(note) == note);
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    for (const char* word : {"requirements.txt", "environment.yml", "pyproject.toml", "pixi.toml",
                             "pyproject.toml[gpu,dev]", "deps"}) {
        read_as(word, text, inputs::Target());
    }
    read_as("requirements.txt", text, inputs::Target("3.11.2"));
    return 0;
}
