#include "kernels/rungs/stop.hpp"

#include <utility>

namespace cudaenv::kernels {

Stop wrong_result(std::string message) {
    return {.kind = Stop::Kind::Wrong, .message = std::move(message)};
}

Stop refused_by_loader(std::string words) {
    return {.kind = Stop::Kind::Refused, .call = "dlopen", .message = shortened(words)};
}

Stop lacks_function(std::string_view name, std::string_view path) {
    Stop stop = refused_by_loader(std::string(path) + " has no " + std::string(name));
    stop.call = "dlsym";
    return stop;
}

std::string words_of(const char* (*function)(int), int error) {
    const char* words = function == nullptr ? nullptr : function(error);
    return words == nullptr ? "" : words;
}

std::string shortened(std::string_view words) {
    constexpr std::size_t k_most = 4096;
    words = words.substr(0, k_most);
    const std::size_t last = words.find_last_not_of(" \t\r\n");
    return last == std::string_view::npos ? std::string{} : std::string(words.substr(0, last + 1));
}

} // namespace cudaenv::kernels
