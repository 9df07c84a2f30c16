#include "check/inventory/examine.hpp"

#include "base/own_limits.hpp"
#include "check/inventory/directory_walk.hpp"
#include "check/inventory/in_threads.hpp"
#include "check/inventory/open_files.hpp"
#include "check/rules/ownership.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <limits>
#include <optional>
#include <span>
#include <sys/stat.h>
#include <unordered_map>
#include <vector>

namespace cudaenv::inventory {

namespace {

using facts::Claim;
using facts::ClaimHash;
using facts::ClaimKind;
using facts::Claims;
using facts::Examined;
using facts::FileClaim;
using facts::Inventory;
using facts::Lies;
using facts::PathState;

// What all claims to one path say of its content, beside what lies there: it is asked for only
// where something speaks against it.
enum class Agreement {
    AsClaimed, // nothing is held of it
    Differs,   // the state is held, without a digest
    AskDigest, // what is held is for after_digest() to say
};

bool has_digest(const FileClaim& claim) {
    return claim.kind == ClaimKind::File && claim.hash == ClaimHash::Sha256;
}

// Of a file whose prefix was replaced, some records have the size before.
bool has_other_size(const FileClaim& claim, std::uint64_t size) {
    return claim.kind == ClaimKind::File && claim.size != FileClaim::k_no_size &&
           !claim.prefix_replaced && claim.size != size;
}

std::int64_t laid_down_ns(const facts::Inventory& inventory, const Claim& claim) {
    return claim.by == Claim::By::Conda ? inventory.conda[claim.package].laid_down_ns
                                        : inventory.distributions[claim.package].laid_down_ns;
}

// By when the file has to have been there to be believed. conda's record, where there is one: the
// directory of a dist-info that conda installed is as old as the last file in it, which is not its
// package's, and may be touched by others. Of several the earliest, which costs a digest at most.
std::int64_t laid_down_ns(const facts::Inventory& inventory, const Claims& claims,
                          std::span<const Claim> of_path) {
    constexpr auto k_none = std::numeric_limits<std::int64_t>::max();
    auto by_conda = k_none;
    auto by_others = k_none;
    for (const Claim& claim : of_path) {
        if (has_digest(claims.file(claim))) {
            auto& earliest = claim.by == Claim::By::Conda ? by_conda : by_others;
            earliest = std::min(earliest, laid_down_ns(inventory, claim));
        }
    }
    return by_conda != k_none ? by_conda : by_others;
}

// A claim without a digest, of another package than those that have one: whose file it is can only
// be seen from the digest.
bool is_claimed_without_digest(const Claims& claims, std::span<const Claim> of_path) {
    return std::ranges::any_of(of_path, [&](const Claim& bare) {
        return !has_digest(claims.file(bare)) &&
               std::ranges::none_of(of_path, [&](const Claim& other) {
                   return other.same_owner(bare) && has_digest(claims.file(other));
               });
    });
}

bool is_worth_a_digest(const facts::Inventory& inventory, const Claims& claims,
                       std::span<const Claim> of_path, const PathState& state) {
    const Claim* first = nullptr;
    bool disagree = false;
    bool may_be_one = false;
    for (const Claim& claim : of_path) {
        const FileClaim& file = claims.file(claim);
        if (!has_digest(file)) {
            continue;
        }
        first = first == nullptr ? &claim : first;
        disagree = disagree || claims.file(*first).sha256 != file.sha256;
        may_be_one = may_be_one || !has_other_size(file, state.size);
    }
    return may_be_one &&
           (disagree || state.changed_ns >= laid_down_ns(inventory, claims, of_path) ||
            is_claimed_without_digest(claims, of_path));
}

// `state`: what the look gave, without a digest; never Missing of what may be missing. A path whose
// claims disagree is asked for its digest, one that a package claims without a digest while another
// has one, and one that was changed when its record was written, or later. Not where its size tells
// already that no record matches it.
Agreement compare(const facts::Inventory& inventory, const Claims& claims,
                  std::span<const Claim> of_path, const PathState& state) {
    const auto all = [&](const auto& law) {
        return std::ranges::all_of(of_path,
                                   [&](const Claim& claim) { return law(claims.file(claim)); });
    };
    const auto all_of_kind = [&](ClaimKind kind) {
        return all([kind](const FileClaim& claim) { return claim.kind == kind; });
    };
    bool same = false;
    switch (state.lies) {
    case Lies::Link:
        // No record claims where a link leads: rattler's digest is of the text, others' of what
        // it leads to.
        same = all_of_kind(ClaimKind::Softlink);
        break;
    case Lies::Directory:
        same = all_of_kind(ClaimKind::Directory);
        break;
    case Lies::File:
        if (is_worth_a_digest(inventory, claims, of_path, state)) {
            return Agreement::AskDigest;
        }
        same = all([&](const FileClaim& claim) {
            return claim.kind == ClaimKind::File && !has_other_size(claim, state.size);
        });
        break;
    case Lies::Missing:
    case Lies::Other:
    case Lies::Redirected:
    case Lies::Unreadable:
        break;
    }
    return same ? Agreement::AsClaimed : Agreement::Differs;
}

// Of a path that was asked for its digest, which is in `state`: AsClaimed or Differs.
Agreement after_digest(const Claims& claims, std::span<const Claim> of_path,
                       const PathState& state) {
    const bool same = std::ranges::all_of(of_path, [&](const Claim& claim) {
        const FileClaim& file = claims.file(claim);
        return !has_other_size(file, state.size) && file.kind == ClaimKind::File &&
               (!has_digest(file) || file.sha256 == state.sha256);
    });
    return same && !is_claimed_without_digest(claims, of_path) ? Agreement::AsClaimed
                                                               : Agreement::Differs;
}

struct Path {
    std::string_view path;
    std::uint32_t first_claim = 0; // of Plan::claims
    std::uint32_t claims = 0;
};

struct Directory {
    std::string_view name;
    std::vector<Path> paths;
};

// What there is to look at, by directory.
struct Plan {
    std::vector<Claim> claims;
    std::vector<Directory> directories; // by name

