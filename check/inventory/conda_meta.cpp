#include "check/inventory/conda_meta.hpp"

#include "base/raw_bytes.hpp"
#include "base/text.hpp"
#include "check/inventory/record_text.hpp"
#include "check/inventory/sha256_file.hpp"

#include <simdjson.h>

#include <algorithm>
#include <string>

namespace cudaenv::inventory {

namespace {

using facts::ClaimKind;
using facts::FileClaim;
using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

std::string_view as_text(const element& value) {
    std::string_view text;
    return value.get(text) == simdjson::SUCCESS ? text : std::string_view();
}

// JSON cannot hold bytes that are no UTF-8. Python writes byte 0xNN of such a name as a surrogate
// without a partner, "\udcNN"; other writers may leave the byte. Both become the character
// U+10FCNN of the last private plane, which no name of a file has, and real_bytes() takes them
// back.
std::string with_stand_ins(std::string_view text) {
    const auto is_low = [&](std::size_t at) {
        return text.substr(at).starts_with("\\ud") && at + 6 <= text.size() &&
               (text[at + 3] == 'c' || text[at + 3] == 'C') &&
               (hex_value(text[at + 4]) & 0xf8U) == 8U && hex_value(text[at + 5]) != 0xff;
    };
    const auto is_high = [&](std::size_t at) {
        return text.substr(at).starts_with("\\ud") && at + 6 <= text.size() &&
               hex_value(text[at + 3]) >= 8U && hex_value(text[at + 3]) <= 11U;
    };
    std::string out;
    out.reserve(text.size() + 64);
    std::size_t at = 0;
    while (at < text.size()) {
        if (text[at] == '\\') {
            if (is_high(at)) {
                out += text.substr(at, 12); // with its partner, or refused by the parser
                at += std::min<std::size_t>(12, text.size() - at);
            } else if (is_low(at)) {
                out += "\\udbff";
                out += text.substr(at, 6);
                at += 6;
            } else {
                out += text.substr(at, 2);
                at += std::min<std::size_t>(2, text.size() - at);
            }
            continue;
        }
        const auto byte = static_cast<unsigned char>(text[at]);
        std::size_t length = 1;
        if (byte >= 0x80) {
            length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
            if (!is_utf8(text.substr(at, length))) {
                out += "\xf4\x8f";
                out += static_cast<char>(0xb0U | (byte >> 6U));
                out += static_cast<char>(0x80U | (byte & 0x3fU));
                ++at;
                continue;
            }
        }
        out += text.substr(at, length);
        at += length;
    }
    return out;
}

std::string real_bytes(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto rest = text.substr(at);
        if (rest.size() >= 4 && rest.starts_with("\xf4\x8f") &&
            (static_cast<unsigned char>(rest[2]) & 0xfeU) == 0xb2U) {
            const auto high = static_cast<unsigned char>(rest[2]) & 0x03U;
            const auto low = static_cast<unsigned char>(rest[3]) & 0x3fU;
            out += static_cast<char>((high << 6U) | low);
            at += 4;
        } else {
            out += text[at++];
        }
    }
    return out;
}

class Record {
public:
    Record(ClaimedPaths& paths, bool has_stand_ins)
        : m_paths(&paths), m_has_stand_ins(has_stand_ins) {}

    facts::CondaPackage read(const object& record) {
        array files;
        bool has_files = false;
        element paths_data;
        bool has_paths_data = false;
        bool is_noarch_python = false;
        for (const auto& [key, value] : record) {
            if (key == "name") {
                m_package.name = as_text(value);
            } else if (key == "version") {
                m_package.version = as_text(value);
            } else if (key == "build") {
                m_package.build = as_text(value);
            } else if (key == "channel") {
                m_package.channel = redact_secrets(as_text(value));
            } else if (key == "depends") {
                read_depends(value);
            } else if (key == "extracted_package_dir") {
                m_package.extracted = bytes_of(value);
            } else if (key == "link") {
                element source;
                if (m_package.extracted.empty() &&
                    value["source"].get(source) == simdjson::SUCCESS) {
                    m_package.extracted = bytes_of(source);
                }
            } else if (key == "paths_data") {
                paths_data = value;
                has_paths_data = true;
            } else if (key == "noarch") {
                is_noarch_python = as_text(value) == "python";
            } else if (key == "files") {
                has_files = value.get(files) == simdjson::SUCCESS;
            }
        }
        if (is_noarch_python && has_files) {
            m_site = site_of(files);
        }
        m_is_noarch_python = is_noarch_python;
        if (has_paths_data) {
            read_paths_data(paths_data);
        }
        if (has_files && m_package.files.empty()) {
            for (const element path : files) {
                add(as_text(path), {});
            }
        }
        m_package.files.shrink_to_fit();
        return std::move(m_package);
    }

private:
    [[nodiscard]] std::string bytes_of(const element& value) const {
        return m_has_stand_ins ? real_bytes(as_text(value)) : std::string(as_text(value));
    }

    // "lib/python3.11/site-packages/", as it is in the names of files that were linked; empty where
    // no file is in it.
    [[nodiscard]] std::string site_of(const array& files) const {
        constexpr std::string_view k_site = "/site-packages/";
        for (const element file : files) {
            const auto path = bytes_of(file);
            if (const auto at = path.find(k_site); at != std::string::npos) {
                return path.substr(0, at + k_site.size());
            }
        }
        return {};
    }

