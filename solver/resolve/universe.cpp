#include "solver/resolve/universe.hpp"

#include <algorithm>

namespace cudaenv::resolve {

namespace {
bool by_version_and_build(const specs::PackageRecord& a, const specs::Version& a_version,
                          const specs::PackageRecord& b, const specs::Version& b_version,
                          bool& equal) {
    equal = false;
    if (a.track_features.empty() != b.track_features.empty()) {
        return a.track_features.empty();
    }
    // Many builds share one version: the same text needs no comparison.
    if (a.version != b.version) {
        if (const auto order = a_version <=> b_version; order != std::strong_ordering::equal) {
            return order == std::strong_ordering::greater;
        }
    }
    if (a.build_number != b.build_number) {
        return a.build_number > b.build_number;
    }
    equal = true;
    return false;
}
} // namespace

Result<Universe> Universe::reach(UniverseInput input, std::span<const std::string> demands) {
    Universe universe;
    universe.m_input = std::move(input);
    for (std::size_t i = 0; i < universe.m_input.own.size(); ++i) {
        universe.m_own[universe.m_input.own[i].name].push_back(i);
    }
    for (const std::string& demand : demands) {
        CUDAENV_TRY_VOID(universe.need(demand));
    }
    while (!universe.m_frontier.empty()) {
        Loaded* const next = universe.m_frontier.back();
        universe.m_frontier.pop_back();
        CUDAENV_TRY_VOID(universe.expand(*next));
    }
    for (Loaded* const loaded : universe.m_reached) {
        solv::Candidate& candidate = universe.m_problem.candidates[*loaded->candidate];
        for (const std::string& constraint : loaded->record.constrains) {
            candidate.excludes.push_back(universe.excluded_by(constraint));
        }
    }
    universe.rank();
    universe.m_problem.name_count = static_cast<solv::NameId>(universe.m_names.size());
    universe.m_engine = std::make_unique<solv::Engine>(universe.m_problem);
    return universe;
}

Result<Universe::Name*> Universe::load(std::string_view name) {
    if (const auto found = m_names.find(std::string(name)); found != m_names.end()) {
        return found->second.get();
    }
    auto owned = std::make_unique<Name>();
    Name* const entry = owned.get();
    entry->id = static_cast<solv::NameId>(m_names.size());
    m_names.emplace(std::string(name), std::move(owned));

    std::vector<specs::PackageRecord> records;
    if (const auto own = m_own.find(name); own != m_own.end()) {
        for (const std::size_t index : own->second) {
            records.push_back(m_input.own[index]);
        }
    } else {
        for (const Channel* const channel : m_input.channels) {
            CUDAENV_TRY_VOID(channel->records_of(name, records));
            if (!records.empty()) {
                break;
            }
        }
        if (m_input.amend) {
            m_input.amend(records);
        }
    }
    for (specs::PackageRecord& record : records) {
        auto version = specs::Version::parse(record.version);
        if (!version) {
            m_unreadable.push_back(record.name + ' ' + record.version + ": " +
                                   version.error().message);
            continue;
        }
        const bool passes = std::ranges::all_of(m_input.narrowed, [&](const auto& narrow) {
            return narrow.first != record.name || narrow.second.matches(record, *version);
        });
        if (passes) {
            m_loaded.push_back({std::move(record), *std::move(version), std::nullopt});
            entry->loaded.push_back(&m_loaded.back());
        }
    }
    return entry;
}

Result<solv::SetId> Universe::need(std::string_view text) {
    if (const auto found = m_spec_ids.find(text); found != m_spec_ids.end()) {
        return found->second;
    }
    const auto id = static_cast<solv::SetId>(m_specs.size());
    m_spec_texts.emplace_back(text);
    m_spec_ids.emplace(m_spec_texts.back(), id);
    m_specs.emplace_back();
    m_problem.sets.emplace_back();

    auto parsed = specs::MatchSpec::parse(text);
    if (!parsed) {
        m_unreadable.push_back('"' + std::string(text) + "\": " + parsed.error().message);
        return id;
    }
    CUDAENV_TRY(Name* const name, load(parsed->name()));
    Spec& spec = m_specs[id];
    spec.name = name;
    for (Loaded* const loaded : name->loaded) {
        if (!parsed->matches(loaded->record, loaded->version)) {
            continue;
        }
        spec.members.push_back(loaded);
        if (!loaded->candidate) {
            loaded->candidate = static_cast<solv::CandidateId>(m_reached.size());
            m_reached.push_back(loaded);
            m_problem.candidates.push_back({name->id, 0, {}, {}});
            m_frontier.push_back(loaded);
        }
        m_problem.sets[id].push_back(*loaded->candidate);
    }
    spec.parsed = *std::move(parsed);
    return id;
}

Result<void> Universe::expand(Loaded& loaded) {
    // A dependency that is known to have no candidate makes the record impossible: what else it
    // needs is then not worth loading. Only names that are loaded already can say so without cost.
    for (const std::string& dependency : loaded.record.depends) {
        const auto found = m_spec_ids.find(dependency);
        bool hopeless = found != m_spec_ids.end() && m_problem.sets[found->second].empty();
        if (found == m_spec_ids.end()) {
            const std::size_t name_end = dependency.find_first_of(" =<>!~[");
            if (m_names.contains(dependency.substr(0, name_end))) {
                CUDAENV_TRY(const solv::SetId set, need(dependency));
                hopeless = m_problem.sets[set].empty();
            }
        }
        if (hopeless) {
            CUDAENV_TRY(const solv::SetId set, need(dependency));
            m_problem.candidates[*loaded.candidate].needs = {set};
            return {};
        }
    }
    std::vector<solv::SetId> needs;
    for (const std::string& dependency : loaded.record.depends) {
        CUDAENV_TRY(const solv::SetId set, need(dependency));
        needs.push_back(set);
    }
    m_problem.candidates[*loaded.candidate].needs = std::move(needs);
    return {};
}

solv::SetId Universe::excluded_by(std::string_view text) {
    if (const auto found = m_exclusion_ids.find(text); found != m_exclusion_ids.end()) {
        return found->second;
    }
    const auto id = static_cast<solv::SetId>(m_problem.sets.size());
    m_problem.sets.emplace_back();
    m_spec_texts.emplace_back(text);
    m_exclusion_ids.emplace(m_spec_texts.back(), id);
    const auto parsed = specs::MatchSpec::parse(text);
    if (!parsed) {
        m_unreadable.push_back('"' + std::string(text) + "\": " + parsed.error().message);
        return id;
    }
    const auto name = m_names.find(parsed->name());
    if (name == m_names.end()) {
        return id; // nothing of that name can be in an answer
    }
    for (const Loaded* const loaded : name->second->loaded) {
        if (loaded->candidate && !parsed->matches(loaded->record, loaded->version)) {
            m_problem.sets[id].push_back(*loaded->candidate);
        }
    }
    return id;
}

bool Universe::favours(const Loaded& loaded) const {
    const auto found = m_input.favoured.find(loaded.record.name);
    return found != m_input.favoured.end() && found->second.first == loaded.record.version &&
           (found->second.second.empty() || found->second.second == loaded.record.build);
}

void Universe::sort_best_first(std::span<Loaded*> loaded) const {
    const auto better = [](const Loaded* a, const Loaded* b) {
        bool equal = false;
        return by_version_and_build(a->record, a->version, b->record, b->version, equal);
    };
    std::ranges::stable_sort(loaded, better);

    // The newest version that a record's needs of one name let through; the most restrictive
    // counts.
    struct Best {
        bool plain = false; // without track_features
        const specs::Version* version = nullptr;
    };
    const auto worse = [](const Best& a, const Best& b) {
        return a.plain != b.plain ? !a.plain : *a.version < *b.version;
    };
    const auto newest_dependencies = [&](const Loaded* of) {
        std::map<std::string_view, std::optional<Best>> by_name;
        for (const std::string& dependency : of->record.depends) {
            const Spec* const spec = find(dependency);
            if (spec == nullptr || !spec->parsed) {
                continue;
            }
            const Loaded* const newest = spec->newest;
            auto& best = by_name[spec->parsed->name()];
            if (newest != nullptr) {
                const Best this_one{newest->record.track_features.empty(), &newest->version};
                if (!best || worse(this_one, *best)) {
                    best = this_one;
                }
            }
        }
        return by_name;
    };
    for (std::size_t begin = 0; begin < loaded.size();) {
        std::size_t end = begin + 1;
        while (end < loaded.size() && !better(loaded[begin], loaded[end])) {
            ++end;
        }
        if (end - begin > 1) {
            using Dependencies = std::map<std::string_view, std::optional<Best>>;
            std::vector<std::pair<Loaded*, Dependencies>> tied;
            for (std::size_t i = begin; i < end; ++i) {
                tied.emplace_back(loaded[i], newest_dependencies(loaded[i]));
            }
            std::vector<std::string_view> shared;
            for (const auto& [name, version] : tied.front().second) {
                if (std::ranges::all_of(tied, [&, key = name](const auto& one) {
                        return one.second.contains(key);
                    })) {
                    shared.push_back(name);
                }
            }
            std::ranges::stable_sort(tied, [&](const auto& a, const auto& b) {
                for (const std::string_view name : shared) {
                    const auto& of_a = a.second.at(name);
                    const auto& of_b = b.second.at(name);
                    if (of_a.has_value() != of_b.has_value()) {
                        return of_a.has_value();
                    }
                    if (of_a && (worse(*of_a, *of_b) || worse(*of_b, *of_a))) {
                        return worse(*of_b, *of_a);
                    }
                }
                return a.first->record.timestamp_ms > b.first->record.timestamp_ms;
            });
            std::ranges::transform(tied, loaded.begin() + static_cast<std::ptrdiff_t>(begin),
                                   [](const auto& one) { return one.first; });
        }
        begin = end;
    }
    std::stable_partition(loaded.begin(), loaded.end(),
                          [&](const Loaded* one) { return favours(*one); });
}

void Universe::rank() {
    for (Spec& spec : m_specs) {
        for (const Loaded* const member : spec.members) {
            if (spec.newest == nullptr || (spec.newest->record.version != member->record.version &&
                                           spec.newest->version < member->version)) {
                spec.newest = member;
            }
        }
    }
    for (const auto& [text, name] : m_names) {
        const auto unreached =
            std::stable_partition(name->loaded.begin(), name->loaded.end(),
                                  [](const Loaded* one) { return one->candidate.has_value(); });
        const std::span<Loaded*> reached(name->loaded.begin(), unreached);
        sort_best_first(reached);
        auto rank = static_cast<std::uint32_t>(reached.size());
        for (const Loaded* const loaded : reached) {
            m_problem.candidates[*loaded->candidate].rank = rank--;
        }
    }
}

const Universe::Spec* Universe::find(std::string_view text) const {
    const auto found = m_spec_ids.find(text);
    return found == m_spec_ids.end() ? nullptr : &m_specs[found->second];
}

std::optional<std::vector<const specs::PackageRecord*>>
Universe::solve(std::span<const std::string> demands) const {
    std::vector<solv::SetId> sets;
    for (const std::string& demand : demands) {
        const auto found = m_spec_ids.find(demand);
        if (found == m_spec_ids.end()) {
            return std::nullopt;
        }
        sets.push_back(found->second);
    }
    const auto chosen = m_engine->solve(sets);
    if (!chosen) {
        return std::nullopt;
    }
    std::vector<const specs::PackageRecord*> records;
    for (const solv::CandidateId id : *chosen) {
        records.push_back(&m_reached[id]->record);
    }
    std::ranges::sort(records, [](const auto* a, const auto* b) { return a->name < b->name; });
    return records;
}

std::vector<const specs::PackageRecord*> Universe::matching(std::string_view spec) const {
    std::vector<const specs::PackageRecord*> records;
    if (const Spec* const found = find(spec); found != nullptr && found->name != nullptr) {
        for (const Loaded* const loaded : found->name->loaded) {
            if (std::ranges::find(found->members, loaded) != found->members.end()) {
                records.push_back(&loaded->record);
            }
        }
    }
    return records;
}

std::vector<const specs::PackageRecord*> Universe::all_of(std::string_view name) const {
    std::vector<const specs::PackageRecord*> records;
    if (const auto found = m_names.find(std::string(name)); found != m_names.end()) {
        for (const Loaded* const loaded : found->second->loaded) {
            records.push_back(&loaded->record);
        }
    }
    return records;
}

bool Universe::matches(const specs::PackageRecord& record, std::string_view spec) const {
    const auto parsed = specs::MatchSpec::parse(spec);
    const auto version = specs::Version::parse(record.version);
    return parsed && version && parsed->name() == record.name && parsed->matches(record, *version);
}

} // namespace cudaenv::resolve
