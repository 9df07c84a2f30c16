// A stand-in for libcudnn.so.N over the stand-in libcuda.so.1: it convolves for real, one image and
// one filter. Its version is 9.19.0, built for CUDA 13.0, unless a scenario says
// `cudnnGetVersion garbage 8907` and `cudnnGetCudartVersion garbage 12040`.
#include "current_gpu.hpp"

#include <cstddef>
#include <cstdio>
#include <map>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

using namespace standin;

constexpr int k_bad_param = 2000;
constexpr int k_not_supported = 3000;
constexpr std::size_t k_workspace = 256; // that algorithm 1 asks for

struct Handle {
    int gpu = 0;
};
struct Sides { // of a tensor or a filter: NCHW, of which only images of one channel are known
    int high = 0;
    int wide = 0;
};
struct Margins {
    int high = 0;
    int wide = 0;
};

int last_status = 0;
int ended(int status) {
    last_status = status;
    return status;
}

template <typename Object>
int made(const char* function, void** object, Object what) {
    if (const int status = scripted_for(function).status; status != 0) {
        return ended(status);
    }
    *object = new Object(what);
    return 0;
}
template <typename Object>
int dropped(const char* function, void* object) {
    note(function);
    delete static_cast<Object*>(object);
    return 0;
}

} // namespace

EXPORTED std::size_t cudnnGetVersion() {
    return static_cast<std::size_t>(scripted_for("cudnnGetVersion").garbage.value_or(91900));
}
EXPORTED std::size_t cudnnGetCudartVersion() {
    return static_cast<std::size_t>(scripted_for("cudnnGetCudartVersion").garbage.value_or(13000));
}
// cudnn_graph.h of 9, and cudnn_ops_infer.h of 8, which counts from 1.
EXPORTED const char* cudnnGetErrorString(int status) {
    static const std::map<int, const char*> names = {
        {0, "CUDNN_STATUS_SUCCESS"},
        {1, "CUDNN_STATUS_NOT_INITIALIZED"},
        {8, "CUDNN_STATUS_EXECUTION_FAILED"},
        {9, "CUDNN_STATUS_NOT_SUPPORTED"},
        {1001, "CUDNN_STATUS_NOT_INITIALIZED"},
        {1002, "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH"},
        {1008, "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED"},
        {2000, "CUDNN_STATUS_BAD_PARAM"},
        {3000, "CUDNN_STATUS_NOT_SUPPORTED"},
        {3005, "CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER"},
        {5000, "CUDNN_STATUS_EXECUTION_FAILED"}};
    const auto found = names.find(status);
    return found == names.end() ? "CUDNN_UNKNOWN_STATUS" : found->second;
}
EXPORTED void cudnnGetLastErrorString(char* text, std::size_t size) {
    std::snprintf(text, size, "%s",
                  last_status == 1008 ? "libcudnn_engines_precompiled.so.9 was not loaded" : "");
}

