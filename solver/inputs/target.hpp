// For which Python and machine a file is read: what its environment markers are judged by. Pure.
#pragma once

#include "base/result.hpp"
#include "solver/specs/requirement.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::inputs {

// Linux and CPython always. Where the Python is not known, every one that the file allows counts.
class Target {
public:
    // `python`: "3.11", "3.11.7", or empty where it is not known.
    explicit Target(std::string_view python = {}, std::string machine = "x86_64");

    // Only Pythons that `specifiers` allows, where any of the known ones is.
    void narrow(const specs::SpecifierSet& specifiers);

    enum class Verdict { Yes, No, DependsOnPython };
    // Error: "bad-requirement" for a marker that compares what has no order.
    [[nodiscard]] Result<Verdict> judge(const specs::Marker& marker) const;

    // conda's word for the platform: "linux-64", "linux-aarch64".
    [[nodiscard]] std::string platform() const;

private:
    std::vector<std::string> m_pythons; // full versions that stand for all
    std::string m_machine;
};

} // namespace cudaenv::inputs
