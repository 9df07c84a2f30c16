#include "cli/commands/pip_conf.hpp"

#include "base/percent.hpp"
#include "base/raw_bytes.hpp"
#include "base/text.hpp"
#include "cli/commands/file_changes.hpp"

#include <algorithm>

namespace cudaenv::cli {

namespace {

constexpr std::string_view k_header = "[global]\n";
constexpr std::string_view k_feature = "build-constraint";

struct ConfigLine {
    std::size_t begin = 0;
    std::size_t end = 0; // after its end
    std::string_view text;
    enum class Kind { Other, Header, Option } kind = Kind::Other;
    std::string section; // that it is in, or opens
    std::string name;    // of an option
    std::string value;
    std::size_t indent = 0;
};

// pip's names of options: `Find_Links` and `--find-links` are find-links.
std::string option_name(std::string_view text) {
    std::string name = to_lower_ascii(trim(text));
    std::ranges::replace(name, '_', '-');
    return name.starts_with("--") ? name.substr(2) : name;
}

// As Python's configparser reads it, which pip uses.
std::vector<ConfigLine> lines_of(std::string_view text) {
    std::vector<ConfigLine> lines;
    std::string section;
    bool in_option = false;
    std::size_t option_indent = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        ConfigLine line{at, end, text.substr(at, end - at), ConfigLine::Kind::Other, section, {},
                        {}, 0};
        at = end;
        const std::string_view words = trim(line.text);
        if (words.empty() || words.front() == '#' || words.front() == ';') {
            lines.push_back(std::move(line));
            continue;
        }
        line.indent = static_cast<std::size_t>(words.data() - line.text.data());
        if (in_option && line.indent > option_indent) {
            lines.push_back(std::move(line)); // goes on with the option's value
            continue;
        }
        option_indent = line.indent;
        const std::size_t close = words.rfind(']');
        if (words.front() == '[' && close != std::string_view::npos && close > 1) {
            section = std::string(words.substr(1, close - 1));
            line.kind = ConfigLine::Kind::Header;
            line.section = section;
            in_option = false;
        } else {
            const std::size_t sign = words.find_first_of("=:");
            line.kind = ConfigLine::Kind::Option;
            line.name = option_name(words.substr(0, sign));
            line.value =
                sign == std::string_view::npos ? "" : std::string(trim(words.substr(sign + 1)));
            in_option = true;
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

// Where [global] ends, and how far our lines must be indented there: not further than the option
// before them, or they would continue it, and as far as the lines after them, or those would
// continue ours. Nothing if there is no such section.
struct GlobalEnd {
    std::size_t at = 0;
    std::size_t indent = 0;
};
std::optional<GlobalEnd> end_of_global(std::string_view text) {
    std::optional<GlobalEnd> end;
    bool has_option = false;
    for (const ConfigLine& line : lines_of(text)) {
        if (line.section != "global") {
            if (end) {
                end->indent = has_option ? end->indent : line.indent;
                break; // pip rejects a file with the section twice
            }
            continue;
        }
        end = GlobalEnd{line.end, end ? end->indent : 0};
        if (line.kind == ConfigLine::Kind::Option) {
            has_option = true;
            end->indent = line.indent;
        }
    }
    return end;
}

bool begins_with_header(std::string_view text) {
    for (const ConfigLine& line : lines_of(text)) {
        if (line.kind != ConfigLine::Kind::Other) {
            return line.kind == ConfigLine::Kind::Header;
        }
    }
    return true; // nothing that would need one
}

std::string without_our_options(std::string_view text, std::string_view value) {
    const auto lines = lines_of(text);
    const bool ours = std::ranges::any_of(lines, [&](const ConfigLine& line) {
        return line.name == "constraint" && line.value == value;
    });
    std::string kept;
    for (const ConfigLine& line : lines) {
        const bool goes = ours && line.section == "global" &&
                          ((line.name == "constraint" && line.value == value) ||
                           (line.name == "use-feature" && line.value == k_feature));
        kept += goes ? std::string_view() : line.text;
    }
    return kept;
}

} // namespace

std::vector<PipOption> pip_options(std::string_view text) {
    std::vector<PipOption> options;
    int number = 0;
    bool ours = false;
    for (const ConfigLine& line : lines_of(text)) {
        ++number;
        const std::string_view words = trim(line.text);
        ours = words == k_block_begin || (ours && words != k_block_end);
        if (line.kind == ConfigLine::Kind::Option && !ours) {
            options.push_back({line.section, line.name, line.value, number});
        }
    }
    return options;
}

Result<std::string> with_constraint(std::string_view text, std::string_view comment,
                                    const std::vector<std::string>& options) {
    const auto global = end_of_global(text);
    std::string lines(comment);
    if (!global) {
        lines += k_header;
    }
    for (const std::string& option : options) {
        lines += std::string(global ? global->indent : 0, ' ') + option + '\n';
    }
    const std::size_t at = global ? global->at : text.size();
    CUDAENV_TRY(const auto head, with_block(text.substr(0, at), lines));
    return head + std::string(text.substr(at));
}

Result<std::string> without_constraint(std::string_view text, std::string_view value) {
    CUDAENV_TRY(const auto plain, without_block(text));
    if (plain == text) {
        return value.empty() ? plain : without_our_options(text, value);
    }
    // The block's lines, then what stands behind it.
    std::size_t begin = 0;
    std::size_t behind = 0;
    bool inside = false;
    bool has_header = false;
    for (const ConfigLine& line : lines_of(text)) {
        const std::string_view words = trim(line.text);
        if (!inside && behind == 0 && words == k_block_begin) {
            inside = true;
            begin = line.begin;
        } else if (inside && words == k_block_end) {
            inside = false;
            behind = line.end;
        } else if (inside) {
            has_header = has_header || line.text == k_header;
        }
    }
    if (has_header && !begins_with_header(text.substr(behind))) {
        return std::string(text.substr(0, begin)) + std::string(k_header) +
               std::string(text.substr(behind));
    }
    return plain;
}

std::optional<std::string> pip_path(std::string_view path) {
    if (!is_utf8(path)) {
        return std::nullopt;
    }
    constexpr std::string_view k_plain = "/._+-,@=~";
    const std::string encoded = percent_encode(path, k_plain);
    return encoded == path ? encoded : "file://" + encoded;
}

} // namespace cudaenv::cli
