// The journal's text: `1.CHECKSUM,PLACE,CONTEXT,RECORD,...`.
//
// A record is parts joined by '+', the first a variable's name. One variable: NAME+AFTER, or
// NAME+AFTER+BEFORE where it was set before. A list: NAME, its state before (u, e or f: unset,
// empty, filled), then entries behind a letter: f added at the front, b at the back, and for an
// entry that the list had by itself o, how often behind n, and behind each a what it stood behind.
//
// .NAME+VALUE is what the user has set by hand. A lone NAME is a snapshot that is not mended.
//
// Strings are percent-encoded, and `N:rest` stands for the first N bytes of the string before and
// the rest: paths below one toolkit are said once. No '=' and no '~', which zsh expands.
#include "base/percent.hpp"
#include "base/text.hpp"
#include "base/variables.hpp"
#include "shellhooks/patch/patch.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace cudaenv::patch {

namespace {

constexpr std::string_view k_version = "1";
// Shared beginnings let a short text stand for a long one; no environment needs more than this.
constexpr std::size_t k_most_decoded_bytes = 4 * k_most_journal_bytes;
constexpr std::size_t k_least_shared = 4; // "20:" is no shorter than three bytes
constexpr std::size_t k_most_count = 9999;

constexpr std::string_view k_hex = "0123456789ABCDEF";

// FNV-1a of 32 bits: finds what was cut or mistyped, and is no protection against intent.
std::string checksum(std::string_view text) {
    std::uint32_t hash = 2166136261U;
    for (const char c : text) {
        hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
    }
    std::string digits;
    for (int shift = 28; shift >= 0; shift -= 4) {
        digits += k_hex[(hash >> shift) & 0xFU];
    }
    return digits;
}

constexpr std::string_view k_plain = "_./-"; // beside letters and digits

class Writer {
public:
    void begin_record(std::string_view name) { (m_text += ',') += name; }
    void letter(char c) { (m_text += '+') += c; }
    void count(std::size_t number) { (m_text += "+n") += std::to_string(number); }
    // A string as a part of its own, behind `letter` where it has one.
    void part(std::string_view value, std::string_view letter = {}) {
        (m_text += '+') += letter;
        string(value);
    }
    void field(std::string_view value) {
        m_text += ',';
        string(value);
    }
    [[nodiscard]] std::string sealed() const {
        return std::string(k_version) + '.' + checksum(m_text) + m_text;
    }

private:
    void string(std::string_view value) {
        const auto differs = std::ranges::mismatch(m_previous, value).in2;
        auto shared = static_cast<std::size_t>(differs - value.begin());
        if (shared >= k_least_shared) {
            (m_text += std::to_string(shared)) += ':';
        } else {
            shared = 0;
        }
        m_text += percent_encode(value.substr(shared), k_plain);
        m_previous = value;
    }

    std::string m_text;
    std::string m_previous;
};

tl::unexpected<Error> bad_journal(std::string what) {
    return bad_input("bad-journal",
                     std::string(k_journal_variable) + " cannot be read: " + std::move(what),
                     "open a new shell, where nothing needs to be undone");
}

class Reader {
public:
    Result<std::string> string(std::string_view text) {
        std::string value;
        if (const auto colon = text.find(':'); colon != std::string_view::npos) {
            CUDAENV_TRY(const std::size_t shared, number(text.substr(0, colon), m_previous.size()));
            value = m_previous.substr(0, shared);
            text.remove_prefix(colon + 1);
        }
        const auto rest = percent_restore(text, k_plain);
        if (!rest) {
            return bad_journal("a character that is not written so");
        }
        value += *rest;
        m_decoded += value.size();
        if (m_decoded > k_most_decoded_bytes) {
            return bad_journal("it expands to too much");
        }
        m_previous = value;
        return value;
    }

    static Result<std::size_t> number(std::string_view text, std::size_t most) {
        std::size_t value = 0;
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, value);
        if (error != std::errc() || stop != end || value > most) {
            return bad_journal("a number that cannot be");
        }
        return value;
    }

private:
    std::string m_previous;
    std::size_t m_decoded = 0;
};

using Parts = std::span<const std::string_view>; // of a record, the name left off

Result<VariableUndo> read_variable(Reader& reader, std::string_view name, Parts parts) {
    if (parts.empty() || parts.size() > 2) {
        return bad_journal("a variable with more or less than two values");
    }
    VariableUndo variable{std::string(name), std::nullopt, {}};
    CUDAENV_TRY(variable.after, reader.string(parts[0]));
    if (parts.size() == 2) {
        CUDAENV_TRY(variable.before, reader.string(parts[1]));
    }
    return variable;
}

Result<ListBefore> read_state(std::string_view text) {
    if (text == "u") {
        return ListBefore::Unset;
    }
    if (text == "e") {
        return ListBefore::Empty;
    }
    if (text == "f") {
        return ListBefore::Filled;
    }
    return bad_journal("a list of unknown state");
}

Result<std::string> read_entry(Reader& reader, std::string_view text) {
    CUDAENV_TRY(auto entry, reader.string(text));
    if (entry.empty() || entry.find(':') != std::string::npos) {
        return bad_journal("an entry that no list holds");
    }
    return entry;
}

