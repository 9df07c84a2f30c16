// What the rungs do on a GPU besides the library that they try: it is made current, memory is
// allocated, copied and given back. Through the environment's runtime where it is there, through
// the driver API where not.
//
// Law: every resource is released by its owner, on every path. Nothing throws; a call that refuses
// is a value.
#pragma once

#include "kernels/gpu_under_test.hpp"
#include "kernels/reporter.hpp"
#include "kernels/rungs/library_numbers.hpp"
#include "kernels/rungs/stop.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::kernels {

// Ends the rung: ok where nothing stopped it.
void end_rung(Rung& rung, const MaybeStop& stop);

// The library of a rung, or the rung ended and a null handle: skipped where no file exists, refused
// where the loader refuses.
LoadedLibrary load_or_end(Rung& rung, const std::vector<std::string>& files, ProbeStep step);

// The part of the library at `path` that came from elsewhere, if any: libcudnn_graph by
// LD_LIBRARY_PATH, beside a libcudnn that a search path of its own found. What the library says of
// its version is then that part's.
void set_part(Rung& rung, ProbeStep step, const std::string& path);

// The GPU's primary context is this thread's while this lives.
class CurrentGpu {
public:
    explicit CurrentGpu(const GpuUnderTest& gpu) : m_gpu(gpu) {}
    ~CurrentGpu();
    CurrentGpu(const CurrentGpu&) = delete;
    CurrentGpu& operator=(const CurrentGpu&) = delete;

    MaybeStop make_current();
    // Waits for what was begun on it.
    MaybeStop synchronize() const;

private:
    const GpuUnderTest& m_gpu;
    CuContext m_context = nullptr; // retained by us; null where the runtime keeps it
    CuDevice m_device = 0;
};

// Memory of the GPU, which is current at allocate(). It is allocated once.
class DeviceBuffer {
public:
    explicit DeviceBuffer(const GpuUnderTest& gpu) : m_gpu(gpu) {}
    ~DeviceBuffer();
    DeviceBuffer(const DeviceBuffer&) = delete;
    DeviceBuffer& operator=(const DeviceBuffer&) = delete;

    MaybeStop allocate(std::size_t bytes);
    MaybeStop to_device(const void* from, std::size_t bytes);
    MaybeStop from_device(void* into, std::size_t bytes) const;

    template <typename T>
    MaybeStop take(const std::vector<T>& values) {
        CUDAENV_STOP_IF(allocate(values.size() * sizeof(T)));
        return to_device(values.data(), values.size() * sizeof(T));
    }
    template <typename T>
    MaybeStop give(std::vector<T>& values) const {
        return from_device(values.data(), values.size() * sizeof(T));
    }

    void* address() const { return m_address; }

private:
    const GpuUnderTest& m_gpu;
    void* m_address = nullptr;
};

// A handle or descriptor of a library.
class Owned {
public:
    explicit Owned(int (*destroy)(void*)) : m_destroy(destroy) {}
    ~Owned() {
        if (m_object != nullptr) {
            m_destroy(m_object);
        }
    }
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;

    // The library's status; 0 is success.
    int create(int (*create_it)(void**)) {
        const int status = create_it(&m_object);
        m_object = status == 0 ? m_object : nullptr;
        return status;
    }
    void* get() const { return m_object; }

private:
    int (*m_destroy)(void*);
    void* m_object = nullptr;
};

// A stop that begins with `what` where they differ (first_difference).
MaybeStop compared(std::string_view what, std::span<const float> got, std::span<const float> right,
                   double tolerance = 0);

} // namespace cudaenv::kernels