    [[nodiscard]] std::span<const Claim> claims_of(const Path& path) const {
        return std::span(claims).subspan(path.first_claim, path.claims);
    }
};

struct Slices {
    std::string_view directory;
    std::string_view name;
};

// "" of a file right in the prefix, "/" of one right in the root.
Slices slices_of(std::string_view path) {
    const auto slash = path.rfind('/');
    if (slash == std::string_view::npos) {
        return {{}, path};
    }
    return {path.substr(0, std::max<std::size_t>(slash, path.starts_with('/') ? 1 : 0)),
            path.substr(slash + 1)};
}

Plan plan_of(const Claims& claims) {
    Plan plan;
    plan.claims.reserve(claims.size());
    std::unordered_map<std::string_view, std::size_t> numbers;
    std::size_t last = 0;
    claims.for_each_path([&](std::string_view path, std::span<const Claim> of_path) {
        const auto [directory, name] = slices_of(path);
        if (name.empty() || rules::is_ordinary_difference(path)) {
            return; // no package owns the prefix itself
        }
        // A record has its files by directory, mostly.
        if (plan.directories.empty() || plan.directories[last].name != directory) {
            last = numbers.try_emplace(directory, plan.directories.size()).first->second;
            if (last == plan.directories.size()) {
                plan.directories.push_back({directory, {}});
            }
        }
        plan.directories[last].paths.push_back({path,
                                                static_cast<std::uint32_t>(plan.claims.size()),
                                                static_cast<std::uint32_t>(of_path.size())});
        plan.claims.insert(plan.claims.end(), of_path.begin(), of_path.end());
    });
    std::ranges::sort(plan.directories, [](const Directory& left, const Directory& right) {
        return left.name < right.name;
    });
    return plan;
}

struct Unread {
    const Directory* directory = nullptr;
    const Path* path = nullptr;
    PathState state;
    FileIdentity file;
};

struct Seen {
    std::vector<std::pair<std::string_view, PathState>> held;
    std::vector<Unread> unread;
};

Lies kind_of(mode_t mode) {
    if (S_ISREG(mode)) {
        return Lies::File;
    }
    if (S_ISLNK(mode)) {
        return Lies::Link;
    }
    return S_ISDIR(mode) ? Lies::Directory : Lies::Other;
}

Lies lies_of(Way way) {
    switch (way) {
    case Way::Absent:
        return Lies::Missing;
    case Way::Outside:
        return Lies::Redirected;
    case Way::Inside:
    case Way::Unreadable:
        break;
    }
    return Lies::Unreadable;
}

// Comes to directories of claims and looks at their files; one for each thread.
class Looker {
public:
    Looker(const Inventory& inventory, const Claims& claims, const Plan& plan, DirectoryWalk walk)
        : m_inventory(&inventory), m_claims(&claims), m_plan(&plan), m_walk(std::move(walk)) {}

