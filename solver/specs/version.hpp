// A version as conda orders it. Pure.
//
// Law: `compare` gives conda's answer for every pair that conda accepts, and `parse` refuses what
// conda refuses (judged against answers of conda 26.7 itself).
//
// "1.2.3+cu113" is epoch 0, release [1][2][3], local [0 "cu" 113]; literals below numbers below
// "post", "dev" lowest. The local part is compared only where all before it is equal.
#pragma once

#include "base/result.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cudaenv::specs {

class Version {
public:
    // Error: "bad-version", column set to the offending byte.
    static Result<Version> parse(std::string_view text);

    // The text as it was read.
    [[nodiscard]] const std::string& str() const { return m_text; }
    // Trimmed, lower case, a dash as conda reads it: what conda prints.
    [[nodiscard]] const std::string& normal() const { return m_normal; }
    // Conda's "=1.2": 1.2, 1.2.3 and 1.2a1 start with 1.2, 1.20 does not; 1.2a starts with 1.2 "a".
    [[nodiscard]] bool starts_with(const Version& prefix) const;

    friend std::strong_ordering operator<=>(const Version& a, const Version& b);
    friend bool operator==(const Version& a, const Version& b) {
        return (a <=> b) == std::strong_ordering::equal;
    }

private:
    // In their order: any atom of an earlier kind is below any of a later one.
    enum class Kind : std::uint8_t { Stars, Dev, Letters, Number, BigNumber, Post };
    // A run of digits or of letters. `key` decides most comparisons: a number's value, or the first
    // eight letters, big-endian; what does not fit is compared in m_normal.
    struct Atom {
        std::uint64_t key = 0;
        std::uint32_t begin = 0;
        std::uint32_t length : 27 = 0;
        std::uint32_t kind_bits : 4 = static_cast<std::uint32_t>(Kind::Number);
        std::uint32_t starts_component : 1 = 0;

        [[nodiscard]] Kind kind() const { return static_cast<Kind>(kind_bits); }
    };
    struct Section {
        const Version* owner;
        std::size_t begin;
        std::size_t end;
    };

    void add_component(std::size_t begin, std::size_t end);
    void add_atom(Kind kind, std::size_t begin, std::size_t end, bool starts_component);
    [[nodiscard]] Section release() const { return {this, 0, m_local_begin}; }
    [[nodiscard]] Section local() const { return {this, m_local_begin, m_atoms.size()}; }
    [[nodiscard]] std::string_view letters(const Atom& atom) const {
        return std::string_view(m_normal).substr(atom.begin, atom.length);
    }
    static std::strong_ordering compare_atoms(const Version& a, const Atom& x, const Version& b,
                                              const Atom& y);
    static std::strong_ordering compare_sections(Section a, Section b);

    std::string m_text;
    std::string m_normal;
    std::vector<Atom> m_atoms; // epoch and release, then local
    std::size_t m_local_begin = 0;
};

} // namespace cudaenv::specs