// The parts o, n and any number of a, of one entry; takes them off `parts`.
Result<OwnEntry> read_own(Reader& reader, Parts& parts) {
    if (parts.size() < 2 || !parts[1].starts_with('n')) {
        return bad_journal("half an entry");
    }
    OwnEntry own;
    CUDAENV_TRY(own.entry, read_entry(reader, parts[0].substr(1)));
    CUDAENV_TRY(own.count, Reader::number(parts[1].substr(1), k_most_count));
    for (parts = parts.subspan(2); !parts.empty() && parts.front().starts_with('a');
         parts = parts.subspan(1)) {
        CUDAENV_TRY(auto before, reader.string(parts.front().substr(1)));
        own.after.push_back(std::move(before));
    }
    return own;
}

Result<ListUndo> read_list(Reader& reader, std::string_view name, Parts parts) {
    if (parts.size() < 2) {
        return bad_journal("a list that nothing was added to");
    }
    ListUndo list;
    list.name = name;
    CUDAENV_TRY(list.before, read_state(parts.front()));
    parts = parts.subspan(1);
    while (!parts.empty()) {
        const char kind = parts.front().empty() ? '\0' : parts.front().front();
        if (kind == 'o') {
            CUDAENV_TRY(auto own, read_own(reader, parts));
            list.own.push_back(std::move(own));
            continue;
        }
        if (std::string_view("fbht").find(kind) == std::string_view::npos) {
            return bad_journal("a part of unknown kind");
        }
        CUDAENV_TRY(auto entry, read_entry(reader, parts.front().substr(1)));
        if (kind == 'h' || kind == 't') {
            (kind == 'h' ? list.first : list.last) = std::move(entry);
        } else {
            (kind == 'f' ? list.front : list.back).push_back(std::move(entry));
        }
        parts = parts.subspan(1);
    }
    if (list.front.empty() && list.back.empty()) {
        return bad_journal("a list that nothing was added to");
    }
    return list;
}

} // namespace

std::string write_journal(const Journal& journal) {
    Writer writer;
    writer.field(journal.place);
    writer.field(journal.context);
    for (const VariableUndo& variable : journal.variables) {
        writer.begin_record(variable.name);
        writer.part(variable.after);
        if (variable.before) {
            writer.part(*variable.before);
        }
    }
    for (const ListUndo& list : journal.lists) {
        writer.begin_record(list.name);
        writer.letter(list.before == ListBefore::Unset   ? 'u'
                      : list.before == ListBefore::Empty ? 'e'
                                                         : 'f');
        for (const std::string& entry : list.front) {
            writer.part(entry, "f");
        }
        for (const std::string& entry : list.back) {
            writer.part(entry, "b");
        }
        if (!list.first.empty()) {
            writer.part(list.first, "h");
        }
        if (!list.last.empty()) {
            writer.part(list.last, "t");
        }
        for (const OwnEntry& own : list.own) {
            writer.part(own.entry, "o");
            writer.count(std::min(own.count, k_most_count));
            for (const std::string& before : own.after) {
                writer.part(before, "a");
            }
        }
    }
    for (const std::string& name : journal.snapshots) {
        writer.begin_record(name);
    }
    for (const SetVariable& variable : journal.by_hand) {
        writer.begin_record('.' + variable.name);
        writer.part(variable.value);
    }
    return writer.sealed();
}

Result<Journal> read_journal(std::string_view text) {
    if (text.size() > k_most_journal_bytes) {
        return bad_journal("it is too long");
    }
    const std::size_t body = text.find(',');
    if (body == std::string_view::npos ||
        text.substr(0, body) != std::string(k_version) + '.' + checksum(text.substr(body))) {
        return bad_journal("it is cut or changed, or of another version");
    }
    const auto fields = split(text.substr(body + 1), ',');
    if (fields.size() < 2) {
        return bad_journal("it has no context");
    }
    Reader reader;
    Journal journal;
    CUDAENV_TRY(journal.place, reader.string(fields[0]));
    CUDAENV_TRY(journal.context, reader.string(fields[1]));
    std::vector<std::string_view> names;
    for (const std::string_view record : std::span(fields).subspan(2)) {
        const auto parts = split(record, '+');
        const std::string_view name = parts.front();
        const Parts rest = std::span(parts).subspan(1);
        const bool of_another = is_snapshot(name) && is_managed(snapshot_of(name).value_or("PATH"));
        if (of_another && rest.empty()) {
            journal.snapshots.emplace_back(name);
            continue;
        }
        if (name.starts_with('.') && is_managed(name.substr(1)) && rest.size() == 1) {
            CUDAENV_TRY(auto value, reader.string(rest.front()));
            journal.by_hand.push_back({std::string(name.substr(1)), std::move(value)});
            continue;
        }
        if (!is_managed(name) || std::ranges::find(names, name) != names.end()) {
            return bad_journal("a variable that is not cudaenv's to change, or one twice");
        }
        names.push_back(name);
        if (is_managed_list(name)) {
            CUDAENV_TRY(auto list, read_list(reader, name, rest));
            journal.lists.push_back(std::move(list));
        } else {
            CUDAENV_TRY(auto variable, read_variable(reader, name, rest));
            journal.variables.push_back(std::move(variable));
        }
    }
    return journal;
}

} // namespace cudaenv::patch
