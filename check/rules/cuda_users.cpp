#include "check/rules/cuda_users.hpp"

#include "base/ranges.hpp"
#include "solver/knowledge/knowledge.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace cudaenv::rules {

namespace {

// "libcublas" of libcublas.so.12; "libnvrtc-builtins" is opened by name and of every minor.
std::set<std::string, std::less<>> read_stems() {
    std::set<std::string, std::less<>> stems;
    for (const auto& one : knowledge::pip_distributions()) {
        for (const auto& soname : one.sonames) {
            if (soname.starts_with("lib") && soname != "libOpenCL.so.1") {
                stems.insert(soname.substr(0, soname.find(".so")));
            }
        }
    }
    return stems;
}

} // namespace

bool is_cuda_user(std::string_view distribution) {
    return std::ranges::any_of(knowledge::library_users(), [&](const auto& user) {
        return is_one_of(distribution, user.names);
    });
}

const knowledge::LibraryUser* cuda_user(std::string_view distribution, std::string_view path) {
    if (path.find(".so") == std::string_view::npos) {
        return nullptr;
    }
    return find_pointer_if(knowledge::library_users(), [&](const knowledge::LibraryUser& user) {
        return is_one_of(distribution, user.names) &&
               std::ranges::any_of(user.files, [&](const std::string& files) {
                   return path.find('/' + files) != std::string_view::npos;
               });
    });
}

bool is_cuda_soname(std::string_view soname) {
    static const auto stems = read_stems();
    const auto end = soname.find(".so.");
    return end != std::string_view::npos && stems.contains(soname.substr(0, end));
}

} // namespace cudaenv::rules
