#include "check/inventory/record_text.hpp"

#include "base/text.hpp"
#include "check/inventory/sha256_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace cudaenv::inventory {

namespace {

using facts::ClaimHash;
using facts::FileClaim;

// No path is longer than PATH_MAX (4096), every byte of it doubled at worst: what goes on longer is
// a quote that was never closed.
constexpr std::size_t k_longest_field = 8192;
constexpr std::uint8_t k_no_digit = 0xff;

// RFC 4648, the alphabet for URLs and file names.
constexpr std::array<std::uint8_t, 256> k_base64 = [] {
    std::array<std::uint8_t, 256> values{};
    values.fill(k_no_digit);
    constexpr std::string_view k_alphabet =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (std::size_t at = 0; at < k_alphabet.size(); ++at) {
        values[static_cast<unsigned char>(k_alphabet[at])] = static_cast<std::uint8_t>(at);
    }
    return values;
}();

// 43 characters, with or without the "=" that fills the last four up. Debian's tools write 64
// hexadecimal digits instead.
bool decode_sha256(std::string_view text, facts::Sha256Digest& into) {
    if (text.size() == 2 * into.size()) {
        return decode_hex(text, into);
    }
    constexpr std::size_t k_characters = 43;
    if (text.size() == k_characters + 1 && text.back() == '=') {
        text.remove_suffix(1);
    }
    if (text.size() != k_characters) {
        return false;
    }
    std::uint32_t bits = 0;
    unsigned have = 0;
    std::size_t out = 0;
    for (const char c : text) {
        const auto value = k_base64[static_cast<unsigned char>(c)];
        if (value == k_no_digit) {
            return false;
        }
        bits = (bits << 6U) | value;
        have += 6;
        if (have >= 8) {
            have -= 8;
            into[out++] = static_cast<std::uint8_t>(bits >> have);
        }
    }
    return true;
}

class RecordParser {
public:
    RecordParser(std::string_view text, std::string_view site, ClaimedPaths& paths)
        : m_text(text), m_site(site), m_paths(&paths) {}

    RecordText read() {
        constexpr std::size_t k_usual_line = 110;
        m_record.files.reserve(std::min(m_text.size() / k_usual_line + 16, k_most_claims),
                               m_text.size());
        while (m_at < m_text.size() && !m_record.cut) {
            ++m_line;
            read_line();
        }
        m_record.files.shrink_to_fit();
        return std::move(m_record);
    }

private:
    struct Row {
        std::array<std::string_view, 3> fields;
        bool fits = true; // no more than three
    };

    void read_line() {
        const auto newline = m_text.find('\n', m_at);
        const auto end = std::min(newline, m_text.size());
        auto line = m_text.substr(m_at, end - m_at);
        const auto next = newline == std::string_view::npos ? m_text.size() : newline + 1;
        if (line.ends_with('\r')) {
            line.remove_suffix(1);
        }
        Row row;
        if (line.find('"') == std::string_view::npos) {
            m_at = next;
            if (line.empty()) {
                return;
            }
            row = split_line(line);
        } else if (!read_quoted(row)) {
            m_at = next;
            damaged();
            return;
        }
        take(row);
    }

    static Row split_line(std::string_view line) {
        Row row;
        for (std::size_t field = 0; field < row.fields.size(); ++field) {
            const auto comma = line.find(',');
            row.fields[field] = line.substr(0, comma);
            if (comma == std::string_view::npos) {
                return row;
            }
            line.remove_prefix(comma + 1);
        }
        row.fits = false;
        return row;
    }

    // A row with quotes, which may go over several lines. False, with m_at where it was, for one
    // that does not end.
    bool read_quoted(Row& row) {
        auto at = m_at;
        for (std::size_t field = 0;; ++field) {
            auto& into = m_fields[std::min(field, m_fields.size() - 1)];
            into.clear();
            if (!read_field(at, into)) {
                return false;
            }
            if (field < row.fields.size()) {
                row.fields[field] = into;
            } else {
                row.fits = false;
            }
            if (at < m_text.size() && m_text[at] == ',') {
                ++at;
                continue;
            }
            break;
        }
        // The line's end that the row has come to.
        at += at < m_text.size() && m_text[at] == '\r' ? 1 : 0;
        at += at < m_text.size() && m_text[at] == '\n' ? 1 : 0;
        m_line +=
            static_cast<std::size_t>(std::count(m_text.begin() + static_cast<long>(m_at),
                                                m_text.begin() + static_cast<long>(at), '\n'));
        m_line -= m_text[at - 1] == '\n' ? 1 : 0;
        m_at = at;
        return true;
    }

