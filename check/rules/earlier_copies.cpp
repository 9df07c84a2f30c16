// CE115: PYTHONPATH or the user's own site-packages have another version of what is installed in
// the environment, and Python imports that one.
#include "base/ranges.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/requirements.hpp"
#include "check/rules/rules.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/knowledge/knowledge.hpp"

#include <algorithm>

namespace cudaenv::rules {

namespace {

using facts::EarlierSite;

bool matters(std::string_view name) {
    return name == "numpy" || is_of_cuda_world(name) ||
           find_pointer(knowledge::pip_distributions(), name, &knowledge::PipDistribution::name) !=
               nullptr;
}

struct Copy {
    const facts::Distribution* here;
    std::string name;     // "torch 2.6.0", "a torch of unknown version"
    std::string evidence; // its path
};

// Its source is the environment's own: an editable install of it.
bool is_source_of(const CheckContext& context, const facts::Distribution& distribution,
                  std::string_view site) {
    const auto is_it = [&](const std::string& path) {
        return !path.empty() && absolute_path(context, path) == site;
    };
    return is_it(distribution.source_directory) ||
           (distribution.direct_url && is_it(distribution.direct_url->local_directory)) ||
           std::ranges::any_of(context.inventory.path_files, [&](const facts::PathFile& file) {
               return is_one_of(site, file.directories);
           });
}

std::optional<Copy> copy_of(const EarlierSite& site, const facts::Distribution& distribution) {
    const auto named =
        std::ranges::find(site.distributions, distribution.name, &facts::EarlierDistribution::name);
    if (named != site.distributions.end()) {
        return named->version == distribution.version
                   ? std::nullopt
                   : std::optional(
                         Copy{&distribution, named->name + ' ' + named->version, named->metadata});
    }
    const auto* framework = knowledge::find_framework(distribution.name);
    const auto& module = framework == nullptr ? distribution.name : framework->module;
    if (is_one_of(module, site.modules)) {
        return Copy{&distribution, module + " (version unknown)", site.path + '/' + module};
    }
    for (const auto& file : distribution.files) {
        const auto path = distribution.files.path(file);
        const auto at = path.find("/nvidia/");
        if (at != std::string_view::npos && is_one_of(path.substr(at + 1), site.libraries)) {
            const std::string library(path.substr(at + 1));
            return Copy{&distribution, library, site.path + '/' + library};
        }
    }
    return std::nullopt;
}

// PYTHONPATH without that directory.
std::string without_directory(const CheckContext& context, std::string_view directory) {
    std::vector<std::string> rest;
    for (const auto one : split(context.python_path, ':')) {
        if (!one.empty() && one != directory && one != std::string(directory) + '/') {
            rest.emplace_back(one);
        }
    }
    return rest.empty() ? "unset PYTHONPATH" : "export PYTHONPATH=" + shell_word(join(rest, ":"));
}

} // namespace

void find_earlier_copies(const CheckContext& context, std::vector<CheckFinding>& findings) {
    for (const auto& site : context.earlier_sites) {
        std::vector<Copy> copies;
        for (const auto& distribution : context.inventory.distributions) {
            if (!matters(distribution.name) || is_source_of(context, distribution, site.path)) {
                continue;
            }
            if (auto copy = copy_of(site, distribution)) {
                copies.push_back(std::move(*copy));
            }
        }
        if (copies.empty()) {
            continue;
        }
        const bool of_user = site.from == EarlierSite::From::UserSite;
        const auto more = copies.size() - 1;
        auto found = report(context, "CE115", of_user ? "user-site" : "python-path",
                            copies.front().here->name,
                            {{"copy", copies.front().name},
                             {"here", title_of(*copies.front().here)},
                             {"directory", site.path},
                             {"more", more == 0 ? std::string() : std::to_string(more)},
                             {"command", of_user ? "export PYTHONNOUSERSITE=1"
                                                 : without_directory(context, site.path)}});
        for (const auto& copy : copies) {
            found.finding.evidence.push_back(
                {copy.evidence, 0, copy.name + "; the environment has " + copy.here->version});
            found.files.push_back(copy.evidence);
        }
        sort_unique(found.files);
        findings.push_back(std::move(found));
    }
}

} // namespace cudaenv::rules
