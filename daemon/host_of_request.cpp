#include "daemon/host_of_request.hpp"

#include "base/fd.hpp"
#include "base/own_path.hpp"
#include "base/whole_io.hpp"
#include "daemon/measured.hpp"
#include "host/examine.hpp"
#include "host/project/project.hpp"
#include "protocol/json_field.hpp"
#include "solver/facts/host_json.hpp"
#include "solver/facts/overrides.hpp"
#include "solver/knowledge/knowledge.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv::daemon {

namespace {

// A machine with hundreds of toolkits and GPUs is some hundred kilobytes.
constexpr std::size_t k_most_facts_bytes = std::size_t{16} << 20;

std::optional<DottedVersion> cuda_of_driver(const DottedVersion& driver) {
    const auto row = knowledge::cuda_of_driver(driver);
    return row && !row->newer_than_known ? std::optional(row->cuda) : std::nullopt;
}

Result<facts::Host> host_from_file(const std::string& path) {
    CUDAENV_TRY(const auto text, read_text_file(path, k_most_facts_bytes));
    return facts::parse_host(text, path);
}

// Where the user and the administrator say that toolkits are; a project names no path (decision
// 13).
Result<std::vector<std::string>> toolkit_directories(Looks& looks) {
    CUDAENV_TRY(const auto files, looks.config(pins::UnknownKeys::Note));
    pins::ConfigLayers layers;
    layers.system = files.system ? &*files.system : nullptr;
    layers.user = files.user ? &*files.user : nullptr;
    return pins::Config::merge(layers).toolkit_directories();
}

} // namespace

std::string absolute_for(const protocol::Caller& caller, std::string_view path) {
    if (path.starts_with('/')) {
        return std::string(path);
    }
    return caller.cwd + (caller.cwd.ends_with('/') ? "" : "/") + std::string(path);
}

Result<std::string> read_text_file(const std::string& path, std::size_t most_bytes) {
    const auto fail = [&](ErrorKind kind, const char* code, const std::string& message) {
        return tl::unexpected(Error{kind, code, message, path, 0, 0, {}});
    };
    // Not blocking on a pipe without a writer.
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!fd) {
        const bool missing = errno == ENOENT || errno == ENOTDIR;
        return missing ? fail(ErrorKind::BadInput, "no-such-file", "there is no such file")
                       : fail(ErrorKind::Unavailable, "cannot-read",
                              std::string("cannot be read: ") + std::strerror(errno));
    }
    struct stat status {};
    if (::fstat(fd.get(), &status) == 0 && S_ISDIR(status.st_mode)) {
        return fail(ErrorKind::BadInput, "cannot-read", "is a directory, not a file");
    }
    auto text = read_rest(fd.get(), most_bytes + 1);
    if (!text) {
        return fail(ErrorKind::Unavailable, "cannot-read",
                    std::string("cannot be read: ") + std::strerror(errno));
    }
    if (text->size() > most_bytes) {
        return fail(ErrorKind::BadInput, "file-too-large",
                    "is larger than " + std::to_string(most_bytes) + " bytes");
    }
    return *std::move(text);
}

Result<facts::Host> host_of(const nlohmann::json& params, const protocol::Caller& caller) {
    Looks looks(caller);
    return host_of(params, caller, looks);
}

Result<facts::Host> host_of(const nlohmann::json& params, const protocol::Caller& caller,
                            Looks& looks) {
    CUDAENV_TRY(auto file, protocol::path_field(params, "host"));
    CUDAENV_TRY(const auto driver, protocol::string_field(params, "driver"));
    CUDAENV_TRY(const auto gpus, protocol::strings_field(params, "gpu"));
    if (!file) {
        file = caller.variable("CUDAENV_HOST");
    }
    facts::Host host;
    if (file && !file->empty()) {
        CUDAENV_TRY(host, host_from_file(absolute_for(caller, *file)));
    } else {
        CUDAENV_TRY(const auto directories, toolkit_directories(looks));
        host = this_host(caller, directories, looks.files);
        if (auto measured = kept_measured(caller, looks)) {
            host = with_measured_for(caller, std::move(host), *std::move(measured));
        }
    }
    return facts::with_overrides(std::move(host), driver, gpus, cuda_of_driver);
}

std::string probe_beside_this_program() {
    const std::string own = own_path();
    if (own.empty()) {
        return {};
    }
    const std::string directory = own.substr(0, own.rfind('/'));
    for (const char* place : {"/cudaenv-probe", "/../kernels/cudaenv-probe"}) {
        if (::access((directory + place).c_str(), X_OK) == 0) {
            return directory + place;
        }
    }
    return {};
}

facts::Host this_host(const protocol::Caller& caller,
                      const std::vector<std::string>& toolkit_directories,
                      host::FileSystem& files) {
    host::ExamineOptions options;
    for (const auto& variable : caller.environment) {
        // The user's LD_PRELOAD and the like are for what is tried, not for whom is asked a
        // version.
        if (protocol::is_caller_variable(variable.first)) {
            options.environment.insert(variable);
        }
    }
    options.home = caller.variable("HOME").value_or("");
    options.toolkit_directories = toolkit_directories;
    options.probe_path = probe_beside_this_program();
    options.cache_directory = host::default_cache_directory(options.environment, options.home);
    host::ChildProcessRunner processes;
    return host::examine(options, files, processes, host::system_identity(), std::time(nullptr));
}

} // namespace cudaenv::daemon
