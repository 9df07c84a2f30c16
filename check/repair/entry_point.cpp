#include "check/repair/entry_point.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace cudaenv::repair {

namespace {

// "a.b_c": nothing else belongs into a line of Python.
bool is_dotted_name(std::string_view text) {
    const auto parts = split(text, '.');
    return !parts.empty() && std::ranges::all_of(parts, [](std::string_view part) {
        return !part.empty() && !is_digit(part.front()) &&
               std::ranges::all_of(part, [](char c) { return is_alnum(c) || c == '_'; });
    });
}

// The kernel takes 127 bytes and no blank; a shell takes the rest, and to Python its line is text.
std::string first_lines(std::string_view python) {
    constexpr std::size_t k_longest = 127 - 2;
    if (python.size() <= k_longest && python.find_first_of(" \t") == std::string_view::npos) {
        return fmt::format("#!{}\n", python);
    }
    return fmt::format("#!/bin/sh\n'''exec' \"{}\" \"$0\" \"$@\" #'''\n", python);
}

} // namespace

std::map<std::string, std::string> read_entry_points(const std::string& link_json) {
    std::map<std::string, std::string> entry_points;
    const auto document = nlohmann::json::parse(link_json, nullptr, false);
    const auto pointer = nlohmann::json::json_pointer("/noarch/entry_points");
    if (!document.is_object() || !document.contains(pointer) || !document[pointer].is_array()) {
        return entry_points;
    }
    for (const auto& entry : document[pointer]) {
        const auto line = entry.is_string() ? entry.get<std::string>() : std::string();
        if (const auto equals = line.find('='); equals != std::string::npos) {
            entry_points[std::string(trim(line.substr(0, equals)))] = trim(line.substr(equals + 1));
        }
    }
    return entry_points;
}

std::optional<std::string> entry_point_script(std::string_view python, std::string_view target) {
    const auto colon = target.find(':');
    if (colon == std::string_view::npos || python.find_first_of("\"\n$`\\") != std::string::npos) {
        return std::nullopt;
    }
    const auto module = trim(target.substr(0, colon));
    auto function = target.substr(colon + 1);
    function = trim(function.substr(0, function.find('['))); // extras
    if (!is_dotted_name(module) || !is_dotted_name(function)) {
        return std::nullopt;
    }
    const auto imported = function.substr(0, function.find('.'));
    return first_lines(python) +
           fmt::format(
               "# -*- coding: utf-8 -*-\n"
               "import re\n"
               "import sys\n"
               "\n"
               "from {} import {}\n"
               "\n"
               "if __name__ == \"__main__\":\n"
               "    sys.argv[0] = re.sub(r\"(-script\\.pyw?|\\.exe)?$\", \"\", sys.argv[0])\n"
               "    sys.exit({}())\n",
               module, imported, function);
}

} // namespace cudaenv::repair
