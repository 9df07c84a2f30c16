#include "daemon/host_of_request.hpp"

#include "base/fd.hpp"
#include "daemon/measured.hpp"
#include "daemon/this_host.hpp"
#include "host/project/config_files.hpp"
#include "protocol/json_field.hpp"
#include "solver/facts/host_json.hpp"
#include "solver/facts/overrides.hpp"
#include "solver/knowledge/knowledge.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cudaenv::daemon {

namespace {

// A machine with hundreds of toolkits and GPUs is some hundred kilobytes.
constexpr std::size_t k_most_facts_bytes = std::size_t{16} << 20;

std::optional<DottedVersion> cuda_of_driver(const DottedVersion& driver) {
    const auto row = knowledge::cuda_of_driver(driver);
    return row ? std::optional(row->cuda) : std::nullopt;
}

Result<facts::Host> host_from_file(const std::string& path) {
    CUDAENV_TRY(const auto text, read_text_file(path, k_most_facts_bytes));
    return facts::parse_host(text, path);
}

// Where the user and the administrator say that toolkits are; a project names no path (decision
// 13).
Result<std::vector<std::string>> toolkit_directories(const protocol::Caller& caller) {
    CUDAENV_TRY(const auto files, project::load_config(project::config_paths(caller.environment),
                                                       plan::UnknownKeys::Note, caller.uid));
    plan::ConfigLayers layers;
    layers.system = files.system ? &*files.system : nullptr;
    layers.user = files.user ? &*files.user : nullptr;
    return plan::Config::merge(layers).toolkit_directories();
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
    // Not blocking on a pipe that nobody writes to.
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
    std::string text;
    while (true) {
        constexpr std::size_t k_step = std::size_t{64} * 1024;
        const std::size_t before = text.size();
        text.resize(before + k_step);
        const ssize_t size = ::read(fd.get(), text.data() + before, k_step);
        const int problem = errno;
        text.resize(before + static_cast<std::size_t>(size > 0 ? size : 0));
        if (size == 0) {
            return text;
        }
        if (size < 0 && problem != EINTR) {
            return fail(ErrorKind::Unavailable, "cannot-read",
                        std::string("cannot be read: ") + std::strerror(problem));
        }
        if (text.size() > most_bytes) {
            return fail(ErrorKind::BadInput, "file-too-large",
                        "is larger than " + std::to_string(most_bytes) + " bytes");
        }
    }
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
        CUDAENV_TRY(const auto directories, toolkit_directories(caller));
        host = this_host(caller, directories, looks.files);
        if (auto measured = kept_measured(caller, looks)) {
            host = with_measured_for(caller, std::move(host), *std::move(measured));
        }
    }
    return facts::with_overrides(std::move(host), driver, gpus, cuda_of_driver);
}

} // namespace cudaenv::daemon