    void look(const Directory& directory) {
        const Way way = go_to(directory.name);
        for (const Path& path : directory.paths) {
            if (way == Way::Inside) {
                look_at(directory, path);
            } else {
                hold(path, {lies_of(way), {}, 0, 0});
            }
        }
    }

    // The digest of a file that was looked at; none where it is not to be read as it was.
    std::optional<facts::Sha256Digest> read(const Unread& unread, FileHasher& hasher,
                                            const GoesOn& wanted) {
        if (go_to(unread.directory->name) != Way::Inside) {
            return std::nullopt;
        }
        m_name = slices_of(unread.path->path).name;
        const auto digest = hasher.hash(m_fd, m_name.c_str(), unread.file, wanted);
        return digest ? std::optional(*digest) : std::nullopt;
    }

    Seen seen;

private:
    void hold(const Path& path, const PathState& state) {
        seen.held.emplace_back(path.path, state);
    }

    Way go_to(std::string_view directory) {
        if (!directory.starts_with('/')) {
            const Way way = m_walk.go_to(directory);
            m_fd = way == Way::Inside ? m_walk.fd() : -1;
            return way;
        }
        // Of a record that leads out of the prefix: few.
        m_other.reset(::open(std::string(directory).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        m_fd = m_other.get();
        if (m_other) {
            return Way::Inside;
        }
        return errno == ENOENT || errno == ENOTDIR ? Way::Absent : Way::Unreadable;
    }

    void look_at(const Directory& directory, const Path& path) {
        m_name = slices_of(path.path).name;
        struct stat status {};
        if (::fstatat(m_fd, m_name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
            const bool absent = errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG;
            hold(path, {absent ? Lies::Missing : Lies::Unreadable, {}, 0, 0});
            return;
        }
        const auto identity = FileIdentity::of(status);
        const PathState state{kind_of(status.st_mode), {}, identity.size, identity.changed_ns};
        switch (compare(*m_inventory, *m_claims, m_plan->claims_of(path), state)) {
        case Agreement::AsClaimed:
            break;
        case Agreement::Differs:
            hold(path, state);
            break;
        case Agreement::AskDigest:
            seen.unread.push_back({&directory, &path, state, identity});
            break;
        }
    }

    const Inventory* m_inventory;
    const Claims* m_claims;
    const Plan* m_plan;
    DirectoryWalk m_walk;
    Fd m_other;
    int m_fd = -1;      // of the directory gone to
    std::string m_name; // with a zero at its end
};

struct Examination {
    const Inventory& inventory;
    const Claims& claims;
    DigestCache& cache;
    unsigned most_threads;
    const GoesOn& wanted;
    Plan plan{plan_of(claims)};
    std::string real_prefix{path_of_open(open_prefix().get())};
    Examined examined{};

    Examined run(ExaminationCost& cost) {
        std::vector<Unread> unread = look(cost);
        cost.from_cache = take_from_cache(unread);
        cost.hashed = unread.size();
        for (const Unread& file : unread) {
            cost.bytes += file.file.size;
        }
        read(std::move(unread));
        return std::move(examined);
    }

    [[nodiscard]] Fd open_prefix() const {
        return Fd(::open(inventory.prefix.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    }
    [[nodiscard]] Looker looker() const {
        return {inventory, claims, plan, {inventory.prefix, real_prefix}};
    }

    // A walk has a descriptor open for each level of its path.
    [[nodiscard]] unsigned threads_with_room(std::size_t shares) const {
        constexpr unsigned k_of_one_thread = 32;
        const unsigned room = descriptor_limit() / k_of_one_thread;
        return std::min(threads_for(most_threads, shares), room < 2 ? 1 : room - 1);
    }

    std::vector<Unread> look(ExaminationCost& cost) {
        constexpr std::size_t k_worth_a_thread = 64; // directories
        constexpr std::size_t k_at_once = 16;        // neighbours, whose way is mostly the same
        const auto& directories = plan.directories;
        const auto threads = threads_with_room(directories.size() / k_worth_a_thread + 1);
        std::vector<Looker> lookers;
        for (unsigned thread = 0; thread < threads; ++thread) {
            lookers.push_back(looker());
        }
        in_threads(threads, directories.size(), k_at_once, [&](unsigned thread, std::size_t job) {
            if (goes_on(wanted)) {
                lookers[thread].look(directories[job]);
            }
        });
        std::vector<Unread> unread;
        for (Looker& looker : lookers) {
            for (auto& [path, state] : looker.seen.held) {
                examined.add(std::string(path), state);
            }
            unread.insert(unread.end(), looker.seen.unread.begin(), looker.seen.unread.end());
        }
        for (const Directory& directory : directories) {
            cost.looked_at += directory.paths.size();
        }
        return unread;
    }

    static std::int64_t now_ns() {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
    }

    void tell(const Unread& file, const std::optional<facts::Sha256Digest>& digest) {
        PathState state = file.state;
        state.sha256 = digest;
        if (!digest) {
            state.lies = Lies::Unreadable;
        } else if (after_digest(claims, plan.claims_of(*file.path), state) ==
                   Agreement::AsClaimed) {
            return;
        }
        examined.add(std::string(file.path->path), state);
    }

    std::size_t take_from_cache(std::vector<Unread>& unread) {
        const auto now = now_ns();
        return std::erase_if(unread, [&](const Unread& file) {
            const auto digest = cache.find(file.file, now);
            if (digest) {
                tell(file, digest);
            }
            return digest.has_value();
        });
    }

    void read(std::vector<Unread> unread) {
        // Large ones first, so that none is left over at the end for one thread alone; the others
        // as they lie.
        static constexpr std::uint64_t k_large = std::uint64_t{1} << 20U;
        std::ranges::stable_sort(unread, [](const Unread& left, const Unread& right) {
            return std::max(left.file.size, k_large) > std::max(right.file.size, k_large);
        });
        const auto threads = threads_with_room(unread.size());
        std::vector<std::pair<Looker, FileHasher>> readers;
        for (unsigned thread = 0; thread < threads; ++thread) {
            readers.emplace_back(looker(), FileHasher());
        }
        std::vector<std::optional<facts::Sha256Digest>> digests(unread.size());
        in_threads(threads, unread.size(), 1, [&](unsigned thread, std::size_t job) {
            if (!goes_on(wanted)) {
                return;
            }
            const auto begun = now_ns();
            auto& [looker, hasher] = readers[thread];
            digests[job] = looker.read(unread[job], hasher, wanted);
            if (digests[job]) {
                cache.keep(unread[job].file, *digests[job], begun);
            }
        });
        for (std::size_t job = 0; job < unread.size(); ++job) {
            tell(unread[job], digests[job]);
        }
    }
};

} // namespace

Examined examine(const Inventory& inventory, const Claims& claims, DigestCache& cache,
                 unsigned threads, ExaminationCost* cost, const GoesOn& wanted) {
    ExaminationCost unasked;
    return Examination{inventory, claims, cache, threads, wanted}.run(cost == nullptr ? unasked
                                                                                      : *cost);
}

} // namespace cudaenv::inventory
