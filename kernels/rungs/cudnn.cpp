#include "kernels/driver_api.hpp"
#include "kernels/rungs/library_numbers.hpp"
#include "kernels/rungs/rungs.hpp"

#include <array>

namespace cudaenv::kernels {
namespace {

constexpr std::size_t k_side = 8;
constexpr std::size_t k_filter_side = 3;
// Far more than an image of 8 x 8 needs; a larger wish is not granted, another algorithm is tried.
constexpr std::size_t k_largest_workspace = std::size_t{4} << 20U;

// cudnn_ops.h and cudnn_cnn.h; the same from 7 to 9.
constexpr int k_float = 0;             // CUDNN_DATA_FLOAT
constexpr int k_nchw = 0;              // CUDNN_TENSOR_NCHW
constexpr int k_cross_correlation = 1; // CUDNN_CROSS_CORRELATION

// Those after forward may be null.
struct CudnnApi {
    std::size_t (*get_version)() = nullptr;
    const char* (*get_error_string)(int) = nullptr;
    int (*create)(void**) = nullptr;
    int (*destroy)(void*) = nullptr;
    int (*create_tensor)(void**) = nullptr;
    int (*destroy_tensor)(void*) = nullptr;
    int (*set_tensor)(void*, int, int, int, int, int, int) = nullptr;
    int (*create_filter)(void**) = nullptr;
    int (*destroy_filter)(void*) = nullptr;
    int (*set_filter)(void*, int, int, int, int, int, int) = nullptr;
    int (*create_convolution)(void**) = nullptr;
    int (*destroy_convolution)(void*) = nullptr;
    int (*set_convolution)(void*, int, int, int, int, int, int, int, int) = nullptr;
    int (*get_workspace_size)(void*, void*, void*, void*, void*, int, std::size_t*) = nullptr;
    int (*forward)(void*, const void*, void*, const void*, void*, const void*, void*, int, void*,
                   std::size_t, const void*, void*, void*) = nullptr;
    std::size_t (*get_cudart_version)() = nullptr;
    void (*get_last_error_string)(char*, std::size_t) = nullptr; // 9
};

MaybeStop load_cudnn_api(const LoadedLibrary& library, CudnnApi& api) {
    find_function(library.handle, "cudnnGetCudartVersion", api.get_cudart_version);
    find_function(library.handle, "cudnnGetLastErrorString", api.get_last_error_string);
    return NeededFunctions(library.handle, library.path)
        .find("cudnnGetVersion", api.get_version)
        .find("cudnnGetErrorString", api.get_error_string)
        .find("cudnnCreate", api.create)
        .find("cudnnDestroy", api.destroy)
        .find("cudnnCreateTensorDescriptor", api.create_tensor)
        .find("cudnnDestroyTensorDescriptor", api.destroy_tensor)
        .find("cudnnSetTensor4dDescriptor", api.set_tensor)
        .find("cudnnCreateFilterDescriptor", api.create_filter)
        .find("cudnnDestroyFilterDescriptor", api.destroy_filter)
        .find("cudnnSetFilter4dDescriptor", api.set_filter)
        .find("cudnnCreateConvolutionDescriptor", api.create_convolution)
        .find("cudnnDestroyConvolutionDescriptor", api.destroy_convolution)
        .find("cudnnSetConvolution2dDescriptor", api.set_convolution)
        .find("cudnnGetConvolutionForwardWorkspaceSize", api.get_workspace_size)
        .find("cudnnConvolutionForward", api.forward)
        .missing();
}

// A status as a stop; success is not one. From 9 on cuDNN keeps why it refused.
MaybeStop checked(const CudnnApi& api, const char* call, int status) {
    if (status == 0) {
        return std::nullopt;
    }
    Stop stop{.call = call, .error = status, .error_name = words_of(api.get_error_string, status)};
    if (api.get_last_error_string != nullptr) {
        std::array<char, 1024> why{};
        api.get_last_error_string(why.data(), why.size() - 1);
        stop.message = shortened(why.data());
    }
    return stop;
}

// CUDNN_STATUS_NOT_SUPPORTED: 9, and from cuDNN 9 on 3000 with what exactly (pattern, shape, type,
// layout). From 3005 on it is the driver, the runtime or the GPU: no other algorithm helps.
bool is_not_supported(const MaybeStop& stop) {
    return stop && (stop->error == 9 || (stop->error >= 3000 && stop->error <= 3004));
}

// The same image, filter and result for every algorithm.
class Convolution {
public:
    Convolution(const CudnnApi& api, const GpuUnderTest& gpu)
        : m_api(api), m_gpu(gpu), m_input(gpu), m_weights(gpu), m_handle(api.destroy),
          m_tensor(api.destroy_tensor), m_filter(api.destroy_filter),
          m_convolution(api.destroy_convolution) {}

