// A stand-in for libcudart.so.NN over whatever libcuda.so.1 the loader finds, as the real one is:
// of itself it has only its version (`runtime` of the scenario) and the two checks of versions.
#include "scenario.hpp"

#include <cstddef>
#include <dlfcn.h>
#include <map>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

using namespace standin;

int last_error = 0;

template <typename Function>
Function driver(const char* name) {
    static void* library = dlopen("libcuda.so.1", RTLD_LAZY);
    return library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
}

template <typename... Arguments>
int call_driver(const char* name, Arguments... arguments) {
    const auto function = driver<int (*)(Arguments...)>(name);
    return function == nullptr ? 36 : function(arguments...);
}

int ended(int error) {
    if (error != 0) {
        last_error = error;
    }
    return error;
}

int driver_version() {
    int version = 0;
    const auto ask = driver<int (*)(int*)>("cuDriverGetVersion");
    return ask == nullptr || ask(&version) != 0 ? 0 : version;
}

// Too old for the family: 12.x asks for a driver of 12.0.
int version_check() {
    return driver_version() / 1000 < scenario().runtime / 1000 ? 35 : 0;
}

int refusal(const Rule* rule) {
    return rule != nullptr && rule->action == Action::Return ? rule->number : -1;
}

} // namespace

EXPORTED int cudaRuntimeGetVersion(int* version) {
    const auto* rule = rule_for("cudaRuntimeGetVersion");
    if (const int no = refusal(rule); no >= 0) {
        return ended(no);
    }
    if (rule == nullptr || rule->action != Action::Unwritten) {
        *version =
            rule != nullptr && rule->action == Action::Garbage ? rule->number : scenario().runtime;
    }
    return 0;
}
EXPORTED int cudaDriverGetVersion(int* version) {
    const auto* rule = rule_for("cudaDriverGetVersion");
    if (const int no = refusal(rule); no >= 0) {
        return ended(no);
    }
    *version = driver_version();
    return 0;
}
EXPORTED int cudaGetDeviceCount(int* count) {
    const auto* rule = rule_for("cudaGetDeviceCount");
    if (const int no = refusal(rule); no >= 0) {
        return ended(no);
    }
    if (const int no = version_check(); no != 0) {
        return ended(no);
    }
    if (const int no = call_driver("cuInit", 0U); no != 0) {
        return ended(no);
    }
    return ended(call_driver("cuDeviceGetCount", count));
}
EXPORTED int cudaSetDevice(int device) {
    if (const int no = refusal(rule_for("cudaSetDevice", {.gpu = device})); no >= 0) {
        return ended(no);
    }
    if (const int no = version_check(); no != 0) {
        return ended(no);
    }
    if (const int no = call_driver("cuInit", 0U); no != 0) {
        return ended(no);
    }
    // One reference for each device, as long as the process lives.
    static std::map<int, void*> retained;
    if (!retained.contains(device)) {
        void* context = nullptr;
        if (const int no = call_driver("cuDevicePrimaryCtxRetain", &context, device); no != 0) {
            return ended(no);
        }
        retained[device] = context;
    }
    return ended(call_driver("cuCtxSetCurrent", retained[device]));
}
EXPORTED int cudaGetDevice(int* device) {
    return ended(call_driver("cuCtxGetDevice", device));
}
EXPORTED int cudaMalloc(void** pointer, std::size_t size) {
    if (const int no = refusal(rule_for("cudaMalloc")); no >= 0) {
        return ended(no);
    }
    unsigned long long made = 0;
    const int error = call_driver("cuMemAlloc_v2", &made, size);
    *pointer = error == 0 ? reinterpret_cast<void*>(made) : nullptr;
    return ended(error);
}
EXPORTED int cudaFree(void* pointer) {
    if (const int no = refusal(rule_for("cudaFree")); no >= 0) {
        return ended(no);
    }
    return pointer == nullptr
               ? 0
               : ended(call_driver("cuMemFree_v2", reinterpret_cast<unsigned long long>(pointer)));
}
EXPORTED int cudaMemcpy(void* to, const void* from, std::size_t size, int direction) {
    if (const int no = refusal(rule_for("cudaMemcpy")); no >= 0) {
        return ended(no);
    }
    if (direction == 1) {
        return ended(
            call_driver("cuMemcpyHtoD_v2", reinterpret_cast<unsigned long long>(to), from, size));
    }
    if (direction == 2) {
        return ended(
            call_driver("cuMemcpyDtoH_v2", to, reinterpret_cast<unsigned long long>(from), size));
    }
    return ended(21); // cudaErrorInvalidMemcpyDirection
}
EXPORTED int cudaDeviceSynchronize() {
    if (const int no = refusal(rule_for("cudaDeviceSynchronize")); no >= 0) {
        return ended(no);
    }
    return ended(call_driver("cuCtxSynchronize"));
}
EXPORTED int cudaGetLastError() {
    const int error = last_error;
    last_error = 0;
    return error;
}
EXPORTED const char* cudaGetErrorName(int error) {
    static const std::map<int, const char*> names = {{0, "cudaSuccess"},
                                                     {2, "cudaErrorMemoryAllocation"},
                                                     {34, "cudaErrorStubLibrary"},
                                                     {35, "cudaErrorInsufficientDriver"},
                                                     {36, "cudaErrorCallRequiresNewerDriver"},
                                                     {46, "cudaErrorDevicesUnavailable"},
                                                     {100, "cudaErrorNoDevice"},
                                                     {101, "cudaErrorInvalidDevice"},
                                                     {209, "cudaErrorNoKernelImageForDevice"},
                                                     {222, "cudaErrorUnsupportedPtxVersion"},
                                                     {700, "cudaErrorIllegalAddress"},
                                                     {719, "cudaErrorLaunchFailure"},
                                                     {802, "cudaErrorSystemNotReady"},
                                                     {803, "cudaErrorSystemDriverMismatch"},
                                                     {804, "cudaErrorCompatNotSupportedOnDevice"},
                                                     {999, "cudaErrorUnknown"}};
    const auto found = names.find(error);
    return found == names.end() ? "unrecognized error code" : found->second;
}
EXPORTED const char* cudaGetErrorString(int error) {
    return cudaGetErrorName(error);
}