EXPORTED int cudnnCreate(void** handle) {
    const auto gpu = current_gpu();
    return made("cudnnCreate", handle, Handle{gpu.value_or(-1)});
}
EXPORTED int cudnnDestroy(void* handle) {
    return dropped<Handle>("cudnnDestroy", handle);
}
EXPORTED int cudnnCreateTensorDescriptor(void** object) {
    return made("cudnnCreateTensorDescriptor", object, Sides{});
}
EXPORTED int cudnnDestroyTensorDescriptor(void* object) {
    return dropped<Sides>("cudnnDestroyTensorDescriptor", object);
}
EXPORTED int cudnnSetTensor4dDescriptor(void* object, int layout, int type, int images,
                                        int channels, int high, int wide) {
    if (layout != 0 || type != 0 || images != 1 || channels != 1) {
        return ended(k_bad_param);
    }
    *static_cast<Sides*>(object) = {high, wide};
    return 0;
}
EXPORTED int cudnnCreateFilterDescriptor(void** object) {
    return made("cudnnCreateFilterDescriptor", object, Sides{});
}
EXPORTED int cudnnDestroyFilterDescriptor(void* object) {
    return dropped<Sides>("cudnnDestroyFilterDescriptor", object);
}
EXPORTED int cudnnSetFilter4dDescriptor(void* object, int type, int layout, int outputs, int inputs,
                                        int high, int wide) {
    if (layout != 0 || type != 0 || outputs != 1 || inputs != 1) {
        return ended(k_bad_param);
    }
    *static_cast<Sides*>(object) = {high, wide};
    return 0;
}
EXPORTED int cudnnCreateConvolutionDescriptor(void** object) {
    return made("cudnnCreateConvolutionDescriptor", object, Margins{});
}
EXPORTED int cudnnDestroyConvolutionDescriptor(void* object) {
    return dropped<Margins>("cudnnDestroyConvolutionDescriptor", object);
}
EXPORTED int cudnnSetConvolution2dDescriptor(void* object, int margin_high, int margin_wide,
                                             int stride_high, int stride_wide, int dilation_high,
                                             int dilation_wide, int mode, int type) {
    if (stride_high != 1 || stride_wide != 1 || dilation_high != 1 || dilation_wide != 1 ||
        mode != 1 || type != 0) {
        return ended(k_bad_param);
    }
    *static_cast<Margins*>(object) = {margin_high, margin_wide};
    return 0;
}
EXPORTED int cudnnGetConvolutionForwardWorkspaceSize(void*, void*, void*, void*, void*,
                                                     int algorithm, std::size_t* bytes) {
    const Scripted scripted = scripted_for("cudnnGetConvolutionForwardWorkspaceSize");
    if (scripted.status != 0) {
        return ended(scripted.status);
    }
    *bytes = algorithm == 1 ? k_workspace : 0;
    if (scripted.garbage) {
        *bytes = static_cast<std::size_t>(*scripted.garbage);
    }
    return 0;
}
EXPORTED int cudnnConvolutionForward(void* handle, const void* alpha, void* tensor,
                                     const void* image, void* filter, const void* taps,
                                     void* convolution, int algorithm, void* workspace,
                                     std::size_t bytes, const void* beta, void* output,
                                     void* result) {
    // Two names, so that a scenario can refuse one algorithm and not the other.
    const Scripted scripted = scripted_for(algorithm == 1 ? "cudnnConvolutionForwardWithWorkspace"
                                                          : "cudnnConvolutionForward");
    if (scripted.status != 0) {
        return ended(scripted.status);
    }
    if (static_cast<Handle*>(handle)->gpu != current_gpu() || algorithm < 0 || algorithm > 1 ||
        (algorithm == 1 && (workspace == nullptr || bytes < k_workspace))) {
        return ended(k_bad_param);
    }
    const Sides of = *static_cast<Sides*>(tensor);
    const Sides width = *static_cast<Sides*>(filter);
    const Sides out = *static_cast<Sides*>(output);
    const Margins margin = *static_cast<Margins*>(convolution);
    if (out.high != of.high + 2 * margin.high - width.high + 1 ||
        out.wide != of.wide + 2 * margin.wide - width.wide + 1) {
        return ended(k_bad_param);
    }
    if (*static_cast<const float*>(beta) != 0) {
        return ended(k_not_supported);
    }
    if (scripted.is_unwritten) {
        return 0;
    }
    const auto* from = static_cast<const float*>(image);
    const auto* by = static_cast<const float*>(taps);
    auto* into = static_cast<float*>(result);
    for (int y = 0; y < out.high; ++y) {
        for (int x = 0; x < out.wide; ++x) {
            float sum = 0;
            for (int dy = 0; dy < width.high; ++dy) {
                for (int dx = 0; dx < width.wide; ++dx) {
                    const int row = y + dy - margin.high;
                    const int column = x + dx - margin.wide;
                    if (row >= 0 && row < of.high && column >= 0 && column < of.wide) {
                        sum += from[row * of.wide + column] * by[dy * width.wide + dx];
                    }
                }
            }
            into[y * out.wide + x] = *static_cast<const float*>(alpha) * sum;
        }
    }
    if (scripted.is_wrong) {
        into[out.high * out.wide / 2] += 1.0F;
    }
    return 0;
}
