#include "solver/inputs/target.hpp"

#include <algorithm>

namespace cudaenv::inputs {

namespace {

std::string_view major_minor(std::string_view version) {
    const std::size_t first = version.find('.');
    return version.substr(0,
                          first == std::string_view::npos ? first : version.find('.', first + 1));
}

} // namespace

Target::Target(std::string_view python, std::string machine) : m_machine(std::move(machine)) {
    // A minor version stands for its first and a late patch release: markers may compare either.
    const auto add_minor = [&](const std::string& minor) {
        m_pythons.push_back(minor + ".0");
        m_pythons.push_back(minor + ".99");
    };
    if (!python.empty() && major_minor(python) != python) {
        m_pythons.emplace_back(python);
    } else if (!python.empty()) {
        add_minor(std::string(python));
    } else {
        constexpr int k_oldest = 6; // of what CUDA builds are published for
        constexpr int k_newest = 16;
        for (int minor = k_oldest; minor <= k_newest; ++minor) {
            add_minor("3." + std::to_string(minor));
        }
    }
}

void Target::narrow(const specs::SpecifierSet& specifiers) {
    std::vector<std::string> allowed;
    std::ranges::copy_if(m_pythons, std::back_inserter(allowed), [&](const std::string& python) {
        return specifiers.contains(python, specs::Prereleases::Allowed);
    });
    if (!allowed.empty()) {
        m_pythons = std::move(allowed);
    }
}

Result<Target::Verdict> Target::judge(const specs::Marker& marker) const {
    bool any = false;
    bool all = true;
    for (const std::string& python : m_pythons) {
        specs::MarkerEnvironment environment;
        environment.python_version = std::string(major_minor(python));
        environment.python_full_version = python;
        environment.implementation_version = python;
        environment.platform_machine = m_machine;
        CUDAENV_TRY(const bool holds, marker.evaluate(environment));
        any = any || holds;
        all = all && holds;
    }
    return all ? Verdict::Yes : any ? Verdict::DependsOnPython : Verdict::No;
}

std::string Target::platform() const {
    return "linux-" + (m_machine == "x86_64" ? "64" : m_machine);
}

} // namespace cudaenv::inputs
