#include "check/inventory/record_places.hpp"

#include "base/ranges.hpp"
#include "base/real_path.hpp"
#include "base/text.hpp"
#include "check/inventory/metadata_text.hpp"
#include "host/environments/packages.hpp"
#include "host/file_system.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <sys/stat.h>

namespace cudaenv::inventory {

namespace {

class Finder {
public:
    Finder(const std::string& prefix, const std::string& real_prefix)
        : m_prefix(prefix), m_real_prefix(real_prefix), m_paths(prefix, real_prefix) {}

    FoundRecords find(const OpenDirectory& prefix) {
        find_conda_records(prefix);
        find_python_of_venv(prefix);
        find_sites(prefix);
        find_base_sites();
        return std::move(m_found);
    }

private:
    void note(const std::string& path, const Error& error) {
        m_found.notes.push_back({path, host::reason_of(error)});
    }

    // Nothing where it is not there, or cannot be read, which is noted.
    std::optional<OpenDirectory> opened(const OpenDirectory& above, const std::string& name,
                                        const std::string& path) {
        auto directory = above.open_below(name);
        if (directory) {
            return std::move(*directory);
        }
        if (directory.error().code != k_not_found) {
            m_found.notes.push_back({path, host::reason_of(directory.error()), false, true});
        }
        return std::nullopt;
    }

    std::vector<std::string> names_in(const OpenDirectory& directory, const std::string& path) {
        auto names = directory.names();
        if (names) {
            return std::move(*names);
        }
        m_found.notes.push_back({path, host::reason_of(names.error()), false, true});
        return {};
    }

    void find_conda_records(const OpenDirectory& prefix) {
        auto open = opened(prefix, "conda-meta", "conda-meta");
        if (!open) {
            return;
        }
        m_found.conda_prefix = true;
        for (auto& name : names_in(*open, "conda-meta")) {
            // conda renames what it removes to this ending until all of it is done.
            constexpr std::string_view k_aside = ".c~";
            if (name.ends_with(k_aside)) {
                name.resize(name.size() - k_aside.size());
                if (auto was = environments::parse_conda_record(name)) {
                    m_found.leftovers.push_back({facts::LeftoverKind::InterruptedConda,
                                                 "conda-meta/" + name + std::string(k_aside),
                                                 std::move(was->name), std::move(was->version)});
                }
                continue;
            }
            const auto parsed = environments::parse_conda_record(name);
            if (!parsed || name.starts_with('.')) {
                continue;
            }
            if (parsed->name == "python") {
                m_python = major_minor(parsed->version);
            }
            m_found.records.push_back({RecordKind::Conda, m_found.places.size(), std::move(name)});
        }
        m_found.places.push_back({"conda-meta", std::move(*open)});
    }

    // "3.11" of "3.11.7.final.0"; empty of what has no dot.
    static std::string major_minor(std::string_view version) {
        const auto dot = version.find('.');
        if (dot == std::string_view::npos) {
            return {};
        }
        return std::string(version.substr(0, version.find_first_not_of("0123456789", dot + 1)));
    }

    void find_python_of_venv(const OpenDirectory& prefix) {
        if (!m_python.empty()) {
            return;
        }
        FileTexts files;
        const auto text = files.read(prefix, "pyvenv.cfg", k_longest_small_file);
        if (!text) {
            if (text.error().code != k_not_found) {
                note("pyvenv.cfg", text.error());
            }
            return;
        }
        std::string home;
        bool sees_base = false;
        for (const auto& [name, value] : assignments_in(text->text)) {
            const auto key = to_lower_ascii(name);
            if (key == "version" || key == "version_info") { // venv's; virtualenv's and uv's
                m_python = major_minor(value);
            } else if (key == "home") {
                home = value;
            } else if (key == "include-system-site-packages") {
                sees_base = to_lower_ascii(value) == "true";
            }
        }
        if (sees_base && !m_found.conda_prefix && home.starts_with('/')) {
            m_base =
                ClaimedPaths("").absolute(ClaimedPaths("").resolve("/", host::parent_path(home)));
        }
    }

    // What the Python that the environment was made with sees by itself.
    void find_base_sites() {
        if (m_base.empty()) {
            return;
        }
        auto python = m_python;
        if (python.empty() && !m_found.sites.empty()) {
            const auto directory = host::base_name(host::parent_path(m_found.sites.front()));
            python = directory.starts_with("python") ? std::string(directory.substr(6)) : "";
        }
        if (python.empty()) {
            return;
        }
        // Debian's Python looks into local/, python3/ and dist-packages.
        for (const std::string lib : {"/local/lib", "/lib", "/lib64"}) {
            for (const auto& name : {"/python" + python, "/python" + python + 't'}) {
                for (const auto* site : {"/site-packages", "/dist-packages"}) {
                    add_base_site(m_base + lib + name + site);
                }
            }
        }
        add_base_site(m_base + "/lib/python3/dist-packages");
    }

