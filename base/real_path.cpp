#include "base/real_path.hpp"

#include <cstdlib>
#include <memory>

namespace cudaenv {

std::string real_path(const std::string& path) {
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                           &std::free);
    return real == nullptr ? path : std::string(real.get());
}

} // namespace cudaenv