    // Up to the comma or the line's end. As Python's csv: what follows a closing quote is part of
    // the field, and a quote inside a field that did not begin with one is a letter.
    bool read_field(std::size_t& at, std::string& into) const {
        const auto begin = at;
        if (at < m_text.size() && m_text[at] == '"') {
            ++at;
            while (true) {
                if (at >= m_text.size() || at - begin > k_longest_field) {
                    return false;
                }
                if (m_text[at] != '"') {
                    into += m_text[at++];
                } else if (at + 1 < m_text.size() && m_text[at + 1] == '"') {
                    into += '"';
                    at += 2;
                } else {
                    ++at;
                    break;
                }
            }
        }
        while (at < m_text.size() && m_text[at] != ',' && m_text[at] != '\n' && !ends_line(at)) {
            if (at - begin > k_longest_field) {
                return false;
            }
            into += m_text[at++];
        }
        return true;
    }

    [[nodiscard]] bool ends_line(std::size_t at) const {
        return m_text[at] == '\r' && (at + 1 == m_text.size() || m_text[at + 1] == '\n');
    }

    void damaged() {
        ++m_record.damaged;
        if (m_record.first_damaged_line == 0) {
            m_record.first_damaged_line = m_line;
        }
    }

    void take(const Row& row) {
        const auto [written, hash, size] = row.fields;
        if (!row.fits || written.empty() || written.find('\0') != std::string_view::npos) {
            damaged();
            return;
        }
        const auto path = m_paths->resolve(m_site, written);
        if (path.empty()) {
            damaged(); // the prefix itself is not a file
            return;
        }
        if (m_record.files.size() == k_most_claims) {
            m_record.cut = true;
            return;
        }
        FileClaim claim;
        bool whole = true;
        if (written.ends_with('/')) {
            claim.kind = facts::ClaimKind::Directory;
        }
        if (!size.empty()) {
            const auto [end, error] =
                std::from_chars(size.data(), size.data() + size.size(), claim.size);
            if (error != std::errc() || end != size.data() + size.size()) {
                claim.size = FileClaim::k_no_size;
                whole = false;
            }
        }
        constexpr std::string_view k_sha256 = "sha256=";
        if (hash.starts_with(k_sha256)) {
            if (decode_sha256(hash.substr(k_sha256.size()), claim.sha256)) {
                claim.hash = ClaimHash::Sha256;
            } else {
                claim.sha256 = {};
                claim.hash = ClaimHash::Other;
                whole = false;
            }
        } else if (!hash.empty()) {
            claim.hash = ClaimHash::Other;
        }
        m_record.cut = !m_record.files.add(path, claim, hash);
        if (!whole) {
            damaged();
        }
    }

    std::string_view m_text;
    std::string_view m_site;
    ClaimedPaths* m_paths;
    std::size_t m_at = 0;
    std::size_t m_line = 0;
    std::array<std::string, 4> m_fields; // of a row with quotes; the last for what is too many
    RecordText m_record;
};

} // namespace

RecordText parse_record(std::string_view text, std::string_view site, ClaimedPaths& paths) {
    return RecordParser(text, site, paths).read();
}

RecordText parse_installed_files(std::string_view text, std::string_view egg_info,
                                 ClaimedPaths& paths) {
    RecordText record;
    std::size_t number = 0;
    while (!text.empty() && !record.cut) {
        const auto newline = text.find('\n');
        const auto line = trim(text.substr(0, newline));
        text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
        ++number;
        if (line.empty()) {
            continue;
        }
        if (record.files.size() == k_most_claims) {
            record.cut = true;
            break;
        }
        const auto path = paths.resolve(egg_info, line);
        if (path.empty() || path.find('\0') != std::string_view::npos) {
            ++record.damaged;
            record.first_damaged_line =
                record.first_damaged_line == 0 ? number : record.first_damaged_line;
            continue;
        }
        record.cut = !record.files.add(path, {});
    }
    record.files.shrink_to_fit();
    return record;
}

} // namespace cudaenv::inventory
