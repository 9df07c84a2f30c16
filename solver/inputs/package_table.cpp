#include "solver/inputs/package_table.hpp"

#include "base/ascii.hpp"
#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "solver/specs/ask.hpp"
#include "solver/specs/cuda_label.hpp"

#include <algorithm>
#include <charconv>

namespace cudaenv::inputs {

namespace {

std::string decoded_url(std::string_view url) {
    std::string text;
    for (std::size_t i = 0; i < url.size(); ++i) {
        unsigned value = 0;
        if (url[i] == '%' && i + 2 < url.size()) {
            const char* const end = url.data() + i + 3;
            const auto [stop, failed] = std::from_chars(url.data() + i + 1, end, value, 16);
            if (failed == std::errc() && stop == end && value >= 0x20 && value < 0x7F) {
                text += static_cast<char>(value);
                i += 2;
                continue;
            }
        }
        text += url[i];
    }
    return text;
}

// The last part of a path or URL, without a query or fragment.
std::string file_of(std::string_view url) {
    url = url.substr(0, url.find_first_of("?#"));
    while (url.ends_with('/')) {
        url.remove_suffix(1);
    }
    return decoded_url(url.substr(url.rfind('/') == k_npos ? 0 : url.rfind('/') + 1));
}

struct Wheel {
    std::string requirement; // "torch==2.1.0+cu121"
    std::string python;      // "==3.10.*"; empty where it is for several
};

// NAME-VERSION[-BUILD]-PYTHON-ABI-PLATFORM.whl
std::optional<Wheel> wheel_of(const std::string& file) {
    if (!file.ends_with(".whl")) {
        return std::nullopt;
    }
    const auto parts = split(std::string_view(file).substr(0, file.size() - 4), '-');
    if (parts.size() != 5 && parts.size() != 6) {
        return std::nullopt;
    }
    Wheel wheel;
    wheel.requirement = specs::normalize_project_name(parts[0]) + "==" + std::string(parts[1]);
    if (!specs::Requirement::parse(wheel.requirement)) {
        return std::nullopt;
    }
    const std::string_view python = parts[parts.size() - 3];
    const std::string_view abi = parts[parts.size() - 2];
    if (python == abi && python.starts_with("cp3") && python.size() > 3 &&
        std::ranges::all_of(python.substr(2), is_digit)) {
        wheel.python = "==3." + std::string(python.substr(3)) + ".*";
    }
    return wheel;
}

// Does pip take this for a file, a directory or a URL?
bool is_unnamed(std::string_view text) {
    if (text.starts_with('.') || text.starts_with('/') || text.starts_with("file:")) {
        return true;
    }
    const std::string_view first = text.substr(0, text.find_first_of(" \t;"));
    const std::size_t scheme = first.find("://");
    if (scheme != k_npos) {
        return first.substr(0, scheme).find('@') == k_npos;
    }
    return first.find('/') != k_npos || first.ends_with(".whl") || first.ends_with(".tar.gz") ||
           first.ends_with(".zip");
}

// Of a requirement without its marker, as both pip and conda read it: no blanks, == for ===.
std::string spec_text(const specs::Requirement& requirement) {
    std::string text = requirement.name;
    if (!requirement.extras.empty()) {
        text += '[' + join(requirement.extras, ",") + ']';
    }
    std::string specifiers;
    for (const specs::Specifier& clause : requirement.specifiers.clauses()) {
        const bool identical = clause.relation() == specs::Specifier::Operator::Identical;
        specifiers +=
            (specifiers.empty() ? "" : ",") + (identical ? "==" + clause.version() : clause.str());
    }
    return text + specifiers;
}

std::string marker_text(std::string_view requirement) {
    const std::size_t semicolon = requirement.find(';');
    return semicolon == k_npos ? "" : std::string(trim(requirement.substr(semicolon + 1)));
}

// conda's name=version, which pip refuses.
std::string pips_form(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == k_npos || equals == 0 || equals + 1 >= text.size() || text[equals + 1] == '=' ||
        std::string_view("<>!~=").find(text[equals - 1]) != k_npos) {
        return {};
    }
    const std::string_view version = text.substr(equals + 1);
    return std::string(trim(text.substr(0, equals))) +
           "==" + std::string(version.substr(0, version.find_first_of("= \t;")));
}

void add_noted(Input& input, const FilePlace& place, std::string_view what) {
    input.notes.push_back(place.origin() + ": " +
                          printable(redact_secrets(std::string(what).substr(0, 200))) +
                          " comes from its own place and is not part of the answer");
}

Result<void> add_wheel(Input& input, const Wheel& wheel, const std::string& marker,
                       const FilePlace& place, Strength strength) {
    auto& list = strength == Strength::Wanted ? input.wanted : input.bounds;
    list.push_back({wheel.requirement + marker, place.origin()});
    if (!wheel.python.empty() && marker.empty()) {
        input.pythons.push_back({wheel.python, place.origin()});
    }
    return {};
}

} // namespace

