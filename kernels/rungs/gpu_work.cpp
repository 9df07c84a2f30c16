#include "kernels/rungs/gpu_work.hpp"

#include "kernels/library_files.hpp"
#include "kernels/rungs/library_numbers.hpp"

#include <cstdint>

namespace cudaenv::kernels {
namespace {

constexpr int k_host_to_device = 1; // cudaMemcpyHostToDevice
constexpr int k_device_to_host = 2; // cudaMemcpyDeviceToHost

MaybeStop of_driver(const DriverApi& driver, const char* call, int error) {
    return error == 0 ? std::nullopt : MaybeStop(driver_failed(driver, call, error));
}

MaybeStop of_runtime(const RuntimeApi& runtime, const char* call, int error) {
    if (error == 0) {
        return std::nullopt;
    }
    Stop stop{.call = call, .error = error, .error_name = words_of(runtime.get_error_name, error)};
    if (runtime.get_last_error != nullptr) {
        runtime.get_last_error(); // it is reported here; the next call must not return it again
    }
    return stop;
}

Stop nothing_to_call(std::string_view function) {
    return lacks_function(function, "the driver's library");
}

CuDevicePointer as_number(const void* address) {
    return static_cast<CuDevicePointer>(reinterpret_cast<std::uintptr_t>(address));
}

} // namespace

void end_rung(Rung& rung, const MaybeStop& stop) {
    if (!stop) {
        rung.ok();
        return;
    }
    rung.set_reason(stop->reason);
    if (!stop->broken.empty()) {
        rung.set_broken(stop->broken);
    }
    switch (stop->kind) {
    case Stop::Kind::Failed:
        rung.failed(stop->call, stop->error, stop->error_name, stop->message);
        return;
    case Stop::Kind::Refused:
        rung.refused(stop->call, stop->message);
        return;
    case Stop::Kind::Wrong:
        rung.wrong(stop->message);
        return;
    }
}

LoadedLibrary load_or_end(Rung& rung, const std::vector<std::string>& files, ProbeStep step) {
    LoadedLibrary library = load_first(files);
    if (library.handle != nullptr) {
        return library;
    }
    if (!library.refusal) {
        rung.set_reason(facts::RungReason::Absent);
        rung.skipped("no " + std::string(facts::probed_library(step)->name) + " was found");
    } else {
        if (!library.path.empty()) {
            rung.set_file(library.path);
        }
        end_rung(rung, library.refusal);
    }
    return library;
}

void set_part(Rung& rung, ProbeStep step, const std::string& path) {
    const auto part = part_from_elsewhere(facts::probed_library(step)->file, path);
    if (!part.empty()) {
        rung.set_part(part);
    }
}

CurrentGpu::~CurrentGpu() {
    if (m_context != nullptr && m_gpu.driver->primary_context_release != nullptr) {
        m_gpu.driver->primary_context_release(m_device);
    }
}

MaybeStop CurrentGpu::make_current() {
    if (m_gpu.runtime != nullptr) {
        return of_runtime(*m_gpu.runtime, "cudaSetDevice",
                          m_gpu.runtime->set_device(m_gpu.ordinal));
    }
    const DriverApi& driver = *m_gpu.driver;
    if (driver.device_get == nullptr || driver.primary_context_retain == nullptr ||
        driver.primary_context_release == nullptr || driver.context_set_current == nullptr) {
        return nothing_to_call("cuDevicePrimaryCtxRetain");
    }
    if (m_context == nullptr) {
        CUDAENV_STOP_IF(
            of_driver(driver, "cuDeviceGet", driver.device_get(&m_device, m_gpu.ordinal)));
        if (MaybeStop stop = of_driver(driver, "cuDevicePrimaryCtxRetain",
                                       driver.primary_context_retain(&m_context, m_device))) {
            m_context = nullptr;
            return stop;
        }
    }
    return of_driver(driver, "cuCtxSetCurrent", driver.context_set_current(m_context));
}

MaybeStop CurrentGpu::synchronize() const {
    if (m_gpu.runtime != nullptr) {
        return of_runtime(*m_gpu.runtime, "cudaDeviceSynchronize", m_gpu.runtime->synchronize());
    }
    if (m_gpu.driver->context_synchronize == nullptr) {
        return nothing_to_call("cuCtxSynchronize");
    }
    return of_driver(*m_gpu.driver, "cuCtxSynchronize", m_gpu.driver->context_synchronize());
}

DeviceBuffer::~DeviceBuffer() {
    if (m_address == nullptr) {
        return;
    }
    // What it answers is of no use here: the rung has ended or is about to say why not.
    if (m_gpu.runtime != nullptr) {
        m_gpu.runtime->free(m_address);
    } else {
        m_gpu.driver->memory_free(as_number(m_address));
    }
}

MaybeStop DeviceBuffer::allocate(std::size_t bytes) {
    if (m_gpu.runtime != nullptr) {
        MaybeStop stop =
            of_runtime(*m_gpu.runtime, "cudaMalloc", m_gpu.runtime->allocate(&m_address, bytes));
        if (stop) {
            m_address = nullptr;
        }
        return stop;
    }
    const DriverApi& driver = *m_gpu.driver;
    if (driver.memory_allocate == nullptr || driver.memory_free == nullptr ||
        driver.copy_to_device == nullptr || driver.copy_from_device == nullptr) {
        return nothing_to_call("cuMemAlloc_v2");
    }
    CuDevicePointer address = 0;
    CUDAENV_STOP_IF(of_driver(driver, "cuMemAlloc", driver.memory_allocate(&address, bytes)));
    m_address = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
    return std::nullopt;
}

MaybeStop DeviceBuffer::to_device(const void* from, std::size_t bytes) {
    if (m_gpu.runtime != nullptr) {
        return of_runtime(*m_gpu.runtime, "cudaMemcpy",
                          m_gpu.runtime->copy(m_address, from, bytes, k_host_to_device));
    }
    return of_driver(*m_gpu.driver, "cuMemcpyHtoD",
                     m_gpu.driver->copy_to_device(as_number(m_address), from, bytes));
}

MaybeStop DeviceBuffer::from_device(void* into, std::size_t bytes) const {
    if (m_gpu.runtime != nullptr) {
        return of_runtime(*m_gpu.runtime, "cudaMemcpy",
                          m_gpu.runtime->copy(into, m_address, bytes, k_device_to_host));
    }
    return of_driver(*m_gpu.driver, "cuMemcpyDtoH",
                     m_gpu.driver->copy_from_device(into, as_number(m_address), bytes));
}

MaybeStop compared(std::string_view what, std::span<const float> got, std::span<const float> right,
                   double tolerance) {
    const auto difference = first_difference(got, right, tolerance);
    return difference ? MaybeStop(wrong_result(std::string(what) + *difference)) : std::nullopt;
}

} // namespace cudaenv::kernels
