#include "check/rules/module_names.hpp"

#include <algorithm>

namespace cudaenv::rules {

namespace {

std::string_view without_so(std::string_view file_name) {
    constexpr std::string_view k_end = ".so";
    if (!file_name.ends_with(k_end)) {
        return {};
    }
    file_name.remove_suffix(k_end.size());
    return file_name;
}

bool is_tag(std::string_view text) {
    return text == "abi3" || text.starts_with("cpython-") || text.starts_with("pypy") ||
           text.starts_with("graalpy");
}

} // namespace

std::string_view python_tag_of(std::string_view file_name) {
    const auto name = without_so(file_name);
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) {
        return {};
    }
    const auto tag = name.substr(dot + 1);
    return is_tag(tag) ? tag : std::string_view();
}

std::string python_of_tag(std::string_view tag) {
    constexpr std::string_view k_cpython = "cpython-";
    if (!tag.starts_with(k_cpython)) {
        return {};
    }
    tag.remove_prefix(k_cpython.size());
    // "311", "313t", "36m"; free threading is an ABI of its own, whose directory is python3.13t.
    const auto digits = tag.substr(0, std::min(tag.find_first_not_of("0123456789"), tag.size()));
    if (digits.size() < 2 || digits.front() != '3') {
        return {};
    }
    auto rest = tag.substr(digits.size());
    const bool is_threaded = rest.starts_with('t');
    return "3." + std::string(digits.substr(1)) + (is_threaded ? "t" : "");
}

std::string python_of_site(std::string_view site) {
    constexpr std::string_view k_python = "/python3.";
    const auto padded = '/' + std::string(site) + '/';
    const auto at = padded.rfind(k_python);
    if (at == std::string::npos) {
        return {};
    }
    const auto begin = at + k_python.size();
    const auto end = padded.find('/', begin);
    const auto minor = padded.substr(begin, end - begin);
    const auto digits = minor.find_first_not_of("0123456789");
    if (minor.empty() || digits == 0 ||
        (digits != std::string::npos && minor.substr(digits) != "t")) {
        return {};
    }
    return "3." + minor;
}

std::string_view module_stem(std::string_view path) {
    const auto slash = path.rfind('/');
    const auto begin = slash == std::string_view::npos ? 0 : slash + 1;
    auto name = without_so(path.substr(begin));
    if (const auto tag = python_tag_of(path.substr(begin)); !tag.empty()) {
        name.remove_suffix(tag.size() + 1);
    }
    return path.substr(0, begin + name.size());
}

} // namespace cudaenv::rules
