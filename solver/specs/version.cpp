#include "solver/specs/version.hpp"

#include "base/ascii.hpp"
#include "base/text.hpp"
#include "solver/specs/spec_text.hpp"

#include <algorithm>

namespace cudaenv::specs {

namespace {

// Long enough for any real version; a bound so that offsets fit an atom.
constexpr std::size_t k_longest_version = std::size_t{1} << 20;
// A run of more digits is refused by conda too (its language's own limit on reading integers).
constexpr std::size_t k_most_digits = 4300;

constexpr bool is_version_char(char c) {
    return is_digit(c) || is_lower(c) || c == '*' || c == '.' || c == '+' || c == '!' || c == '_';
}

tl::unexpected<Error> bad_version(std::string_view text, std::string what, std::size_t offset,
                                  std::string hint = {}) {
    constexpr std::size_t k_most_shown = 80;
    std::string shown(text.substr(0, k_most_shown));
    if (text.size() > k_most_shown) {
        shown += "...";
    }
    auto failure = bad_input("bad-version", '"' + shown + "\" is not a version: " + std::move(what),
                             std::move(hint));
    failure.value().column = static_cast<int>(std::min(offset, k_longest_version)) + 1;
    return failure;
}

} // namespace

Result<Version> Version::parse(std::string_view text) {
    std::size_t first = 0;
    std::size_t last = text.size();
    while (first < last && is_python_space(text[first])) {
        ++first;
    }
    while (last > first && is_python_space(text[last - 1])) {
        --last;
    }
    if (first == last) {
        return bad_version(text, "it is empty", 0, "expected a version, as in 1.2.3");
    }
    if (last - first > k_longest_version) {
        return bad_version(text, "it is longer than 1 MiB", k_longest_version);
    }
    Version version;
    version.m_text = std::string(text);
    version.m_normal = to_lower_ascii(text.substr(first, last - first));
    std::string& normal = version.m_normal;

    const auto bad_char = [&] {
        return std::ranges::find_if_not(normal, is_version_char) - normal.begin();
    };
    std::size_t bad = static_cast<std::size_t>(bad_char());
    // A dash may stand for an underscore, but not beside one.
    if (bad < normal.size() && normal.find('_') == std::string::npos) {
        std::ranges::replace(normal, '-', '_');
        bad = static_cast<std::size_t>(bad_char());
    }
    if (bad < normal.size()) {
        return bad_version(text, "a character that versions do not have", first + bad,
                           normal[bad] == '-'
                               ? "use dashes or underscores, not both"
                               : "a version consists of letters, digits, and . _ + ! *");
    }

    std::size_t release_begin = 0;
    if (const std::size_t bang = normal.find('!'); bang != std::string::npos) {
        if (const std::size_t second = normal.find('!', bang + 1); second != std::string::npos) {
            return bad_version(text, "a second epoch separator \"!\"", first + second);
        }
        if (bang == 0 ||
            !std::all_of(normal.begin(), normal.begin() + static_cast<long>(bang), is_digit)) {
            return bad_version(text, "the epoch before \"!\" is not a number", first);
        }
        version.add_component(0, bang);
        release_begin = bang + 1;
    } else {
        version.m_atoms.push_back(Atom{});
        version.m_atoms.back().starts_component = 1;
    }

    std::size_t release_end = normal.find('+', release_begin);
    std::size_t local_begin = std::string::npos;
    if (release_end != std::string::npos) {
        local_begin = release_end + 1;
        if (const std::size_t second = normal.find('+', local_begin); second != std::string::npos) {
            return bad_version(text, "a second local separator \"+\"", first + second);
        }
    } else {
        release_end = normal.size();
    }
    if (release_end == release_begin) {
        return bad_version(text, "there is nothing before the local part", first + release_begin);
    }

    // One trailing underscore belongs to its component: openssl's "1.0.1_" below "1.0.1a".
    const auto split_components = [&](std::size_t begin, std::size_t end,
                                      std::size_t split_end) -> std::size_t {
        std::size_t component = begin;
        while (true) {
            std::size_t stop = component;
            while (stop < split_end && normal[stop] != '.' && normal[stop] != '_') {
                ++stop;
            }
            if (stop >= split_end) {
                stop = end;
            }
            if (stop == component) {
                return component;
            }
            version.add_component(component, stop);
            if (stop == end) {
                return std::string::npos;
            }
            component = stop + 1;
        }
    };
    const std::size_t split_end = normal[release_end - 1] == '_' ? release_end - 1 : release_end;
    std::size_t empty = split_components(release_begin, release_end, split_end);
    version.m_local_begin = version.m_atoms.size();
    if (empty == std::string::npos && local_begin != std::string::npos) {
        empty = split_components(local_begin, normal.size(), normal.size());
    }
    if (empty != std::string::npos) {
        return bad_version(text, "a part is empty", first + empty,
                           "expected a number or a word between two separators");
    }
    for (const Atom& atom : version.m_atoms) {
        if (atom.kind() == Kind::BigNumber && atom.length > k_most_digits) {
            return bad_version(text, "a number of more than 4300 digits", first + atom.begin);
        }
    }
    return version;
}

void Version::add_component(std::size_t begin, std::size_t end) {
    // Numbers and words stay in phase: a component that begins with a word gets a 0 before it.
    bool starts = true;
    if (!is_digit(m_normal[begin])) {
        m_atoms.push_back(Atom{});
        m_atoms.back().starts_component = 1;
        starts = false;
    }
    const auto run_class = [](char c) { return is_digit(c) ? 0 : c == '*' ? 1 : 2; };
    for (std::size_t at = begin; at < end;) {
        std::size_t stop = at;
        while (stop < end && run_class(m_normal[stop]) == run_class(m_normal[at])) {
            ++stop;
        }
        const std::string_view run = std::string_view(m_normal).substr(at, stop - at);
        const Kind kind = is_digit(run[0]) ? Kind::Number
                          : run[0] == '*'  ? Kind::Stars
                          : run == "post"  ? Kind::Post
                          : run == "dev"   ? Kind::Dev
                                           : Kind::Letters;
        add_atom(kind, at, stop, starts);
        starts = false;
        at = stop;
    }
}

void Version::add_atom(Kind kind, std::size_t begin, std::size_t end, bool starts_component) {
    Atom atom;
    atom.starts_component = starts_component ? 1 : 0;
    if (kind == Kind::Number) {
        const std::size_t written = begin;
        while (begin + 1 < end && m_normal[begin] == '0') {
            ++begin;
        }
        constexpr std::size_t k_digits_of_64_bits = 19;
        if (end - begin > k_digits_of_64_bits || end - written > k_most_digits) {
            kind = Kind::BigNumber;
            if (end - written > k_most_digits) {
                begin = written; // parse() refuses it by its length
            }
        } else {
            for (std::size_t i = begin; i < end; ++i) {
                atom.key = atom.key * 10 + static_cast<std::uint64_t>(m_normal[i] - '0');
            }
        }
    } else if (kind == Kind::Letters) {
        for (std::size_t i = 0; i < 8; ++i) {
            const std::uint64_t byte =
                begin + i < end ? static_cast<unsigned char>(m_normal[begin + i]) : 0U;
            atom.key = (atom.key << 8U) | byte;
        }
    } else if (kind == Kind::Stars) {
        atom.key = end - begin;
    }
    atom.begin = static_cast<std::uint32_t>(begin);
    atom.length = static_cast<std::uint32_t>(end - begin) & 0x7ffffffU;
    atom.kind_bits = static_cast<std::uint32_t>(kind) & 0xfU;
    m_atoms.push_back(atom);
}

std::strong_ordering Version::compare_atoms(const Version& a, const Atom& x, const Version& b,
                                            const Atom& y) {
    if (x.kind() != y.kind()) {
        return x.kind() <=> y.kind();
    }
    if (x.kind() == Kind::BigNumber) {
        if (x.length != y.length) {
            return std::uint32_t{x.length} <=> std::uint32_t{y.length};
        }
        return a.letters(x).compare(b.letters(y)) <=> 0;
    }
    if (x.key != y.key || x.kind() != Kind::Letters || (x.length <= 8 && y.length <= 8)) {
        return x.key <=> y.key;
    }
    return a.letters(x).compare(b.letters(y)) <=> 0;
}

// What one side lacks counts as 0, component for component and atom for atom.
std::strong_ordering Version::compare_sections(Section a, Section b) {
    const Atom zero;
    std::size_t i = a.begin;
    std::size_t j = b.begin;
    while (i < a.end || j < b.end) {
        for (bool first = true;; first = false) {
            const bool have_x = i < a.end && (first || a.owner->m_atoms[i].starts_component == 0);
            const bool have_y = j < b.end && (first || b.owner->m_atoms[j].starts_component == 0);
            if (!have_x && !have_y) {
                break;
            }
            const auto order = compare_atoms(*a.owner, have_x ? a.owner->m_atoms[i] : zero,
                                             *b.owner, have_y ? b.owner->m_atoms[j] : zero);
            if (order != std::strong_ordering::equal) {
                return order;
            }
            i += have_x ? 1U : 0U;
            j += have_y ? 1U : 0U;
        }
    }
    return std::strong_ordering::equal;
}

std::strong_ordering operator<=>(const Version& a, const Version& b) {
    const auto order = Version::compare_sections(a.release(), b.release());
    return order != std::strong_ordering::equal ? order
                                                : Version::compare_sections(a.local(), b.local());
}

bool Version::starts_with(const Version& prefix) const {
    Section mine = release();
    Section theirs = prefix.release();
    if (prefix.m_local_begin < prefix.m_atoms.size()) {
        if (compare_sections(mine, theirs) != std::strong_ordering::equal) {
            return false;
        }
        mine = local();
        theirs = prefix.local();
    }
    // Up to the prefix's last component all must be equal, and in that one up to its last atom.
    std::size_t components_before = 0;
    std::size_t last_component = theirs.begin;
    for (std::size_t i = theirs.begin + 1; i < theirs.end; ++i) {
        if (prefix.m_atoms[i].starts_component != 0) {
            ++components_before;
            last_component = i;
        }
    }
    std::size_t component = mine.begin;
    for (std::size_t seen = 0; component < mine.end; ++component) {
        if (component > mine.begin && m_atoms[component].starts_component != 0) {
            ++seen;
        }
        if (seen == components_before) {
            break;
        }
    }
    if (compare_sections({this, mine.begin, component}, {&prefix, theirs.begin, last_component}) !=
        std::strong_ordering::equal) {
        return false;
    }
    std::size_t component_end = component < mine.end ? component + 1 : component;
    while (component_end < mine.end && m_atoms[component_end].starts_component == 0) {
        ++component_end;
    }
    const std::size_t last_index = theirs.end - last_component - 1;
    const std::size_t head_end = std::min(component + last_index, component_end);
    if (compare_sections({this, component, head_end}, {&prefix, last_component, theirs.end - 1}) !=
        std::strong_ordering::equal) {
        return false;
    }
    const Atom zero;
    const Atom& mine_last =
        component + last_index < component_end ? m_atoms[component + last_index] : zero;
    const Atom& wanted = prefix.m_atoms[theirs.end - 1];
    if (wanted.kind() == Kind::Letters || wanted.kind() == Kind::Stars) {
        return mine_last.kind() == wanted.kind() &&
               letters(mine_last).starts_with(prefix.letters(wanted));
    }
    return compare_atoms(*this, mine_last, prefix, wanted) == std::strong_ordering::equal;
}

} // namespace cudaenv::specs
