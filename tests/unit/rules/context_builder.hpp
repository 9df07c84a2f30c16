// An inventory, the files on its disk, and the context of both, written in a few lines. `conda` and
// `pip` add a record, `file` a file to the record and the disk: as with real installers the later
// one wins. Changes without a record are changes of `disk`.
//
//   SceneBuilder env;
//   auto& numpy = env.conda("numpy", "1.26.4");
//   env.file(numpy, env.site() + "/numpy/core.py", "conda's");
//   auto& wheel = env.pip("numpy", "2.0.0");
//   env.file(wheel, env.site() + "/numpy/core.py", "the wheel's");
//   CHECK(env.codes() == std::vector<std::string>{"CE102"});
//
// References stay good for 100 records of each kind. Time goes on by a minute with each record.
#pragma once

#include "check/rules/check.hpp"
#include "tests/unit/rules/sha256.hpp"

#include <catch2/catch_message.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudaenv::rules::testing {

// Whether a finding is that case of its code, with at least these arguments.
inline bool is_case(const facts::Finding& finding, std::string_view situation,
                    const facts::Arguments& arguments = {}) {
    std::string text = finding.code + ' ' + finding.situation;
    for (const auto& [name, value] : finding.arguments) {
        text += "\n  " + name + ": " + value;
    }
    UNSCOPED_INFO(text);
    return finding.situation == situation &&
           std::all_of(arguments.begin(), arguments.end(), [&](const auto& argument) {
               return std::find(finding.arguments.begin(), finding.arguments.end(), argument) !=
                      finding.arguments.end();
           });
}
inline bool is_case(const CheckFinding& found, std::string_view situation,
                    const facts::Arguments& arguments = {}) {
    return is_case(found.finding, situation, arguments);
}

// Which cases of a repair, in their order: kinds(found) == kinds_of<UninstallPip, RestoreConda>()
using Kinds = std::vector<std::size_t>;
template <class... Cases>
Kinds kinds_of() {
    return {Repair(Cases{}).index()...};
}
inline Kinds kinds(const CheckFinding& found) {
    Kinds result;
    for (const auto& repair : found.repairs) {
        result.push_back(repair.index());
    }
    return result;
}
template <class Case>
const Case& repair_at(const CheckFinding& found, std::size_t index) {
    return std::get<Case>(found.repairs.at(index));
}

class ContextBuilder {
public:
    // 2026-11-21 10:00 UTC
    static constexpr std::int64_t k_first_ns = 1'795'255'200'000'000'000;
    static constexpr std::int64_t k_minute_ns = 60'000'000'000;

    ContextBuilder() {
        inventory.prefix = "/env";
        inventory.sites = {"lib/python3.11/site-packages"};
        inventory.conda.reserve(100);
        inventory.distributions.reserve(100);
    }

    facts::Inventory inventory;
    std::map<std::string, std::string, std::less<>> disk; // content by path
    std::vector<facts::SeenDistribution> seen;
    std::vector<facts::ExtensionModule> extensions;
    std::vector<KeptCopy> kept;
    const facts::EnvironmentFacts* environment = nullptr;
    const facts::Host* host = nullptr;
    const facts::Toolkit* toolkit = nullptr;
    std::string cuda;
    std::string cuda_origin;
    std::string library_path;
    std::vector<SearchedLibrary> searched;
    std::int64_t now_ns = k_first_ns;

    [[nodiscard]] const std::string& site() const { return inventory.sites.front(); }

    // A record of conda-meta, as yet without files.
    facts::CondaPackage& conda(const std::string& name, const std::string& version,
                               const std::string& build = "0") {
        inventory.conda_prefix = true;
        facts::CondaPackage package;
        package.name = name;
        package.version = version;
        package.build = build;
        package.channel = "conda-forge";
        package.record = "conda-meta/" + name + '-' + version + '-' + build + ".json";
        package.written_ns = tick();
        inventory.conda.push_back(std::move(package));
        return inventory.conda.back();
    }
    // A dist-info with METADATA, WHEEL, INSTALLER and RECORD, all written and in its RECORD.
    facts::Distribution& pip(const std::string& name, const std::string& version,
                             const std::string& installer = "pip") {
        auto& distribution = bare(name, version, installer);
        file(distribution, distribution.metadata + "/METADATA", metadata_text(name, version));
        file(distribution, distribution.metadata + "/WHEEL", "Wheel-Version: 1.0\n");
        file(distribution, distribution.metadata + "/INSTALLER", installer + '\n');
        unhashed(distribution, distribution.metadata + "/RECORD");
        return distribution;
    }
    // The same without a file of its own.
    facts::Distribution& bare(const std::string& name, const std::string& version,
                              const std::string& installer) {
        facts::Distribution distribution;
        distribution.name = name;
        std::replace(distribution.name.begin(), distribution.name.end(), '_', '-');
        distribution.written = name;
        distribution.version = version;
        distribution.installer = installer;
        distribution.site = site();
        auto written = name;
        std::replace(written.begin(), written.end(), '-', '_');
        distribution.metadata = site() + '/' + written + '-' + version + ".dist-info";
        distribution.has_metadata = true;
        distribution.has_record = true;
        distribution.installed_ns = tick();
        inventory.distributions.push_back(std::move(distribution));
        return inventory.distributions.back();
    }
    // A conda package of Python code, with the dist-info that it ships: record and distribution.
    // `python_name`: where it is not conda's own (torch of pytorch). INSTALLER is conda's.
    std::pair<facts::CondaPackage&, facts::Distribution&>
    conda_python(const std::string& name, const std::string& version,
                 const std::string& python_name = {}) {
        auto& package = conda(name, version);
        auto& distribution = bare(python_name.empty() ? name : python_name, version, "conda");
        for (const auto& [file_name, text] : std::vector<std::pair<std::string, std::string>>{
                 {"METADATA", metadata_text(distribution.written, version)},
                 {"WHEEL", "Wheel-Version: 1.0\n"},
                 {"INSTALLER", "conda\n"},
                 {"RECORD", "the record\n"}}) {
            const auto path = distribution.metadata + '/' + file_name;
            file(package, path, text);
            if (file_name != "RECORD" && file_name != "INSTALLER") {
                claim(distribution, path, text);
            }
        }
        // conda-build rewrites INSTALLER after RECORD was made.
        claim(distribution, distribution.metadata + "/INSTALLER", "pip\n");
        unhashed(distribution, distribution.metadata + "/RECORD");
        distribution.installed_ns = package.written_ns;
        return {package, distribution};
    }