std::string FilePlace::origin() const {
    return printable(path) + " line " + std::to_string(line);
}

tl::unexpected<Error> error_at(const FilePlace& place, std::string code, std::string message,
                               std::string hint) {
    return tl::unexpected(Error{ErrorKind::BadInput, std::move(code), printable(message),
                                printable(place.path), place.line, place.column, printable(hint)});
}

tl::unexpected<Error> error_within(const FilePlace& place, Error error) {
    error.path = printable(place.path);
    error.line = place.line;
    error.column = place.column + std::max(error.column, 1) - 1;
    error.message = printable(error.message);
    error.hint = printable(error.hint);
    if (error.hint.empty()) {
        error.hint = "as in torch>=2.4; python_version >= '3.10'";
    }
    return tl::unexpected(std::move(error));
}

Result<void> add_requirement(Input& input, std::string_view text, const FilePlace& place,
                             const Target& target, Strength strength) {
    std::string marker;
    if (is_unnamed(text)) {
        // Behind a URL, which may hold ";", a marker begins with a blank.
        const std::size_t space = text.find_first_of(" \t");
        const std::string_view url = text.substr(0, space);
        if (space != k_npos && text.substr(space).find(';') != k_npos) {
            marker = marker_text(text.substr(space));
        }
        const auto wheel = wheel_of(file_of(url));
        if (!wheel) {
            add_noted(input, place, url);
            return {};
        }
        if (!marker.empty()) {
            auto parsed = specs::Marker::parse(marker);
            if (!parsed) {
                return error_within(place, std::move(parsed).error());
            }
            auto verdict = target.judge(*parsed);
            if (!verdict) {
                return error_within(place, std::move(verdict).error());
            }
            if (*verdict == Target::Verdict::No) {
                return {};
            }
            marker = *verdict == Target::Verdict::Yes ? "" : "; " + marker;
        }
        return add_wheel(input, *wheel, marker, place, strength);
    }
    auto requirement = specs::Requirement::parse(text);
    if (!requirement) {
        Error error = std::move(requirement).error();
        if (const auto swapped = text.find_first_of('=');
            swapped != k_npos && swapped + 1 < text.size() &&
            (text[swapped + 1] == '>' || text[swapped + 1] == '<')) {
            error.message = quoted(text.substr(swapped, 2)) + " is not an operator";
            error.hint = "pip's form is " +
                         printable(std::string(text.substr(0, swapped)) + text[swapped + 1] + '=' +
                                   std::string(text.substr(swapped + 2)));
        } else if (const std::string form = pips_form(text); !form.empty()) {
            error.message = quoted(text) + " has conda's \"=\"";
            error.hint = "pip's form is " + printable(form);
        }
        return error_within(place, std::move(error));
    }
    if (requirement->marker) {
        auto verdict = target.judge(*requirement->marker);
        if (!verdict) {
            return error_within(place, std::move(verdict).error());
        }
        if (*verdict == Target::Verdict::No) {
            return {};
        }
        if (*verdict == Target::Verdict::DependsOnPython) {
            marker = "; " + marker_text(requirement->url.empty()
                                            ? text
                                            : text.substr(text.find(requirement->url) +
                                                          requirement->url.size()));
        }
    }
    if (!requirement->url.empty()) {
        const auto wheel = wheel_of(file_of(requirement->url));
        if (!wheel) {
            add_noted(input, place, requirement->name + " @ " + requirement->url);
            return {};
        }
        return add_wheel(input, *wheel, marker, place, strength);
    }
    auto& list = strength == Strength::Wanted ? input.wanted : input.bounds;
    list.push_back({spec_text(*requirement) + marker, place.origin()});
    return {};
}

