#include "check/inventory/failing_imports.hpp"

#include "base/ascii.hpp"
#include "base/fd.hpp"
#include "base/ranges.hpp"
#include "base/real_path.hpp"
#include "base/text.hpp"
#include "base/whole_io.hpp"
#include "host/file_system.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <fcntl.h>
#include <set>
#include <utility>

namespace cudaenv::inventory {

namespace {

using facts::Distribution;
using facts::FailingImport;

constexpr std::size_t k_most_files = 400; // of one distribution
constexpr std::size_t k_most_bytes = std::size_t{1} << 20U;

// Distributions whose module has another name.
constexpr auto k_modules =
    std::to_array<std::pair<std::string_view, std::string_view>>({{"python-dateutil", "dateutil"},
                                                                  {"pyyaml", "yaml"},
                                                                  {"pillow", "PIL"},
                                                                  {"scikit-learn", "sklearn"},
                                                                  {"opencv-python", "cv2"},
                                                                  {"opencv-python-headless", "cv2"},
                                                                  {"beautifulsoup4", "bs4"}});

// What careless wheels install beside their package.
constexpr auto k_beside =
    std::to_array<std::string_view>({"tests", "test", "docs", "doc", "examples", "benchmarks",
                                     "scripts", "setup.py", "conftest.py"});

std::string module_of(const std::string& requirement) {
    for (const auto& [name, module] : k_modules) {
        if (name == requirement) {
            return std::string(module);
        }
    }
    auto module = requirement;
    std::ranges::replace(module, '-', '_');
    return module;
}

bool is_name(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}

std::string_view first_word(std::string_view text) {
    text = trim(text);
    const auto end = std::ranges::find_if_not(text, is_name);
    return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

// The names of "a, b as c  # comment" and of "(a, b)", whose rest may be on other lines: those are
// left out.
std::vector<std::string_view> names_of(std::string_view text) {
    text = text.substr(0, text.find('#'));
    std::vector<std::string_view> names;
    for (auto part : split(text, ',')) {
        part = trim(part);
        if (part.starts_with('(')) {
            part.remove_prefix(1);
        }
        if (const auto name = first_word(part); !name.empty()) {
            names.push_back(name);
        }
    }
    return names;
}

class Walk {
public:
    Walk(const facts::Inventory& inventory, const Distribution& distribution)
        : m_prefix(&inventory.prefix) {
        const auto site = distribution.site + '/';
        for (const auto& file : distribution.files) {
            const auto path = distribution.files.path(file);
            if (path.ends_with(".py") && path.starts_with(site)) {
                m_files.emplace(path);
            }
        }
        m_site = site;
        for (const auto& path : m_files) {
            const auto below = std::string_view(path).substr(site.size());
            const auto slash = below.find('/');
            const auto name = below.substr(0, slash);
            if (is_one_of(name, k_beside)) {
                continue;
            }
            if (slash == std::string_view::npos || below.substr(slash) == "/__init__.py") {
                add(path);
            }
        }
    }

    // The first file that imports each of these modules.
    std::vector<FailingImport>
    find(std::uint32_t index, const std::vector<std::pair<std::string, std::string>>& missing) {
        std::vector<FailingImport> found;
        for (std::size_t read = 0; !m_waiting.empty() && read < k_most_files; ++read) {
            const auto path = m_waiting.front();
            m_waiting.pop_front();
            for (const auto& [module, line] : imports_of_source(content_of(path))) {
                if (module.starts_with('.')) {
                    add_relative(path, module);
                    continue;
                }
                add_absolute(module);
                const auto top = module.substr(0, module.find('.'));
                for (const auto& [requirement, name] : missing) {
                    if (name == top && std::ranges::none_of(found, [&](const auto& one) {
                            return one.requirement == requirement;
                        })) {
                        found.push_back({index, requirement, top, path, line});
                    }
                }
            }
        }
        return found;
    }

private:
    [[nodiscard]] std::string content_of(const std::string& path) const {
        const auto absolute = path.starts_with('/') ? path : *m_prefix + '/' + path;
        const Fd file(::open(absolute.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
        return file ? read_rest(file.get(), k_most_bytes).value_or("") : std::string();
    }

    void add(const std::string& path) {
        if (m_files.contains(path) && m_seen.insert(path).second) {
            m_waiting.push_back(path);
        }
    }

    // "site/torch/nn/functional.py" or ".../__init__.py" of "torch/nn/functional", and the packages
    // above it.
    void add_module(const std::string& base, std::string below) {
        std::ranges::replace(below, '.', '/');
        for (auto end = below.find('/');; end = below.find('/', end + 1)) {
            const auto part = base + below.substr(0, end);
            add(part + "/__init__.py");
            add(part + ".py");
            if (end == std::string::npos) {
                return;
            }
        }
    }

    void add_absolute(const std::string& module) { add_module(m_site, module); }

    void add_relative(const std::string& path, const std::string& module) {
        const auto dots = module.find_first_not_of('.');
        auto base = path.substr(0, path.rfind('/') + 1);
        for (std::size_t i = 1; i < std::min(dots, module.size()); ++i) {
            const auto above = base.rfind('/', base.size() - 2);
            if (above == std::string::npos || base.size() <= m_site.size()) {
                return;
            }
            base.resize(above + 1);
        }
        if (dots != std::string::npos) {
            add_module(base, module.substr(dots));
        }
    }

    const std::string* m_prefix;
    std::string m_site; // with a slash at its end
    std::set<std::string> m_files;
    std::set<std::string> m_seen;
    std::deque<std::string> m_waiting;
};

bool is_installed(const facts::Inventory& inventory, const std::string& name) {
    const auto is_it = [&](const auto& one) { return one.name == name; };
    return std::ranges::any_of(inventory.distributions, is_it) ||
           std::ranges::any_of(inventory.base, is_it) ||
           std::ranges::any_of(inventory.conda, is_it);
}

// Whoever owns it: a copy without metadata, a backport of a module that this Python has itself.
class Importable {
public:
    explicit Importable(const facts::Inventory& inventory) {
        const auto absolute = [&](const std::string& path) {
            return path.starts_with('/') ? path : inventory.prefix + '/' + path;
        };
        const auto python = real_path(absolute(inventory.python));
        const auto base = host::parent_path(host::parent_path(python));
        for (const auto& site : inventory.sites) {
            const std::string library(host::parent_path(site)); // lib/python3.11
            m_places.push_back(absolute(site));
            m_places.push_back(absolute(library));
            m_places.push_back(std::string(base) + "/lib/" + std::string(host::base_name(library)));
        }
        m_places.insert(m_places.end(), inventory.base_sites.begin(), inventory.base_sites.end());
        for (const auto& file : inventory.path_files) {
            m_places.insert(m_places.end(), file.directories.begin(), file.directories.end());
        }
    }

    [[nodiscard]] bool has(const std::string& module) {
        return std::ranges::any_of(m_places, [&](const std::string& place) {
            const auto path = place + '/' + module;
            return m_files.exists(path) || m_files.exists(path + ".py") ||
                   m_files.exists(path + ".so");
        });
    }

private:
    std::vector<std::string> m_places;
    host::DiskFileSystem m_files;
};

} // namespace

std::vector<std::pair<std::string, unsigned>> imports_of_source(std::string_view text) {
    std::vector<std::pair<std::string, unsigned>> modules;
    unsigned number = 0;
    bool in_text = false; // of a docstring
    for (const auto line : split(text, '\n')) {
        ++number;
        std::size_t quotes = 0;
        for (const std::string_view quote : {"\"\"\"", "'''"}) {
            for (auto at = line.find(quote); at != std::string_view::npos;
                 at = line.find(quote, at + quote.size())) {
                ++quotes;
            }
        }
        const bool was_in_text = in_text;
        in_text = (quotes % 2 == 1) != in_text;
        if (was_in_text) {
            continue;
        }
        constexpr std::string_view k_import = "import ";
        constexpr std::string_view k_from = "from ";
        if (line.starts_with(k_import)) {
            for (const auto name : names_of(line.substr(k_import.size()))) {
                modules.emplace_back(name, number);
            }
        } else if (line.starts_with(k_from)) {
            const auto module = first_word(line.substr(k_from.size()));
            const auto at = line.find(" import ");
            if (module.empty() || at == std::string_view::npos) {
                continue;
            }
            modules.emplace_back(module, number);
            // `from . import x` may name a module or what __init__.py defines.
            for (const auto name : names_of(line.substr(at + 8))) {
                if (module.starts_with('.') || module.find('.') == std::string_view::npos) {
                    auto below = std::string(module);
                    below += module.ends_with('.') ? "" : ".";
                    modules.emplace_back(below + std::string(name), number);
                }
            }
        } else if (!line.empty() && line.front() != ' ' && line.front() != '\t' &&
                   (line.starts_with("raise ") || line.starts_with("sys.exit"))) {
            break;
        }
    }
    return modules;
}

std::vector<FailingImport> failing_imports(const facts::Inventory& inventory,
                                           const GoesOn& wanted) {
    std::vector<FailingImport> found;
    Importable importable(inventory);
    for (std::uint32_t i = 0; i < inventory.distributions.size() && goes_on(wanted); ++i) {
        const auto& one = inventory.distributions[i];
        std::vector<std::pair<std::string, std::string>> missing;
        for (const auto& text : one.requires_dist) {
            const auto requirement = specs::Requirement::parse(text);
            if (!requirement || text.find("extra ==") != std::string::npos) {
                continue;
            }
            const auto name = requirement->normalized_name();
            if (auto module = module_of(name);
                !is_installed(inventory, name) && !importable.has(module)) {
                missing.emplace_back(name, std::move(module));
            }
        }
        if (!missing.empty()) {
            auto failing = Walk(inventory, one).find(i, missing);
            found.insert(found.end(), failing.begin(), failing.end());
        }
    }
    return found;
}

} // namespace cudaenv::inventory