    // Where a path of a noarch Python package lies. conda's own records have it as the package
    // does ("site-packages/six.py", "python-scripts/six"), rattler's and mamba's as it was linked.
    // Empty where it is unknown.
    [[nodiscard]] std::string linked_path(std::string_view written) const {
        constexpr std::string_view k_in_site = "site-packages/";
        constexpr std::string_view k_script = "python-scripts/";
        if (written.starts_with(k_in_site)) {
            return m_site.empty() ? std::string()
                                  : m_site + std::string(written.substr(k_in_site.size()));
        }
        if (written.starts_with(k_script)) {
            return "bin/" + std::string(written.substr(k_script.size()));
        }
        return std::string(written);
    }

    void read_depends(const element& value) {
        array list;
        if (value.get(list) != simdjson::SUCCESS) {
            return;
        }
        for (const element one : list) {
            m_package.depends.emplace_back(as_text(one));
        }
    }

    void read_paths_data(const element& value) {
        array list;
        if (value["paths"].get(list) != simdjson::SUCCESS) {
            return;
        }
        constexpr std::size_t k_usual_path = 60;
        m_package.files.reserve(list.size(), list.size() * k_usual_path);
        for (const element one : list) {
            object entry;
            if (one.get(entry) == simdjson::SUCCESS) {
                read_path(entry);
            }
        }
    }

    void read_path(const object& entry) {
        FileClaim claim;
        std::string_view path;
        std::string_view of_package;
        std::string_view in_prefix;
        for (const auto& [key, value] : entry) {
            if (key == "_path") {
                path = as_text(value);
            } else if (key == "path_type") {
                const auto kind = as_text(value);
                claim.kind = kind == "softlink"    ? ClaimKind::Softlink
                             : kind == "directory" ? ClaimKind::Directory
                                                   : ClaimKind::File;
            } else if (key == "sha256") {
                of_package = as_text(value);
            } else if (key == "sha256_in_prefix") {
                in_prefix = as_text(value);
            } else if (key == "size_in_bytes") {
                if (std::uint64_t size = 0; value.get(size) == simdjson::SUCCESS) {
                    claim.size = size;
                }
            } else if (key == "prefix_placeholder") {
                claim.prefix_replaced = claim.prefix_replaced || !as_text(value).empty();
            }
        }
        if (claim.kind == ClaimKind::File && !of_package.empty() && !in_prefix.empty() &&
            of_package != in_prefix) {
            claim.prefix_replaced = true;
        }
        const auto hash = in_prefix.empty() ? of_package : in_prefix;
        if (!hash.empty()) {
            claim.hash =
                decode_hex(hash, claim.sha256) ? facts::ClaimHash::Sha256 : facts::ClaimHash::Other;
        }
        add(path, claim, hash);
    }

    void add(std::string_view written, FileClaim claim, std::string_view hash = {}) {
        if (claim.hash == facts::ClaimHash::Other) {
            claim.sha256 = {};
        }
        std::string bytes;
        if (m_has_stand_ins) {
            bytes = real_bytes(written);
            written = bytes;
        }
        std::string linked;
        if (m_is_noarch_python) {
            linked = linked_path(written);
            written = linked;
        }
        if (written.empty() || written.find('\0') != std::string_view::npos ||
            m_package.files.size() == k_most_claims) {
            return;
        }
        if (const auto path = m_paths->resolve({}, written); !path.empty()) {
            m_package.files.add(path, claim, hash);
        }
    }

    ClaimedPaths* m_paths;
    bool m_has_stand_ins;
    bool m_is_noarch_python = false;
    std::string m_site; // of a noarch Python package
    facts::CondaPackage m_package;
};

} // namespace

struct CondaMetaReader::Parser {
    simdjson::dom::parser json;
};

CondaMetaReader::CondaMetaReader() : m_parser(std::make_unique<Parser>()) {}
CondaMetaReader::~CondaMetaReader() = default;

Result<facts::CondaPackage> CondaMetaReader::read(std::string_view text, ClaimedPaths& paths) {
    if (text.size() > k_longest_record) {
        return bad_input("too-large", "is larger than 64 MiB");
    }
    if (text.empty()) { // simdjson copies from where it lies, which may be nowhere
        return bad_input("bad-json", "is empty");
    }
    element document;
    auto error = m_parser->json.parse(text.data(), text.size()).get(document);
    std::string mended;
    bool has_stand_ins = false;
    if (error == simdjson::UTF8_ERROR || error == simdjson::STRING_ERROR) {
        mended = with_stand_ins(text);
        has_stand_ins = true;
        error = m_parser->json.parse(mended).get(document);
    }
    if (error != simdjson::SUCCESS) {
        return bad_input("bad-json", std::string("is not JSON: ") + simdjson::error_message(error));
    }
    object record;
    if (document.get(record) != simdjson::SUCCESS) {
        return bad_input("bad-record", "is not a JSON object");
    }
    auto package = Record(paths, has_stand_ins).read(record);
    if (package.name.empty()) {
        return bad_input("bad-record", "names no package");
    }
    return package;
}

} // namespace cudaenv::inventory
