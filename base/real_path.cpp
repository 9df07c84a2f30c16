#include "base/real_path.hpp"

#include <cstdlib>
#include <memory>

namespace cudaenv {

std::string resolved_path(const std::string& path) {
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                           &std::free);
    return real == nullptr ? std::string() : std::string(real.get());
}

std::string real_path(const std::string& path) {
    std::string real = resolved_path(path);
    return real.empty() ? path : real;
}

} // namespace cudaenv
