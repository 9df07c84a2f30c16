#include "shellhooks/hooks/shell.hpp"

#include "base/text.hpp"

#include <algorithm>

namespace cudaenv::hooks {

namespace {

bool has_name(const Shell& shell, std::string_view name) {
    return shell.name == name ||
           (!name.empty() && std::ranges::count(split(shell.other_names, ' '), name) > 0);
}

template <typename Filter>
std::string names_where(Filter filter) {
    std::string names;
    for (const Shell* const shell : shells()) {
        if (filter(*shell)) {
            names += (names.empty() ? "" : " ") + std::string(shell->name);
        }
    }
    return names;
}

} // namespace

const Shell* shell_named(std::string_view name) {
    const auto found =
        std::ranges::find_if(shells(), [&](const Shell* shell) { return has_name(*shell, name); });
    return found == shells().end() ? nullptr : *found;
}

const Shell& hooked_shell_at(std::string_view path) {
    const Shell* const shell = shell_named(path.substr(path.rfind('/') + 1));
    return shell != nullptr && shell->hook != nullptr ? *shell : *shell_named("bash");
}

std::string_view names_of_all_shells() {
    static const std::string names = [] {
        std::string own = names_where([](const Shell&) { return true; });
        for (const Shell* const shell : shells()) {
            own += (shell->other_names.empty() ? "" : " ") + std::string(shell->other_names);
        }
        return own;
    }();
    return names;
}

std::string_view names_of_hooked_shells() {
    static const std::string names =
        names_where([](const Shell& shell) { return shell.hook != nullptr; });
    return names;
}

std::string_view names_of_completing_shells() {
    static const std::string names =
        names_where([](const Shell& shell) { return shell.completions != nullptr; });
    return names;
}

} // namespace cudaenv::hooks