Result<void> add_match_spec(Input& input, std::string_view text, const FilePlace& place) {
    auto ask = specs::Ask::parse(text);
    if (!ask) {
        return error_within(place, std::move(ask).error());
    }
    input.wanted.push_back({ask->text(), place.origin(), true});
    return {};
}

void add_index(Input& input, std::string_view url, const FilePlace& place) {
    const std::string last = file_of(url);
    const std::size_t plus = last.rfind('+');
    std::string_view label = last;
    if (plus != std::string::npos && last.ends_with(".html")) {
        label = std::string_view(last).substr(plus + 1);
        label.remove_suffix(5);
    }
    std::string meant;
    if (label == "cpu") {
        meant = "cpu";
    } else if (label.starts_with("cu") && label.size() >= 4 && label.size() <= 5 &&
               std::ranges::all_of(label.substr(2), is_digit)) {
        const auto cuda = specs::cuda_in(label);
        meant = cuda ? cuda->str() : "";
    }
    if (meant.empty()) {
        while (url.ends_with('/')) {
            url.remove_suffix(1);
        }
        input.indexes.push_back({redact_secrets(std::string(url)), place.origin()});
        return;
    }
    if (!input.index_label) {
        input.index_label = Entry{meant, place.origin()};
    } else if (input.index_label->text != meant) {
        input.notes.push_back(input.index_label->origin + " and " + place.origin() +
                              " name indexes of different builds of PyTorch: neither decides");
        input.index_label->text.clear();
    }
}

Result<void> add_python(Input& input, std::string_view specifiers, const FilePlace& place,
                        Target& target) {
    auto set = specs::SpecifierSet::parse(specifiers);
    if (!set) {
        Error error = std::move(set).error();
        error.hint = "versions of Python, as in >=3.10,<3.13";
        return error_within(place, std::move(error));
    }
    target.narrow(*set);
    if (!set->clauses().empty()) {
        input.pythons.push_back({set->str(), place.origin()});
    }
    return {};
}

const pins::TomlEntry* find_entry(const pins::TomlTable& table, std::string_view key) {
    return find_pointer(table, key, &pins::TomlEntry::key);
}

namespace {

tl::unexpected<Error> wrong_kind(const FilePlace& place, const std::string& what,
                                 const pins::TomlValue& value, std::string_view expected,
                                 std::string_view example) {
    return error_at(place, "bad-value",
                    what + " is " + std::string(pins::kind_of(value)) + ", not " +
                        std::string(expected),
                    example.empty() ? "" : "as in " + std::string(example));
}

} // namespace

Result<const pins::TomlTable*> table_of(const pins::TomlEntry& entry, std::string_view path) {
    if (const auto* table = std::get_if<pins::TomlTable>(&entry.value.data)) {
        return table;
    }
    return wrong_kind(at(path, entry.at), quoted(entry.key), entry.value, "a table", {});
}

Result<const pins::TomlArray*> array_of(const pins::TomlEntry& entry, std::string_view path,
                                        std::string_view example) {
    if (const auto* array = std::get_if<pins::TomlArray>(&entry.value.data)) {
        return array;
    }
    return wrong_kind(at(path, entry.at), quoted(entry.key), entry.value, "an array", example);
}

Result<std::string> string_of(const pins::TomlValue& value, std::string_view path,
                              std::string_view example) {
    if (const auto* text = std::get_if<std::string>(&value.data)) {
        return *text;
    }
    if (const auto* number = std::get_if<pins::TomlNumber>(&value.data)) {
        return error_at(at(path, value.at), "bad-value",
                        number->text + " is a number, and as a number 3.10 is 3.1",
                        "write " + pins::toml_string(number->text));
    }
    return wrong_kind(at(path, value.at), "this", value, "a string", example);
}

} // namespace cudaenv::inputs
