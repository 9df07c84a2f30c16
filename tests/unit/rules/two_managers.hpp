// conda and pip as they treat one environment, modelled on what the real ones were seen to do:
// neither asks the other, and each removes by path what its own record names. For random sequences
// of their installs and removals; what then lies on the disk is the oracle.
#pragma once

#include "tests/unit/rules/context_builder.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace cudaenv::rules::testing {

class TwoManagers {
public:
    using Files = std::map<std::string, std::string>; // content by path

    // Whether packages of different names have a file in common.
    explicit TwoManagers(bool share) : m_share(share) {}

    void conda_install(const std::string& name, const std::string& version) {
        ++m_time;
        if (m_conda.contains(name)) {
            unlink(conda_files(name, m_conda[name].version));
        }
        m_conda[name] = {version, m_time};
        for (const auto& [path, content] : conda_files(name, version)) {
            write(path, content);
        }
    }
    void conda_remove(const std::string& name) {
        ++m_time;
        if (const auto at = m_conda.find(name); at != m_conda.end()) {
            unlink(conda_files(name, at->second.version));
            m_conda.erase(at);
        }
    }
    void pip_install(const std::string& name, const std::string& version) {
        pip_uninstall(name);
        for (const auto& [path, content] : wheel_files(name, version)) {
            write(path, content);
        }
    }
    void pip_uninstall(const std::string& name) {
        ++m_time;
        for (const auto& directory : dist_infos()) {
            // pip refuses where there is no RECORD.
            const auto record = m_disk.find(directory + "/RECORD");
            if (name_of(directory) == name && record != m_disk.end()) {
                unlink(m_records.at(record->second));
                return;
            }
        }
    }

    // What `check --fix` would do.
    void carry_out(const Repair& repair, const facts::Inventory& inventory) {
        ++m_time;
        if (const auto* uninstall = std::get_if<UninstallPip>(&repair)) {
            std::set<std::string> of_others;
            const auto keep = [&](const auto& package) {
                for (const auto& file : package.files) {
                    of_others.emplace(package.files.path(file));
                }
            };
            for (const auto& package : inventory.conda) {
                keep(package);
            }
            const facts::Distribution* own = nullptr;
            for (const auto& distribution : inventory.distributions) {
                if (distribution.metadata == uninstall->metadata) {
                    own = &distribution;
                } else {
                    keep(distribution);
                }
            }
            for (const auto& file : own->files) {
                const std::string path(own->files.path(file));
                if (!of_others.contains(path)) {
                    erase(path);
                }
            }
        } else if (const auto* restore = std::get_if<RestoreConda>(&repair)) {
            const auto& package = inventory.conda[restore->package];
            const auto files = conda_files(package.name, package.version);
            for (const auto& path : restore->files) {
                write(path, files.at(path));
            }
        } else if (const auto* reinstall = std::get_if<ReinstallPip>(&repair)) {
            pip_install(reinstall->distribution, reinstall->version);
        } else if (const auto* remove = std::get_if<Remove>(&repair)) {
            for (const auto& [path, content] : Files(m_disk)) {
                if (path.starts_with(remove->path + '/')) {
                    erase(path);
                }
            }
        }
    }

    // As a reader of records would have it.
    [[nodiscard]] ContextBuilder environment() const {
        ContextBuilder env;
        env.disk.insert(m_disk.begin(), m_disk.end());
        for (const auto& [name, installed] : m_conda) {
            auto& package = env.conda(name, installed.version);
            package.written_ns = at(installed.time);
            for (const auto& [path, content] : conda_files(name, installed.version)) {
                ContextBuilder::claim(package, path, content);
            }
        }
        for (const auto& directory : dist_infos()) {
            const auto installer = m_disk.find(directory + "/INSTALLER");
            auto& distribution =
                env.bare(name_of(directory), version_of(directory),
                         installer == m_disk.end()
                             ? ""
                             : installer->second.substr(0, installer->second.size() - 1));
            distribution.metadata = directory;
            distribution.installed_ns = at(m_changed.at(directory));
            distribution.has_metadata = m_disk.contains(directory + "/METADATA");
            const auto record = m_disk.find(directory + "/RECORD");
            distribution.has_record = record != m_disk.end();
            if (distribution.has_record) {
                for (const auto& [path, content] : m_records.at(record->second)) {
                    ContextBuilder::claim(distribution, path, content);
                }
            }
        }
        return env;
    }

