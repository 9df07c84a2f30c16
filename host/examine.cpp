#include "host/examine.hpp"

#include "base/private_files.hpp"
#include "host/compilers.hpp"
#include "host/conda_installs.hpp"
#include "host/driver.hpp"
#include "host/toolkits.hpp"

#include <array>
#include <ctime>

namespace cudaenv::host {

namespace {

std::string rfc3339(std::int64_t now) {
    const auto seconds = static_cast<std::time_t>(now);
    std::tm parts{};
    if (::gmtime_r(&seconds, &parts) == nullptr) {
        return {};
    }
    std::array<char, 32> text{};
    const auto length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return {text.data(), length};
}

void append(std::vector<std::string>& into, std::vector<std::string>&& notes) {
    for (auto& note : notes) {
        into.push_back(std::move(note));
    }
}

void add_identity(facts::Host& host, const SystemIdentity& identity) {
    host.hostname = identity.hostname;
    host.machine = identity.machine;
    host.kernel = kernel_version(identity.release);
    host.sources["hostname"] = host.sources["machine"] = "uname";
    host.sources["kernel"] = "uname: " + identity.release;
    auto glibc = DottedVersion::parse(identity.glibc);
    if (glibc) {
        host.glibc = std::move(*glibc);
        host.sources["glibc"] = "gnu_get_libc_version";
    } else {
        host.absent["glibc"] = "the C library of this program is not glibc";
    }
}

} // namespace

facts::Host examine(const ExamineOptions& options) {
    DiskFileSystem files;
    ChildProcessRunner processes;
    return examine(options, files, processes, system_identity(), std::time(nullptr));
}

facts::Host examine(const ExamineOptions& options, FileSystem& files, ProcessRunner& processes,
                    const SystemIdentity& identity, std::int64_t now) {
    facts::Host host;
    host.captured = rfc3339(now);
    add_identity(host, identity);

    auto platform = find_platform(files, options.environment, identity);
    host.platform = std::move(platform.platform);
    host.distribution = std::move(platform.distribution);
    host.sources.merge(platform.sources);
    host.absent.merge(platform.absent);

    auto driver = find_driver(files, processes, options.environment,
                              {options.probe_path, options.probe_deadline});
    host.driver = std::move(driver.driver);
    host.driver_absent = std::move(driver.driver_absent);
    host.gpus = std::move(driver.gpus);
    host.gpus_absent = std::move(driver.gpus_absent);
    append(host.notes, std::move(driver.notes));

    VersionCache cache(options.cache_directory, now);
    const VersionAsker asker{processes, cache, options.environment, options.version_deadline};

    auto compilers = find_compilers(files, options.environment, identity.machine, asker);
    host.compilers = std::move(compilers.compilers);
    append(host.notes, std::move(compilers.notes));
    if (!compilers.absent.empty()) {
        host.absent["compilers"] = std::move(compilers.absent);
    }

    auto conda = find_conda(files, options.environment, options.home, asker);
    host.conda = std::move(conda.installs);
    append(host.notes, std::move(conda.notes));
    if (!conda.absent.empty()) {
        host.absent["conda"] = std::move(conda.absent);
    }

    auto toolkits = find_toolkits(
        files, options.environment,
        {options.toolkit_directories, std::move(conda.prefixes), options.home, identity.machine},
        asker);
    host.toolkits = std::move(toolkits.toolkits);
    append(host.notes, std::move(toolkits.notes));
    if (!toolkits.absent.empty()) {
        host.absent["toolkits"] = std::move(toolkits.absent);
    }
    cache.save();
    return host;
}

std::string default_cache_directory(const Environment& environment, const std::string& home) {
    if (auto directory = value_of(environment, "CUDAENV_CACHE_DIR"); directory.starts_with('/')) {
        return directory;
    }
    std::string directory;
    if (const auto base = value_of(environment, "XDG_CACHE_HOME"); base.starts_with('/')) {
        directory = base + "/cudaenv";
    } else if (home.starts_with('/')) {
        directory = home + "/.cache/cudaenv";
    }
    return is_anothers_place(directory) ? std::string() : directory;
}

} // namespace cudaenv::host