    // In the record, and on the disk.
    template <class Package>
    void file(Package& package, const std::string& path, const std::string& content) {
        claim(package, path, content);
        disk[path] = content;
    }
    // In the record alone.
    template <class Package>
    static void claim(Package& package, const std::string& path, const std::string& content) {
        facts::FileClaim result;
        result.size = content.size();
        result.hash = facts::ClaimHash::Sha256;
        result.sha256 = cudaenv::testing::sha256(content);
        package.files.add(path, result);
    }
    // On the disk, and in the record without hash and size.
    template <class Package>
    void unhashed(Package& package, const std::string& path) {
        package.files.add(path, {});
        disk[path] = "without a hash";
    }
    // What an uninstall by that record does, its distribution included: by path, whoever wrote the
    // file that is there now.
    void uninstall(std::size_t distribution) {
        const auto& files = inventory.distributions[distribution].files;
        for (const auto& file_claim : files) {
            disk.erase(std::string(files.path(file_claim)));
        }
        inventory.distributions.erase(inventory.distributions.begin() +
                                      static_cast<std::ptrdiff_t>(distribution));
    }

    // What an examiner would find: every claimed path that is not what every record of it says.
    [[nodiscard]] facts::Examined examined() const {
        facts::Examined result;
        const auto look = [&](const auto& packages) {
            for (const auto& package : packages) {
                for (const auto& file_claim : package.files) {
                    const std::string path(package.files.path(file_claim));
                    const auto state = state_of(path);
                    if (facts::fit_of(file_claim, &state) != facts::Fit::Same &&
                        (file_claim.hash == facts::ClaimHash::Sha256 ||
                         state.lies == facts::Lies::Missing)) {
                        result.add(path, state);
                    }
                }
            }
        };
        look(inventory.conda);
        look(inventory.distributions);
        return result;
    }
    [[nodiscard]] facts::PathState state_of(const std::string& path) const {
        facts::PathState state;
        if (const auto found = disk.find(path); found != disk.end()) {
            state.lies = facts::Lies::File;
            state.size = found->second.size();
            state.sha256 = cudaenv::testing::sha256(found->second);
            state.changed_ns = now_ns;
        }
        return state;
    }

    // Good until the next call, and as long as the builder is not changed. Records: as at a prompt.
    const CheckContext& context(CheckDepth depth = CheckDepth::Everything) {
        m_claims = std::make_unique<facts::Claims>(inventory);
        m_ownership = std::make_unique<Ownership>(inventory, *m_claims);
        m_examined = examined();
        m_context = std::make_unique<CheckContext>(CheckContext{
            inventory,
            *m_claims,
            *m_ownership,
            depth == CheckDepth::Everything ? &m_examined : nullptr,
            depth != CheckDepth::Records ? environment : nullptr,
            host,
            toolkit,
            cuda,
            cuda_origin,
            extensions,
            seen,
            kept,
        });
        m_context->library_path = library_path;
        m_context->searched = searched;
        return *m_context;
    }
    // All findings, or those of one code.
    std::vector<CheckFinding> found(std::string_view code = {},
                                    CheckDepth depth = CheckDepth::Everything) {
        auto result = check(context(depth), depth);
        std::erase_if(result, [&](const CheckFinding& one) {
            return !code.empty() && one.finding.code != code;
        });
        return result;
    }
    // Of all findings, in their order.
    std::vector<std::string> codes(CheckDepth depth = CheckDepth::Everything) {
        std::vector<std::string> result;
        for (const auto& one : found({}, depth)) {
            result.push_back(one.finding.code);
        }
        return result;
    }

private:
    std::int64_t tick() { return std::exchange(now_ns, now_ns + k_minute_ns); }
    static std::string metadata_text(const std::string& name, const std::string& version) {
        return "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + '\n';
    }

    std::unique_ptr<facts::Claims> m_claims;
    std::unique_ptr<Ownership> m_ownership;
    facts::Examined m_examined;
    std::unique_ptr<CheckContext> m_context;
};

} // namespace cudaenv::rules::testing
