#include "daemon/host_of_request.hpp"

#include "base/fd.hpp"
#include "base/whole_io.hpp"
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

} // namespace cudaenv::daemon
