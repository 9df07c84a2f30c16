#include "solver/knowledge/findings.hpp"

#include "solver/knowledge/table.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <vector>

namespace cudaenv::knowledge {

namespace {

facts::Severity severity_of(const Row& row) {
    const std::string word = row.text("severity");
    if (word == "error") {
        return facts::Severity::Error;
    }
    if (word == "warning") {
        return facts::Severity::Warning;
    }
    if (word == "note") {
        return facts::Severity::Note;
    }
    throw std::logic_error("data/findings.json: no severity \"" + word + '"');
}

std::vector<FindingCase> read_cases() {
    std::vector<FindingCase> cases;
    read_table("findings", [&](std::string_view section, const Row& row) {
        if (section != "cases") {
            return;
        }
        cases.push_back({row.text("code"), row.find("case").value_or(""), severity_of(row),
                         row.text("title"), row.find("cause").value_or(""),
                         row.find("fix").value_or(""), row.find("command").value_or(""),
                         row.find("verdict").value_or(""), row.flag("passes")});
    });
    return cases;
}

const std::string* value_of(const facts::Arguments& arguments, std::string_view name) {
    const auto found = std::ranges::find(arguments, name, &facts::Arguments::value_type::first);
    return found == arguments.end() ? nullptr : &found->second;
}

[[noreturn]] void refuse(std::string_view text_template, std::string_view what) {
    throw std::logic_error("template \"" + std::string(text_template) + "\": " + std::string(what));
}

// "{name}" or "{name|one|many}", without its braces.
std::string value_in(std::string_view text_template, std::string_view inside,
                     const facts::Arguments& arguments) {
    const std::size_t bar = inside.find('|');
    const std::string* const value = value_of(arguments, inside.substr(0, bar));
    if (value == nullptr) {
        refuse(text_template, "no argument \"" + std::string(inside.substr(0, bar)) + '"');
    }
    if (bar == std::string_view::npos) {
        return *value;
    }
    const std::size_t second = inside.find('|', bar + 1);
    if (second == std::string_view::npos) {
        refuse(text_template, "a plural without two forms");
    }
    return std::string(*value == "1" ? inside.substr(bar + 1, second - bar - 1)
                                     : inside.substr(second + 1));
}

} // namespace

std::span<const FindingCase> finding_cases() {
    static const std::vector<FindingCase> cases = read_cases();
    return cases;
}

const FindingCase& finding_case(std::string_view code, std::string_view situation) {
    const auto cases = finding_cases();
    const auto found = std::ranges::find_if(cases, [&](const FindingCase& one) {
        return one.code == code && one.situation == situation;
    });
    if (found == cases.end()) {
        throw std::logic_error("data/findings.json has no case " + std::string(code) + ' ' +
                               std::string(situation));
    }
    return *found;
}

facts::Fix withheld_fix(std::string_view reason, const facts::Arguments& arguments) {
    static const auto fixes = [] {
        std::map<std::string, facts::Fix, std::less<>> by_reason;
        read_table("findings", [&](std::string_view section, const Row& row) {
            if (section == "withheld") {
                by_reason[row.text("reason")] = {row.text("fix"),
                                                 row.find("command").value_or("")};
            }
        });
        return by_reason;
    }();
    const auto found = fixes.find(reason);
    if (found == fixes.end()) {
        throw std::logic_error("data/findings.json withholds no fix for " + std::string(reason));
    }
    return {filled(found->second.text, arguments), filled(found->second.command, arguments)};
}

std::string filled(std::string_view text_template, const facts::Arguments& arguments) {
    std::string text;
    bool shown = true; // false inside a group whose condition does not hold
    for (std::size_t at = 0; at < text_template.size();) {
        if (text_template[at] != '{') {
            if (shown) {
                text += text_template[at];
            }
            ++at;
            continue;
        }
        const std::size_t end = text_template.find('}', at);
        if (end == std::string_view::npos) {
            refuse(text_template, "a brace is not closed");
        }
        const std::string_view inside = text_template.substr(at + 1, end - at - 1);
        at = end + 1;
        if (inside == "/") {
            shown = true;
        } else if (inside.starts_with('?') || inside.starts_with('!')) {
            const std::string* const value = value_of(arguments, inside.substr(1));
            shown = (value != nullptr && !value->empty()) == inside.starts_with('?');
        } else if (shown) {
            text += value_in(text_template, inside, arguments);
        }
    }
    return text;
}

facts::Finding finding(std::string_view code, std::string_view situation,
                       facts::Arguments arguments, std::optional<facts::Severity> severity) {
    const FindingCase& row = finding_case(code, situation);
    facts::Finding made;
    made.code = row.code;
    made.severity = severity.value_or(row.severity);
    made.title = filled(row.title, arguments);
    made.cause = filled(row.cause, arguments);
    if (!row.fix.empty() || !row.command.empty()) {
        facts::Fix fix{filled(row.fix, arguments), filled(row.command, arguments)};
        if (!fix.text.empty() || !fix.command.empty()) {
            made.fix = std::move(fix);
        }
    }
    made.situation = row.situation;
    made.arguments = std::move(arguments);
    return made;
}

} // namespace cudaenv::knowledge