    void add_base_site(std::string path) {
        auto open = OpenDirectory::open(path);
        if (!open || !is_new(*open)) {
            return; // what is not the environment's own is not noted either
        }
        if (const auto names = open->names()) {
            add_records(*open, path, *names, Whose::Base);
        }
        m_found.places.push_back({std::move(path), std::move(*open), true});
    }

    enum class Whose { Own, Base };

    void add_records(const OpenDirectory& open, const std::string& path,
                     const std::vector<std::string>& names, Whose whose) {
        const auto eggs = eggs_that_python_sees(open, path, names);
        for (const auto& name : names) {
            const auto kind = kind_in_site(name);
            const bool is_passed_over =
                !kind || (kind == RecordKind::Egg && !is_one_of(name, eggs)) ||
                (whose == Whose::Base &&
                 (kind == RecordKind::PathFile || kind == RecordKind::Tilde));
            if (!is_passed_over) {
                m_found.records.push_back({*kind, m_found.places.size(), name});
            }
        }
        auto& sites = whose == Whose::Base ? m_found.base_sites : m_found.sites;
        sites.push_back(path);
        for (const auto& egg : eggs) {
            struct stat status {};
            if (::fstatat(open.fd(), egg.c_str(), &status, 0) == 0 && S_ISDIR(status.st_mode)) {
                sites.push_back(path + '/' + egg);
            }
        }
    }

    // Those that a .pth beside them names, mostly easy-install.pth, in the order of that.
    std::vector<std::string> eggs_that_python_sees(const OpenDirectory& open,
                                                   const std::string& site,
                                                   const std::vector<std::string>& names) {
        std::vector<std::string> seen;
        if (std::ranges::none_of(names, [](const std::string& name) {
                return kind_in_site(name) == RecordKind::Egg;
            })) {
            return seen;
        }
        FileTexts files;
        for (const auto& name : names) {
            if (kind_in_site(name) != RecordKind::PathFile) {
                continue;
            }
            // One that cannot be read is noted where it is listed.
            const auto text = files.read(open, name, k_longest_path_file);
            const auto parsed = text ? parse_path_file(text->text, site, m_paths) : PathFileText();
            for (const auto& directory : parsed.directories) {
                const std::string name_there(host::base_name(directory));
                if (host::parent_path(directory) == m_paths.absolute(site) &&
                    !is_one_of(name_there, seen)) {
                    seen.push_back(name_there);
                }
            }
        }
        return seen;
    }

    // Not seen under another name: lib64 is mostly a link to lib, and conda has python3.1 lead to
    // python3.10.
    bool is_new(const OpenDirectory& open) {
        struct stat status {};
        return ::fstat(open.fd(), &status) == 0 &&
               m_seen.emplace(status.st_dev, status.st_ino).second;
    }

    // Those of the environment's Python; of all that are there where none is on record, or the one
    // on record has none: what another Python left there is not imported.
    void find_sites(const OpenDirectory& prefix) {
        find_sites_of(prefix, m_python);
        if (m_found.sites.empty() && !m_python.empty()) {
            find_sites_of(prefix, {});
        }
    }

    void find_sites_of(const OpenDirectory& prefix, const std::string& python) {
        // Debian's Python looks into local/, python3/ and dist-packages.
        for (const std::string lib : {"local/lib", "lib", "lib64"}) {
            const auto open = opened(prefix, lib, lib);
            if (!open) {
                continue;
            }
            for (const auto& name : names_in(*open, lib)) {
                if (!name.starts_with("python3") && !name.starts_with("pypy3")) {
                    continue;
                }
                const auto version = name.substr(name.find('3'));
                if (!python.empty() && version != python && version != python + 't' &&
                    version != "3") {
                    continue;
                }
                for (const auto* site : {"site-packages", "dist-packages"}) {
                    add_site(prefix, lib + '/' + name + '/' + site);
                }
            }
        }
    }

    void add_site(const OpenDirectory& prefix, const std::string& written) {
        auto open = opened(prefix, written, written);
        if (!open || !is_new(*open)) {
            return;
        }
        // Records call files by the real names of their directories.
        auto path = written;
        if (const auto real = resolved_path(m_prefix + '/' + written);
            real.starts_with(m_real_prefix + '/')) {
            path = real.substr(m_real_prefix.size() + 1);
        }
        add_records(*open, path, names_in(*open, path), Whose::Own);
        m_found.places.push_back({std::move(path), std::move(*open)});
    }

    std::string m_prefix;
    std::string m_real_prefix;
    ClaimedPaths m_paths;
    FoundRecords m_found;
    std::string m_base;   // the prefix of the Python whose packages a venv sees; empty: it does not
    std::string m_python; // "3.11" of the environment's Python; empty: not known
    std::set<std::pair<dev_t, ino_t>> m_seen;
};

} // namespace

FoundRecords find_records(const OpenDirectory& prefix, const std::string& path,
                          const std::string& real_path) {
    return Finder(path, real_path).find(prefix);
}

} // namespace cudaenv::inventory
