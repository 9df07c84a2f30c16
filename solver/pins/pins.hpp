// The pin vocabulary: which names can be pinned, what a constraint means, how one is written. Pure.
//
// Law: a bare version is a prefix everywhere (11.3 allows 11.3.109, not 11.30); "==" is exact. Text
// is read once, here; `PinConstraint::str()` reads back as the same constraint.
#pragma once

#include "base/dotted_version.hpp"
#include "base/result.hpp"
#include "solver/pins/pin.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudaenv::pins {

// One name of the vocabulary; PyPI's where PyPI has it. conda's name is empty where there is no
// single one: CUDA is whichever of cudatoolkit, cuda-version and pytorch-cuda a channel uses.
struct PinName {
    std::string_view name;
    std::span<const std::string_view> aliases;
    std::string_view what;       // "the deep learning framework PyTorch"
    std::string_view conda_name; // "pytorch"
};

// All of them, CUDA first.
std::span<const PinName> pin_names();
// The entry of a name or alias, in any case, `_` as `-`; null for an unknown one.
const PinName* find_pin_name(std::string_view name_or_alias);
// "unknown-pin", with the nearest known name as hint, or all of them; no place set.
Error unknown_pin(std::string_view name);

// What a pin allows. Clauses between commas must all hold:
//   11.3  =11.3  11.3.*  ==11.3.*   begins with 11.3 (missing parts count as 0, as conda has it)
//   ==11.3.1   >=8.2   >8   <2.4   <=2.4   !=2.1   !=2.1.*   ~=2.1 (2.1 or newer within 2)
//   *          any version
class PinConstraint {
public:
    // Errors: "bad-version", "bad-pin"; `column` counts from 1 within `text`, no path.
    static Result<PinConstraint> parse(std::string_view text);

    [[nodiscard]] bool allows(const DottedVersion& version) const;
    // Pin grammar: "11.3", ">=2.1,<2.4".
    [[nodiscard]] std::string str() const;
    // The version part of a conda MatchSpec: "11.3.*", ">=2.1,<2.4", "==11.3.1", "*".
    [[nodiscard]] std::string conda_version_spec() const;
    // A PEP 440 specifier set: "==11.3.*"; empty when every version is allowed.
    [[nodiscard]] std::string pip_specifier() const;
    // The version of a lone prefix or exact clause: "11.3" of cuda=11.3. Nothing for ranges.
    [[nodiscard]] std::optional<DottedVersion> single() const;

private:
    enum class Relation {
        Any,
        Prefix,
        NotPrefix,
        Equal,
        NotEqual,
        AtLeast,
        Above,
        AtMost,
        Below,
        Compatible
    };
    struct Clause {
        Relation relation = Relation::Any;
        DottedVersion version;
    };
    using Sign = std::pair<std::string_view, Relation>;
    static const std::array<Sign, 8> k_signs;
    static Result<Clause> parse_clause(std::string_view text);
    static std::string clause_text(const Clause& clause);
    static bool holds(const Clause& clause, const DottedVersion& version);
    [[nodiscard]] bool contradictory() const;

    std::vector<Clause> m_clauses;
};

// What a user writes on the command line or in CUDAENV_CUDA: `11.3`, `cuda=11.3`, `cuda@11.3`,
// `cu113`, `torch>=2.1,<2.4`, `torch 1.12`. Names come back canonical, constraints as
// `PinConstraint::str()`. Two pins for a build label: `torch=1.12.1+cu113` also pins cuda 11.3.
// `origin` ("argument 1") becomes the pin's origin and the error's path; columns count in `text`.
// Errors: "bad-pin", "bad-version", "unknown-pin".
Result<std::vector<Pin>> parse_pin(std::string_view text, const std::string& origin);

} // namespace cudaenv::pins
