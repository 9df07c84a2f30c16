#include "check/inventory/earlier_sites.hpp"

#include "base/ranges.hpp"
#include "base/real_path.hpp"
#include "base/text.hpp"
#include "host/file_system.hpp"
#include "solver/specs/requirement.hpp"

#include <algorithm>

namespace cudaenv::inventory {

namespace {

using facts::EarlierSite;

constexpr std::size_t k_most_entries = 32; // of PYTHONPATH

// "torch-2.8.0+cu128.dist-info", "torch-2.8.0-py3.11.egg-info".
bool add_distribution(const std::string& entry, EarlierSite& site) {
    for (const std::string_view ending : {".dist-info", ".egg-info"}) {
        if (!entry.ends_with(ending)) {
            continue;
        }
        const auto parts =
            split(std::string_view(entry).substr(0, entry.size() - ending.size()), '-');
        if (parts.size() >= 2) {
            site.distributions.push_back({specs::normalize_project_name(parts[0]),
                                          std::string(parts[1]), site.path + '/' + entry});
        }
        return true;
    }
    return false;
}

EarlierSite read_site(host::FileSystem& files, EarlierSite::From from, std::string path) {
    EarlierSite site{from, std::move(path), {}, {}, {}};
    for (const auto& entry : files.names_in(site.path)) {
        if (add_distribution(entry, site)) {
            continue;
        }
        if (entry.ends_with(".py")) {
            site.modules.push_back(entry.substr(0, entry.size() - 3));
        } else if (entry.find('.') == std::string::npos &&
                   files.exists(site.path + '/' + entry + "/__init__.py")) {
            site.modules.push_back(entry);
        }
    }
    const std::string nvidia = "nvidia";
    for (const auto& part : files.names_in(site.path + '/' + nvidia)) {
        auto directory = nvidia;
        directory += '/' + part + "/lib";
        for (const auto& file : files.names_in(site.path + '/' + directory)) {
            if (file.find(".so") != std::string::npos) {
                site.libraries.push_back(directory + '/' + file);
            }
        }
    }
    return site;
}

} // namespace

std::vector<EarlierSite> earlier_sites(const facts::Inventory& inventory,
                                       const PythonVariables& variables) {
    host::DiskFileSystem files;
    std::vector<std::string> known;
    for (const auto* sites : {&inventory.sites, &inventory.base_sites}) {
        for (const auto& site : *sites) {
            known.push_back(
                real_path(site.starts_with('/') ? site : inventory.prefix + '/' + site));
        }
    }
    std::vector<EarlierSite> found;
    const auto add = [&](EarlierSite::From from, const std::string& path) {
        const auto real = resolved_path(path);
        if (!path.starts_with('/') || real.empty() || is_one_of(real, known)) {
            return;
        }
        known.push_back(real);
        auto site = read_site(files, from, path);
        if (!site.distributions.empty() || !site.modules.empty() || !site.libraries.empty()) {
            found.push_back(std::move(site));
        }
    };
    auto entries = split(variables.python_path, ':');
    entries.resize(std::min(entries.size(), k_most_entries));
    for (const auto entry : entries) {
        auto path = std::string(entry);
        while (path.size() > 1 && path.ends_with('/')) {
            path.pop_back();
        }
        add(EarlierSite::From::PythonPath, path);
    }
    const bool is_venv = files.exists(inventory.prefix + "/pyvenv.cfg");
    if (is_venv || !variables.no_user_site.empty() ||
        (variables.user_base.empty() && variables.home.empty())) {
        return found;
    }
    const auto base =
        variables.user_base.empty() ? variables.home + "/.local" : variables.user_base;
    for (const auto& site : inventory.sites) {
        // lib/python3.11/site-packages
        const auto python = host::base_name(host::parent_path(site));
        if (python.starts_with("python3.")) {
            add(EarlierSite::From::UserSite,
                base + "/lib/" + std::string(python) + "/site-packages");
        }
    }
    return found;
}

} // namespace cudaenv::inventory
