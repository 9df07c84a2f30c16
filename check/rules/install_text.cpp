#include "check/rules/install_text.hpp"

#include "base/ranges.hpp"
#include "check/rules/installers.hpp"
#include "solver/specs/pep440.hpp"

#include <algorithm>

namespace cudaenv::rules {

namespace {

bool is_letter_or_digit(char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
           (letter >= '0' && letter <= '9');
}

bool has_only(std::string_view text, std::string_view others) {
    return !text.empty() && std::ranges::all_of(text, [&](char letter) {
        return is_letter_or_digit(letter) || others.find(letter) != std::string_view::npos;
    });
}

bool is_whole(const std::vector<std::string>& words) {
    return !is_one_of(std::string(), words);
}

} // namespace

std::string pip_name(std::string_view name) {
    return has_only(name, "-_.") && is_letter_or_digit(name.front()) &&
                   is_letter_or_digit(name.back())
               ? std::string(name)
               : std::string();
}

std::string pip_requirement(std::string_view name, std::string_view version) {
    return pip_name(name).empty() || !specs::Pep440Version::parse(version)
               ? std::string()
               : std::string(name) + "==" + std::string(version);
}

std::string conda_requirement(std::string_view name, std::string_view version,
                              std::string_view build) {
    constexpr std::string_view k_more = "._+!-";
    if (!has_only(name, "-_.") || name.front() == '-' || name.front() == '.' ||
        !has_only(version, k_more) || (!build.empty() && !has_only(build, k_more))) {
        return {};
    }
    auto requirement = std::string(name) + '=' + std::string(version);
    return build.empty() ? requirement : requirement + '=' + std::string(build);
}

std::string pip_source(std::string_view source) {
    const auto scheme = source.substr(0, std::min(source.find("://"), source.size()));
    const bool is_url = scheme.size() != source.size() && has_only(scheme, "+");
    return source.starts_with('/') || (is_url && is_letter_or_digit(source.front()))
               ? std::string(source)
               : std::string();
}

std::string both_commands(const std::string& first, const std::string& then) {
    return first.empty() || then.empty() ? std::string() : first + " && " + then;
}

knowledge::Target target_of(const CheckContext& context, const facts::Distribution* like) {
    using knowledge::Target;
    const auto kind = context.inventory.conda_prefix ? Target::Kind::Conda : Target::Kind::Venv;
    auto target =
        knowledge::target_of(context.host == nullptr ? facts::Host{} : *context.host, kind,
                             context.inventory.prefix, like != nullptr && is_uv(like->installer));
    target.python = absolute_path(context, context.inventory.python);
    return target;
}

std::string pip_install(const CheckContext& context, const facts::Distribution* like,
                        const std::vector<std::string>& words) {
    return is_whole(words) ? knowledge::pip_install(target_of(context, like), words)
                           : std::string();
}

std::string conda_install(const CheckContext& context, const std::vector<std::string>& words) {
    return is_whole(words) ? knowledge::conda_install(target_of(context, nullptr), words, {})
                           : std::string();
}

std::string absolute_path(const CheckContext& context, std::string_view path) {
    if (path.starts_with('/')) {
        return std::string(path);
    }
    const auto& prefix = context.inventory.prefix;
    return (prefix == "/" ? std::string() : prefix) + '/' + std::string(path);
}

} // namespace cudaenv::rules
