// What a pin allows: reading, testing and writing constraints.
#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "solver/pins/pins.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace cudaenv::pins {

namespace {

constexpr std::string_view k_white = " \t";

int column_of(std::string_view whole, std::string_view piece) {
    return static_cast<int>(piece.data() - whole.data()) + 1;
}

tl::unexpected<Error> fail_at(std::string code, std::string message, std::string hint, int column) {
    Error error{ErrorKind::BadInput, std::move(code), std::move(message), {}, 0, column,
                std::move(hint)};
    return tl::unexpected(std::move(error));
}

std::string_view trim_white(std::string_view text) {
    const std::size_t first = text.find_first_not_of(k_white);
    if (first == std::string_view::npos) {
        return text.substr(text.size());
    }
    return text.substr(first, text.find_last_not_of(k_white) - first + 1);
}

// The smallest version above all that begin with `prefix`; nothing where it does not fit a part.
std::optional<DottedVersion> end_of_prefix(const DottedVersion& prefix) {
    std::string text;
    for (std::size_t i = 0; i < prefix.parts().size(); ++i) {
        const std::uint32_t part = prefix.part(i);
        const bool last = i + 1 == prefix.parts().size();
        if (last && part == std::numeric_limits<std::uint32_t>::max()) {
            return std::nullopt;
        }
        text += std::to_string(last ? part + 1 : part);
        text += last ? "" : ".";
    }
    auto version = DottedVersion::parse(text);
    return version ? std::optional(*std::move(version)) : std::nullopt;
}

DottedVersion without_last_part(const DottedVersion& version) {
    const std::string& text = version.str();
    return DottedVersion::of(std::string_view(text).substr(0, text.rfind('.')));
}

bool begins(const DottedVersion& version, const DottedVersion& prefix) {
    for (std::size_t i = 0; i < prefix.parts().size(); ++i) {
        if (version.part(i) != prefix.part(i)) {
            return false;
        }
    }
    return true;
}

} // namespace

// Where one sign begins another, the longer one is first.
const std::array<PinConstraint::Sign, 8> PinConstraint::k_signs{{{"==", Relation::Equal},
                                                                 {">=", Relation::AtLeast},
                                                                 {"<=", Relation::AtMost},
                                                                 {"!=", Relation::NotEqual},
                                                                 {"~=", Relation::Compatible},
                                                                 {">", Relation::Above},
                                                                 {"<", Relation::Below},
                                                                 {"=", Relation::Prefix}}};

Result<PinConstraint::Clause> PinConstraint::parse_clause(std::string_view text) {
    const std::string_view clause = trim_white(text);
    const int clause_column = column_of(text, clause);
    std::string_view rest = clause;
    Relation relation = Relation::Prefix;
    std::string_view written;
    for (const auto& [sign, meaning] : k_signs) {
        if (rest.substr(0, sign.size()) == sign) {
            relation = meaning;
            written = sign;
            rest = trim_white(rest.substr(sign.size()));
            break;
        }
    }
    if (rest.empty()) {
        return fail_at("bad-pin",
                       written.empty() ? "a version is missing"
                                       : "a version is missing after " + std::string(written),
                       "as in 11.3, ==11.3.1 or >=2.1,<2.4",
                       clause_column + static_cast<int>(clause.size()));
    }
    const int column = column_of(text, rest);
    if (rest == "*" && relation == Relation::Prefix) {
        return Clause{Relation::Any, {}};
    }
    const bool starred = rest.size() > 2 && rest.substr(rest.size() - 2) == ".*";
    const std::string_view number = starred ? rest.substr(0, rest.size() - 2) : rest;
    auto version = DottedVersion::parse(number);
    if (!version) {
        Error error = std::move(version).error();
        error.message = quoted(rest) + " is not a version";
        error.column = column;
        if (rest.find('+') != std::string_view::npos) {
            error.hint = "expected digits and dots, as in 11.3; a build such as +cu113 is the pin "
                         "cuda = \"11.3\"";
        } else if (rest.find('|') != std::string_view::npos) {
            error.hint = "expected digits and dots, as in 11.3; conditions are joined by commas, "
                         "all must hold";
        }
        return tl::unexpected(std::move(error));
    }
    if (starred) {
        switch (relation) {
        case Relation::Prefix:
        case Relation::Equal:
            return Clause{Relation::Prefix, *std::move(version)};
        case Relation::NotEqual:
            return Clause{Relation::NotPrefix, *std::move(version)};
        default:
            return fail_at("bad-pin", "a star cannot follow " + std::string(written),
                           "write " + std::string(written) + std::string(number), column);
        }
    }
    if (relation == Relation::Compatible && version->parts().size() < 2) {
        return fail_at("bad-pin", "~= needs two parts or more, and " + quoted(rest) + " has one",
                       "write " + std::string(rest) + " for everything that begins with it",
                       column);
    }
    return Clause{relation, *std::move(version)};
}

