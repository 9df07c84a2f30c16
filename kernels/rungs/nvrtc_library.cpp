#include "kernels/rungs/nvrtc_library.hpp"

#include "kernels/rungs/library_numbers.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace cudaenv::kernels {
namespace {

constexpr int k_invalid_option = 5; // NVRTC_ERROR_INVALID_OPTION

Stop failed(const NvrtcApi& api, std::string call, int error, std::string message = {}) {
    return {.call = std::move(call),
            .error = error,
            .error_name = words_of(api.get_error_string, error),
            .message = std::move(message)};
}

class Program {
public:
    explicit Program(const NvrtcApi& api) : m_api(api) {}
    ~Program() {
        if (m_program != nullptr) {
            m_api.destroy_program(&m_program);
        }
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    int create(const std::string& source) {
        return m_api.create_program(&m_program, source.c_str(), "cudaenv_probe.cu", 0, nullptr,
                                    nullptr);
    }
    int compile(const std::string& architecture) {
        const std::string option = "--gpu-architecture=" + architecture;
        const char* const options[] = {option.c_str()};
        return m_api.compile_program(m_program, 1, options);
    }
    std::string log() { return shortened(text(m_api.get_log_size, m_api.get_log)); }
    std::string ptx() { return text(m_api.get_ptx_size, m_api.get_ptx); }
    std::string machine_code() {
        return m_api.get_cubin_size == nullptr || m_api.get_cubin == nullptr
                   ? std::string{}
                   : read(m_api.get_cubin_size, m_api.get_cubin);
    }

private:
    using Size = int (*)(void*, std::size_t*);
    using Get = int (*)(void*, char*);

    std::string read(Size size, Get get) {
        std::size_t bytes = 0;
        if (size(m_program, &bytes) != 0 || bytes == 0) {
            return {};
        }
        std::string content(bytes, '\0');
        return get(m_program, content.data()) == 0 ? content : std::string{};
    }
    std::string text(Size size, Get get) {
        std::string content = read(size, get);
        while (!content.empty() && content.back() == '\0') { // counted in the size
            content.pop_back();
        }
        return content;
    }

    const NvrtcApi& m_api;
    void* m_program = nullptr;
};

// One compilation. `error` is NVRTC's, so that an unknown architecture can be distinguished from a
// failure.
MaybeStop compile(const NvrtcApi& api, const std::string& source, const std::string& architecture,
                  NvrtcOutput& output, int& error) {
    Program program(api);
    error = program.create(source);
    if (error != 0) {
        return failed(api, "nvrtcCreateProgram", error);
    }
    error = program.compile(architecture);
    if (error != 0) {
        return failed(api, "nvrtcCompileProgram", error, program.log());
    }
    output.machine_code = program.machine_code();
    output.ptx = program.ptx();
    return std::nullopt;
}

// From the newest; what it lists, else what may be.
std::vector<int> known_architectures(const NvrtcApi& api) {
    int count = 0;
    if (api.get_supported_archs_count != nullptr && api.get_supported_archs != nullptr &&
        api.get_supported_archs_count(&count) == 0 && count > 0 && count < 1000) {
        std::vector<int> listed(static_cast<std::size_t>(count), 0);
        if (api.get_supported_archs(listed.data()) == 0) {
            std::ranges::sort(listed, std::greater<>());
            return listed;
        }
    }
    const std::span<const int> guessed = architectures_of_old_nvrtc();
    return {guessed.begin(), guessed.end()};
}

MaybeStop compile_ptx_below(const NvrtcApi& api, const std::string& source,
                            ComputeCapability capability, NvrtcOutput& output) {
    std::vector<int> known = known_architectures(api);
    int error = k_invalid_option;
    std::string log;
    while (const std::optional<int> highest = highest_architecture_for(capability, known)) {
        const std::string architecture = "compute_" + std::to_string(*highest);
        MaybeStop stop = compile(api, source, architecture, output, error);
        if (!stop) {
            output.machine_code.clear();
            output.ptx_architecture = architecture;
            return std::nullopt;
        }
        if (error != k_invalid_option) {
            return stop;
        }
        log = stop->message;
        std::erase(known, *highest);
    }
    return failed(api, "nvrtcCompileProgram", error,
                  "it does not support " + architecture_name("sm_", capability) +
                      (log.empty() ? "" : ": " + log));
}

} // namespace

MaybeStop load_nvrtc_api(const LoadedLibrary& library, NvrtcApi& api) {
    void* const handle = library.handle;
    find_function(handle, "nvrtcGetCUBINSize", api.get_cubin_size);
    find_function(handle, "nvrtcGetCUBIN", api.get_cubin);
    find_function(handle, "nvrtcGetNumSupportedArchs", api.get_supported_archs_count);
    find_function(handle, "nvrtcGetSupportedArchs", api.get_supported_archs);
    return NeededFunctions(handle, library.path)
        .find("nvrtcVersion", api.version)
        .find("nvrtcGetErrorString", api.get_error_string)
        .find("nvrtcCreateProgram", api.create_program)
        .find("nvrtcCompileProgram", api.compile_program)
        .find("nvrtcGetPTXSize", api.get_ptx_size)
        .find("nvrtcGetPTX", api.get_ptx)
        .find("nvrtcGetProgramLogSize", api.get_log_size)
        .find("nvrtcGetProgramLog", api.get_log)
        .find("nvrtcDestroyProgram", api.destroy_program)
        .missing();
}

MaybeStop compile_for(const NvrtcApi& api, const std::string& source, ComputeCapability capability,
                      NvrtcOutput& output) {
    output = {};
    if (api.get_cubin == nullptr || api.get_cubin_size == nullptr) {
        return compile_ptx_below(api, source, capability, output);
    }
    const std::string architecture = architecture_name("sm_", capability);
    int error = 0;
    MaybeStop stop = compile(api, source, architecture, output, error);
    if (error == k_invalid_option) {
        return compile_ptx_below(api, source, capability, output);
    }
    if (stop) {
        return stop;
    }
    // The PTX that the machine code was made from is there as well (seen of 11.8 to 13.5).
    output.machine_code_architecture = architecture;
    output.ptx_architecture = architecture_name("compute_", capability);
    if (output.ptx.empty()) {
        NvrtcOutput of_ptx;
        stop = compile(api, source, output.ptx_architecture, of_ptx, error);
        output.ptx = std::move(of_ptx.ptx);
    }
    return stop;
}

} // namespace cudaenv::kernels