    // By brute force: what lies at another content, or not at all, where a record says that it is:
    // conda's records, and the RECORDs that pip wrote.
    [[nodiscard]] std::set<std::string> differing() const {
        std::set<std::string> result;
        const auto compare = [&](const Files& files) {
            for (const auto& [path, content] : files) {
                const auto found = m_disk.find(path);
                const bool same =
                    found != m_disk.end() &&
                    cudaenv::testing::sha256(found->second) == cudaenv::testing::sha256(content);
                if (!same && !is_ordinary_difference(path)) {
                    result.insert(path);
                }
            }
        };
        for (const auto& [name, installed] : m_conda) {
            compare(conda_files(name, installed.version));
        }
        for (const auto& directory : dist_infos()) {
            const auto record = m_disk.find(directory + "/RECORD");
            if (record != m_disk.end() && record->second.starts_with("pip's")) {
                compare(m_records.at(record->second));
            }
        }
        return result;
    }

private:
    struct Installed {
        std::string version;
        int time = 0;
    };
    static std::int64_t at(int time) {
        return ContextBuilder::k_first_ns + time * ContextBuilder::k_minute_ns;
    }
    static std::string site() { return "lib/python3.11/site-packages/"; }
    static std::string info(const std::string& name, const std::string& version) {
        return site() + name + '-' + version + ".dist-info";
    }
    static std::string name_of(const std::string& directory) {
        const auto stem = directory.substr(site().size());
        return stem.substr(0, stem.find('-'));
    }
    static std::string version_of(const std::string& directory) {
        const auto dash = directory.find('-', site().size()) + 1;
        return directory.substr(dash, directory.rfind(".dist") - dash);
    }
    // conda finishes what a wheel holds: two of the files differ from the wheel's own, one does
    // not.
    [[nodiscard]] Files content(const std::string& who, const std::string& name,
                                const std::string& version) const {
        Files files{{site() + name + "/__init__.py", "the same from both, " + version},
                    {site() + name + "/core.py", who + " core " + version},
                    {site() + name + "/v" + version + ".py", who + " own " + version},
                    {site() + name + "/data.json", who + " data " + version},
                    {"bin/" + name, who + " script " + version},
                    {info(name, version) + "/METADATA", "Name: " + name}};
        if (m_share) {
            // Two of conda's that write one file are conda's own business: here they agree.
            files[site() + "shared/common.py"] =
                who == "conda's" ? "conda's common" : who + ' ' + name + " common";
        }
        return files;
    }
    Files conda_files(const std::string& name, const std::string& version) const {
        auto files = content("conda's", name, version);
        files[info(name, version) + "/INSTALLER"] = "conda\n";
        const auto record = "conda's " + name + ' ' + version;
        files[info(name, version) + "/RECORD"] = record;
        // Its RECORD was made before conda finished it.
        auto listed = content("unfinished", name, version);
        listed[info(name, version) + "/INSTALLER"] = "pip\n";
        listed[info(name, version) + "/RECORD"] = "";
        m_records[record] = listed;
        return files;
    }
    Files wheel_files(const std::string& name, const std::string& version) const {
        auto files = content("pip's", name, version);
        files[info(name, version) + "/INSTALLER"] = "pip\n";
        const auto record = "pip's " + name + ' ' + version;
        files[info(name, version) + "/RECORD"] = record;
        m_records[record] = files;
        return files;
    }
    void write(const std::string& path, const std::string& content) {
        m_disk[path] = content;
        m_changed[path.substr(0, path.rfind('/'))] = m_time;
    }
    void erase(const std::string& path) {
        m_disk.erase(path);
        m_changed[path.substr(0, path.rfind('/'))] = m_time;
    }
    void unlink(const Files& files) {
        for (const auto& [path, content] : files) {
            erase(path);
        }
    }
    [[nodiscard]] std::set<std::string> dist_infos() const {
        std::set<std::string> result;
        for (const auto& [path, content] : m_disk) {
            const auto directory = path.substr(0, path.rfind('/'));
            if (directory.ends_with(".dist-info")) {
                result.insert(directory);
            }
        }
        return result;
    }

    bool m_share;
    int m_time = 0;
    Files m_disk;
    std::map<std::string, int> m_changed; // of directories
    std::map<std::string, Installed> m_conda;
    mutable std::map<std::string, Files> m_records; // what a RECORD of this content lists
};

} // namespace cudaenv::rules::testing
