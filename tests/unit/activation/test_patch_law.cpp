// The law of patch.hpp with random environments, patches and edits of the user's: two shells live
// through the same edits, one of them with cudaenv; after leaving they are equal, at every step.
#include "base/text.hpp"
#include "base/variables.hpp"
#include "shellhooks/patch/patch.hpp"

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <functional>
#include <random>
#include <set>

using namespace cudaenv;
using namespace cudaenv::patch;

namespace {

using Words = std::vector<std::string>;

const Words k_scalars{"CUDA_HOME", "CUDA_PATH", "CC", "CXX", "XLA_FLAGS"};
const Words k_lists{"PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH"};
const Words k_patch_entries{"/c/bin", "/c/lib 64", "/d", "/\xc3\xa9"};
const Words k_own_entries{"/a", "/b", "/usr/bin", "/\xff", "/c/bin/x", "."};
const Words k_patch_values{"/cuda-1", "/cuda 2", "/cuda=3\n"};
const Words k_own_values{"", "/mine", "x:y", "/cuda-1/x", "\xff"};

enum class Kind {
    Mixed,    // the user's entries equal ours at times
    Restored, // others keep old values and bring them back
};

std::string shown(const Variables& environment) {
    std::string text;
    for (const auto& [name, value] : environment) {
        text += name + "=" + value + "\n";
    }
    return text;
}

class Shells {
public:
    Shells(unsigned seed, Kind kind) : m_random(seed), m_kind(kind) {
        for (const auto& name : k_scalars) {
            if (chance(2)) {
                m_plain[name] = one_of(k_own_values);
            }
        }
        for (const auto& name : k_lists) {
            if (chance(3)) {
                m_plain[name] = list(kind == Kind::Mixed);
            }
        }
        m_plain["HOME"] = "/h";
        if (kind == Kind::Mixed) { // taken before cudaenv came, whatever is in them
            m_plain["_OLD_VIRTUAL_PATH"] = list(true);
            m_plain["__CONDA_SHLVL_0_LIBRARY_PATH"] = list(true);
            m_plain["__CONDA_SHLVL_0_CUDA_HOME"] = one_of(k_patch_values);
        }
        m_shell = m_plain;
    }

    void patch() {
        const Variables base = undo(m_shell);
        m_patch = {};
        for (const auto& name : k_scalars) {
            if (chance(2)) {
                m_patch.variables.push_back({name, one_of(k_patch_values)});
            }
        }
        for (std::size_t left = below(6); left > 0; --left) {
            m_patch.entries.push_back(
                {one_of(k_lists), one_of(k_patch_entries), chance(2) ? End::Front : End::Back});
        }
        m_base = base;
        m_shell = apply(base, m_patch, "host/boot", "context\n/p").environment;
        for (const AddEntry& add : m_patch.entries) {
            const auto entries = split(m_shell.at(add.list), ':');
            CHECK(std::ranges::find(entries, add.entry) != entries.end());
        }
    }

    void edit() {
        switch (below(m_kind == Kind::Mixed ? 6 : 9)) {
        case 0:
            return both([name = one_of(k_scalars), value = one_of(k_own_values)](Variables& shell) {
                shell[name] = value;
            });
        case 1:
            return both([name = one_of(chance(2) ? k_scalars : k_lists)](Variables& shell) {
                shell.erase(name);
            });
        case 2:
            return add(chance(2) ? End::Front : End::Back);
        case 3: // L="X::$L", which on a list without entries leaves an empty one
            return add_empty();
        case 4: {
            const auto value = list(false);
            return both([name = one_of(k_lists), value](Variables& shell) { shell[name] = value; });
        }
        case 5:
            return take_out(one_of(k_lists), one_of(k_own_entries));
        case 6:
            return keep(one_of(chance(2) ? k_scalars : k_lists));
        case 7:
            return bring_back();
        default: {
            const auto name = one_of(k_lists);
            if (const auto old = m_base.find(name); old != m_base.end()) {
                both([&](Variables& shell) { shell[name] = old->second; });
            }
        }
        }
    }

    void check() {
        const Variables without = undo(m_shell);
        INFO("with cudaenv:\n" << shown(m_shell) << "\nbase:\n" << shown(m_base));
        CHECK(shown(without) == shown(m_plain));
        CHECK(undo(without) == without);
        CHECK(shown(undo(apply(without, m_patch, "h", "c").environment)) == shown(without));
    }

private:
    using Edit = std::function<void(Variables&)>;

    void both(const Edit& edit) {
        edit(m_plain);
        edit(m_shell);
    }

    void add(End end) {
        const auto name = one_of(k_lists);
        auto entry = one_of(m_kind == Kind::Mixed && chance(3) ? k_patch_entries : k_own_entries);
        const bool had_entries = m_base.contains(name) && !m_base.at(name).empty();
        const bool ours_is_gone = count(m_plain, name, entry) == count(m_shell, name, entry);
        if (is_ours(name, entry) && (ours_is_gone || !had_entries)) {
            entry = "/a"; // the cases that the law leaves out
        }
        both([&](Variables& shell) {
            std::string& value = shell[name]; // L="X${L:+:$L}"
            value = value.empty()       ? entry
                    : end == End::Front ? entry + ":" + value
                                        : value + ":" + entry;
        });
    }

    static std::ptrdiff_t count(const Variables& shell, const std::string& list,
                                const std::string& entry) {
        const auto found = shell.find(list);
        return found == shell.end() ? 0 : std::ranges::count(split(found->second, ':'), entry);
    }

