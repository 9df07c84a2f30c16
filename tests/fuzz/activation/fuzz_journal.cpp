// Any bytes as a journal and an environment: the first line is the journal, once as it is and once
// below a checksum that fits; the others are NAME=VALUE. The journal is refused, or writes and
// reads back as itself; undo touches nothing but what is cudaenv's to change, and has nothing left
// to do.
#include "base/text.hpp"
#include "base/variables.hpp"
#include "shellhooks/patch/patch.hpp"
#include "tests/fuzz/require.hpp"

#include <cstddef>
#include <cstdint>

namespace {

using namespace cudaenv;
using namespace cudaenv::patch;

// As journal.cpp begins a journal: FNV-1a of 32 bits.
std::string sealed(std::string_view body) {
    std::uint32_t hash = 2166136261U;
    for (const char c : body) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    }
    std::string digits;
    for (int shift = 28; shift >= 0; shift -= 4) {
        digits += "0123456789ABCDEF"[(hash >> shift) & 0xFU];
    }
    return "1." + digits + std::string(body);
}

void check(const std::string& text, Variables environment) {
    const auto journal = read_journal(text);
    if (journal) {
        const std::string written = write_journal(*journal);
        const auto again = read_journal(written);
        // What was read may be written longer than it came: without shared beginnings.
        require(written.size() > k_most_journal_bytes || again);
        require(!again || write_journal(*again) == written);
    } else {
        require(journal.error().code == "bad-journal" && !journal.error().message.empty());
    }
    environment[std::string(k_journal_variable)] = text;
    const Variables without = undo(environment);
    require(!without.contains(k_journal_variable));
    require(undo(without) == without);
    for (const Change& change : difference(environment, without)) {
        require(change.name == k_journal_variable ||
                (journal && (is_managed(change.name) || snapshot_of(change.name))));
    }
    const Patch patch{{{"CUDA_HOME", "/c"}},
                      {{"PATH", "/c/bin", End::Front}, {"LIBRARY_PATH", "/c", End::Back}}};
    require(undo(apply(without, patch, "h", "c").environment) == without);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // The fuzzer's bytes are text here.
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto lines = split(text, '\n');
    Variables environment;
    for (std::size_t line = 1; line < lines.size(); ++line) {
        const std::size_t equals = lines[line].find('=');
        if (equals != std::string_view::npos && equals > 0 && // no environment holds a NUL
            lines[line].find('\0') == std::string_view::npos) {
            environment.emplace(lines[line].substr(0, equals), lines[line].substr(equals + 1));
        }
    }
    check(std::string(lines.front()), environment);
    check(sealed(lines.front()), environment);
    return 0;
}