    MaybeStop set_up() {
        constexpr int k_pixels = static_cast<int>(k_side);
        constexpr int k_width = static_cast<int>(k_filter_side);
        constexpr int k_margin = k_width / 2;
        CUDAENV_STOP_IF(m_input.take(m_image));
        CUDAENV_STOP_IF(m_weights.take(m_taps));
        CUDAENV_STOP_IF(checked(m_api, "cudnnCreate", m_handle.create(m_api.create)));
        CUDAENV_STOP_IF(
            checked(m_api, "cudnnCreateTensorDescriptor", m_tensor.create(m_api.create_tensor)));
        CUDAENV_STOP_IF(
            checked(m_api, "cudnnSetTensor4dDescriptor",
                    m_api.set_tensor(m_tensor.get(), k_nchw, k_float, 1, 1, k_pixels, k_pixels)));
        CUDAENV_STOP_IF(
            checked(m_api, "cudnnCreateFilterDescriptor", m_filter.create(m_api.create_filter)));
        CUDAENV_STOP_IF(
            checked(m_api, "cudnnSetFilter4dDescriptor",
                    m_api.set_filter(m_filter.get(), k_float, k_nchw, 1, 1, k_width, k_width)));
        CUDAENV_STOP_IF(checked(m_api, "cudnnCreateConvolutionDescriptor",
                                m_convolution.create(m_api.create_convolution)));
        return checked(m_api, "cudnnSetConvolution2dDescriptor",
                       m_api.set_convolution(m_convolution.get(), k_margin, k_margin, 1, 1, 1, 1,
                                             k_cross_correlation, k_float));
    }

    MaybeStop run(const CurrentGpu& current, int algorithm) {
        std::size_t bytes = 0;
        constexpr const char* k_sizing = "cudnnGetConvolutionForwardWorkspaceSize";
        CUDAENV_STOP_IF(checked(m_api, k_sizing,
                                m_api.get_workspace_size(m_handle.get(), m_tensor.get(),
                                                         m_filter.get(), m_convolution.get(),
                                                         m_tensor.get(), algorithm, &bytes)));
        if (bytes > k_largest_workspace) {
            return Stop{.call = k_sizing,
                        .error = 9,
                        .message =
                            "it wants " + std::to_string(bytes) + " bytes for an 8 x 8 image"};
        }
        DeviceBuffer workspace(m_gpu);
        if (bytes > 0) {
            CUDAENV_STOP_IF(workspace.allocate(bytes));
        }
        const float one = 1.0F;
        const float zero = 0.0F;
        std::vector<float> got(m_image.size(), -1.0F);
        DeviceBuffer output(m_gpu);
        CUDAENV_STOP_IF(output.take(got));
        CUDAENV_STOP_IF(checked(
            m_api, "cudnnConvolutionForward",
            m_api.forward(m_handle.get(), &one, m_tensor.get(), m_input.address(), m_filter.get(),
                          m_weights.address(), m_convolution.get(), algorithm, workspace.address(),
                          bytes, &zero, m_tensor.get(), output.address())));
        CUDAENV_STOP_IF(current.synchronize());
        CUDAENV_STOP_IF(output.give(got));
        return compared("convolution: ", got,
                        cross_correlation(m_image, k_side, m_taps, k_filter_side), 1e-3);
    }

private:
    const CudnnApi& m_api;
    const GpuUnderTest& m_gpu;
    std::vector<float> m_image = small_integers(k_side * k_side, 1);
    std::vector<float> m_taps = small_integers(k_filter_side * k_filter_side, 2);
    DeviceBuffer m_input;
    DeviceBuffer m_weights;
    Owned m_handle;
    Owned m_tensor; // of the image and of the result, which is as large
    Owned m_filter;
    Owned m_convolution;
};

void set_versions(Rung& rung, const CudnnApi& api) {
    if (const std::size_t number = api.get_version(); number > 0) {
        rung.set("version", cudnn_version(number));
    }
    if (api.get_cudart_version != nullptr) {
        if (const auto cuda = cuda_of_number(static_cast<int>(api.get_cudart_version()))) {
            rung.set("cuda", cuda->str());
        }
    }
}

MaybeStop climb(Rung& rung, const GpuUnderTest& gpu, const CudnnApi& api) {
    set_versions(rung, api);
    CurrentGpu current(gpu);
    CUDAENV_STOP_IF(current.make_current());
    Convolution convolution(api, gpu);
    CUDAENV_STOP_IF(convolution.set_up());
    // IMPLICIT_GEMM needs no workspace; IMPLICIT_PRECOMP_GEMM where a cuDNN no longer has that.
    MaybeStop stop = convolution.run(current, 0);
    if (is_not_supported(stop)) {
        stop = convolution.run(current, 1);
    }
    if (!stop) {
        rung.set("checks", nlohmann::json::array({"convolution"}));
    }
    return stop;
}

} // namespace

template <>
void climb_library_rung<ProbeStep::Cudnn>(std::span<const GpuUnderTest> gpus,
                                          const std::vector<std::string>& files) {
    climb_each_gpu<CudnnApi>(ProbeStep::Cudnn, gpus, files, load_cudnn_api, climb);
}

} // namespace cudaenv::kernels