    [[nodiscard]] bool is_ours(const std::string& list, const std::string& entry) const {
        return std::ranges::any_of(m_patch.entries, [&](const AddEntry& add) {
            return add.list == list && add.entry == entry;
        });
    }

    void add_empty() {
        const auto name = one_of(k_lists);
        const auto plain = m_plain.find(name);
        const auto base = m_base.find(name);
        // Unset or empty before: the case that the law leaves out.
        if (plain != m_plain.end() && !plain->second.empty() && base != m_base.end() &&
            !base->second.empty() && m_shell.contains(name) && !m_shell.at(name).empty()) {
            both([&](Variables& shell) { shell[name] = "/x::" + shell[name] + ":"; });
        }
    }

    // As modules do it: nothing left is unset.
    void take_out(const std::string& name, const std::string& entry) {
        const auto base = m_base.find(name);
        const auto plain = m_plain.find(name);
        // One empty entry and no entries are the same text, so what is added next differs.
        const bool leaves_empty_entry = plain != m_plain.end() && (plain->second == ":" + entry ||
                                                                   plain->second == entry + ":");
        if (leaves_empty_entry || (base != m_base.end() && base->second.empty())) {
            return;
        }
        both([&](Variables& shell) {
            const auto found = shell.find(name);
            if (found == shell.end() || found->second.empty()) {
                return;
            }
            Words kept;
            for (const auto piece : split(found->second, ':')) {
                if (piece != entry) {
                    kept.emplace_back(piece);
                }
            }
            if (kept.empty()) {
                shell.erase(found);
            } else {
                found->second = join(kept, ":");
            }
        });
    }

    // conda and venv keep values that are not empty.
    void keep(const std::string& name) {
        both([&](Variables& shell) {
            const auto found = shell.find(name);
            const std::string snapshot =
                name == "PATH" ? "_OLD_VIRTUAL_PATH" : "__CONDA_SHLVL_1_" + name;
            if (found == shell.end() || found->second.empty()) {
                shell.erase(snapshot);
            } else {
                shell[snapshot] = found->second;
            }
        });
    }

    void bring_back() {
        Words snapshots;
        for (const auto& [name, value] : m_plain) {
            if (snapshot_of(name)) {
                snapshots.push_back(name);
            }
        }
        if (snapshots.empty()) {
            return;
        }
        both([name = one_of(snapshots)](Variables& shell) {
            const auto snapshot = shell.extract(name);
            shell[std::string(*snapshot_of(name))] = snapshot.mapped();
        });
    }

    std::size_t below(std::size_t limit) { return m_random() % limit; }
    bool chance(std::size_t one_in) { return below(one_in) == 0; }
    const std::string& one_of(const Words& words) { return words[below(words.size())]; }

    std::string list(bool with_ours) {
        Words entries;
        for (std::size_t left = below(5); left > 0; --left) {
            entries.push_back(chance(6)                ? ""
                              : with_ours && chance(3) ? one_of(k_patch_entries)
                                                       : one_of(k_own_entries));
        }
        return join(entries, ":");
    }

    std::mt19937 m_random;
    Kind m_kind;
    Variables m_plain;
    Variables m_shell;
    Variables m_base; // when the last patch was made
    Patch m_patch;
};

void live(Kind kind) {
    for (unsigned seed = 0; seed < 3000; ++seed) {
        CAPTURE(seed);
        Shells shells(seed, kind);
        for (int step = 0; step < 12; ++step) {
            if (step % 3 == 0) {
                shells.patch();
            } else {
                shells.edit();
            }
            shells.check();
        }
    }
}

Words without_doubles(const Words& entries) {
    Words kept;
    std::set<std::string> seen;
    for (const auto& entry : entries) {
        if (seen.insert(entry).second) {
            kept.push_back(entry);
        }
    }
    return kept;
}

Words words(std::string_view list) {
    const auto pieces = split(list, ':');
    return {pieces.begin(), pieces.end()};
}

} // namespace

TEST_CASE("leaving gives what the user's edits alone would have given") {
    live(Kind::Mixed);
}

TEST_CASE("leaving gives what it should also where others brought back what they had kept") {
    live(Kind::Restored);
}

TEST_CASE("a shell that keeps its PATH without doubles gets its order back") {
    std::mt19937 random(1);
    for (int run = 0; run < 3000; ++run) {
        Words entries{"/a", "/b", "/c/bin", "/d", "/e"};
        std::ranges::shuffle(entries, random);
        entries.resize(1 + random() % entries.size());
        Patch patch;
        for (const char* entry : {"/d", "/c/bin", "/new"}) {
            if (random() % 2 == 0) {
                patch.entries.push_back(
                    {"PATH", entry, random() % 3 == 0 ? End::Back : End::Front});
            }
        }
        const Variables base{{"PATH", join(entries, ":")}};
        Variables shell = apply(base, patch, "h", "c").environment;
        shell["PATH"] = join(without_doubles(words(shell["PATH"])), ":");
        INFO(base.at("PATH") << " became " << shell["PATH"]);
        CHECK(undo(shell) == base);
        shell["PATH"] = "/x:" + shell["PATH"] + ":/y";
        CHECK(undo(shell) == Variables{{"PATH", "/x:" + base.at("PATH") + ":/y"}});
        shell["PATH"] = base.at("PATH");
        CHECK(undo(shell) == base);
    }
}