Result<PinConstraint> PinConstraint::parse(std::string_view text) {
    PinConstraint constraint;
    for (const std::string_view piece : split(text, ',')) {
        auto clause = parse_clause(piece);
        if (!clause) {
            Error error = std::move(clause).error();
            error.column += column_of(text, piece) - 1;
            return tl::unexpected(std::move(error));
        }
        constraint.m_clauses.push_back(*std::move(clause));
    }
    if (constraint.contradictory()) {
        return fail_at("bad-pin", "no version satisfies " + quoted(trim_white(text)),
                       "all conditions between commas must hold at once", 1);
    }
    return constraint;
}

bool PinConstraint::holds(const Clause& clause, const DottedVersion& version) {
    switch (clause.relation) {
    case Relation::Any:
        return true;
    case Relation::Prefix:
        return begins(version, clause.version);
    case Relation::NotPrefix:
        return !begins(version, clause.version);
    case Relation::Equal:
        return version == clause.version;
    case Relation::NotEqual:
        return !(version == clause.version);
    case Relation::AtLeast:
        return version >= clause.version;
    case Relation::Above:
        return version > clause.version;
    case Relation::AtMost:
        return version <= clause.version;
    case Relation::Below:
        return version < clause.version;
    case Relation::Compatible:
        return version >= clause.version && begins(version, without_last_part(clause.version));
    }
    return false;
}

bool PinConstraint::allows(const DottedVersion& version) const {
    return std::ranges::all_of(m_clauses,
                               [&](const Clause& clause) { return holds(clause, version); });
}

// Versions are dense (11.3 < 11.3.0.1 < 11.3.1), so bounds that leave an open interval leave
// versions.
bool PinConstraint::contradictory() const {
    struct Bound {
        DottedVersion version;
        bool included = true;
    };
    Bound lower{DottedVersion::of("0"), true}; // nothing is below 0
    std::optional<Bound> upper;
    const auto raise = [&](const DottedVersion& version, bool included) {
        if (version > lower.version || (version == lower.version && !included)) {
            lower = Bound{version, included};
        }
    };
    const auto cut = [&](const DottedVersion& version, bool included) {
        if (!upper || version < upper->version || (version == upper->version && !included)) {
            upper = Bound{version, included};
        }
    };
    const auto within = [&](const DottedVersion& prefix) {
        if (const auto end = end_of_prefix(prefix)) {
            cut(*end, false);
        }
    };
    for (const Clause& clause : m_clauses) {
        switch (clause.relation) {
        case Relation::Prefix:
            raise(clause.version, true);
            within(clause.version);
            break;
        case Relation::Equal:
            raise(clause.version, true);
            cut(clause.version, true);
            break;
        case Relation::AtLeast:
            raise(clause.version, true);
            break;
        case Relation::Above:
            raise(clause.version, false);
            break;
        case Relation::AtMost:
            cut(clause.version, true);
            break;
        case Relation::Below:
            cut(clause.version, false);
            break;
        case Relation::Compatible:
            raise(clause.version, true);
            within(without_last_part(clause.version));
            break;
        case Relation::Any:
        case Relation::NotPrefix:
        case Relation::NotEqual:
            break;
        }
    }
    if (!upper) {
        return false;
    }
    if (lower.version == upper->version) {
        // One version is left: it must also pass the exclusions.
        return !lower.included || !upper->included || !allows(lower.version);
    }
    return lower.version > upper->version ||
           std::ranges::any_of(m_clauses, [&](const Clause& clause) {
               const auto end = clause.relation == Relation::NotPrefix
                                    ? end_of_prefix(clause.version)
                                    : std::nullopt;
               return end && lower.version >= clause.version &&
                      (upper->version < *end || (upper->version == *end && !upper->included));
           });
}

std::string PinConstraint::clause_text(const Clause& clause) {
    const std::string& version = clause.version.str();
    switch (clause.relation) {
    case Relation::Any:
        return "*";
    case Relation::Prefix:
        return version;
    case Relation::NotPrefix:
        return "!=" + version + ".*";
    default:
        break;
    }
    const auto* const sign = std::ranges::find(k_signs, clause.relation, &Sign::second);
    return std::string(sign->first) + version;
}

std::string PinConstraint::str() const {
    const auto clauses = each_of(m_clauses, clause_text);
    return join(clauses, ",");
}

std::string PinConstraint::conda_version_spec() const {
    std::vector<std::string> clauses;
    for (const Clause& clause : m_clauses) {
        clauses.push_back(clause_text(clause) + (clause.relation == Relation::Prefix ? ".*" : ""));
    }
    return join(clauses, ",");
}

std::string PinConstraint::pip_specifier() const {
    std::vector<std::string> clauses;
    for (const Clause& clause : m_clauses) {
        if (clause.relation == Relation::Prefix) {
            clauses.push_back("==" + clause_text(clause) + ".*");
        } else if (clause.relation != Relation::Any) {
            clauses.push_back(clause_text(clause));
        }
    }
    return join(clauses, ",");
}

std::optional<DottedVersion> PinConstraint::single() const {
    if (m_clauses.size() == 1 &&
        (m_clauses[0].relation == Relation::Prefix || m_clauses[0].relation == Relation::Equal)) {
        return m_clauses[0].version;
    }
    return std::nullopt;
}

} // namespace cudaenv::pins
