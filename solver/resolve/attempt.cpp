#include "solver/resolve/attempt.hpp"

#include "base/text.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/resolve/package_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace cudaenv::resolve {

namespace {
// Specs that hold in every answer, by the name they are about: what fails them need not be loaded.
std::vector<std::pair<std::string, specs::MatchSpec>> narrowing_of(const Attempt& attempt) {
    std::vector<std::pair<std::string, specs::MatchSpec>> narrowed;
    const auto add = [&](const std::string& text) {
        if (auto spec = specs::MatchSpec::parse(text)) {
            std::string name = spec->name();
            narrowed.emplace_back(std::move(name), *std::move(spec));
        }
    };
    for (const Item& item : attempt.question.items) {
        if (item.kind == Item::Kind::Spec) {
            add(item.demand);
        }
        for (const std::string& constraint : item.constrains) {
            add(constraint);
        }
    }
    for (const specs::PackageRecord& record : attempt.world->records()) {
        if (!record.name.starts_with("__fact_")) {
            continue;
        }
        for (const std::string& depends : record.depends) {
            add(depends);
        }
        for (const std::string& constraint : record.constrains) {
            add(constraint);
        }
    }
    return narrowed;
}
// cuDNN as a package of its own, and packages of which only the newest releases are listed: a
// version that is named is taken at its word.
bool has_every_release(std::string_view name) {
    return name != "cudnn" && (!has_package(name) || knowledge::find_framework(name) != nullptr);
}

void add_named_versions(Attempt& attempt) {
    for (const Item& item : attempt.question.items) {
        const auto digits = item.demand.find_first_of("0123456789", item.name.size());
        if (item.kind != Item::Kind::Spec || has_every_release(item.name) ||
            digits == std::string::npos ||
            item.demand.find_first_of("<>!~,|*") != std::string::npos) {
            continue;
        }
        std::vector<specs::PackageRecord> records;
        if (!attempt.catalogue->records_of(item.name, records)) {
            continue;
        }
        const std::string version = item.demand.substr(digits);
        const bool known = std::ranges::any_of(records, [&](const auto& record) {
            return record.version == version || record.version.starts_with(version + '.');
        });
        if (known) {
            continue;
        }
        const std::string_view library = library_of(item.name);
        if (library.empty()) {
            attempt.catalogue->add_plain(item.name, version);
            continue;
        }
        std::vector<std::string> depends = {fmt::format("{} =={}", library, version)};
        if (!records.empty()) { // of one CUDA major, whatever the release
            std::ranges::copy_if(records.back().depends, std::back_inserter(depends),
                                 [](const auto& spec) { return spec.starts_with("cuda "); });
        }
        attempt.catalogue->add_plain(item.name, version, std::move(depends));
        attempt.catalogue->add_plain(std::string(library), version);
    }
}

std::optional<specs::Version> version_in(std::string_view spec) {
    const auto digits = spec.find_first_of("0123456789", spec.find_first_of(" =<>!~"));
    if (digits == std::string_view::npos) {
        return std::nullopt;
    }
    auto text = spec.substr(digits);
    text = text.substr(0, text.find_first_of(" ,|*<>=!~"));
    if (text.ends_with('.')) {
        text.remove_suffix(1); // of "13.1.*"
    }
    auto version = specs::Version::parse(text);
    return version ? std::optional(*std::move(version)) : std::nullopt;
}

// Specs of the versions around the one that is wanted: outwards, the newer first; of CUDA the
// older, which more drivers run.
std::vector<std::string> nearest_to(const Item& item, std::span<const Channel* const> channels) {
    constexpr std::size_t k_most = 12;
    const bool pin = item.kind == Item::Kind::Pin;
    const auto wanted =
        version_in(pin && !item.constrains.empty() ? item.constrains.front() : item.demand);
    std::vector<std::string> nearest;
    if (!wanted || item.name == "python") {
        return nearest;
    }
    std::vector<specs::PackageRecord> records;
    for (const Channel* const channel : channels) {
        if (!channel->has(item.name) || !channel->records_of(item.name, records)) {
            continue;
        }
    }
    std::map<specs::Version, std::string> versions;
    for (const specs::PackageRecord& record : records) {
        auto version = specs::Version::parse(record.version);
        if (version && *version != *wanted) {
            versions.emplace(*std::move(version), record.version);
        }
    }
    // Of another minor than the wanted one its newest patch alone.
    const auto minor_of = [](const std::string& version) {
        return version.substr(0, version.find('.', version.find('.') + 1)) + '.';
    };
    for (auto at = versions.begin(); at != versions.end();) {
        const auto next = std::next(at);
        const bool patched =
            next != versions.end() && minor_of(at->second) == minor_of(next->second);
        const bool own = (wanted->str() + '.').starts_with(minor_of(at->second));
        at = item.name == "torch" && patched && !own ? versions.erase(at) : next;
    }
    auto above = versions.lower_bound(*wanted);
    auto below = above;
    const auto is_of_its_minor = [&](const auto& one) {
        const std::string& version = one->second;
        const auto minor = version.substr(0, version.find('.', version.find('.') + 1));
        return (wanted->str() + '.').starts_with(minor + '.');
    };
    bool up = item.name != "cuda" && (above == versions.end() || below == versions.begin() ||
                                      is_of_its_minor(above) || !is_of_its_minor(std::prev(below)));
    while (nearest.size() < k_most && (above != versions.end() || below != versions.begin())) {
        if (up && above != versions.end()) {
            nearest.push_back(item.name + " ==" + (above++)->second);
        } else if (!up && below != versions.begin()) {
            nearest.push_back(item.name + " ==" + (--below)->second);
        }
        up = !up;
    }
    return nearest;
}

// cuDNN and NCCL from pip, where no framework brings them: the wheel for the answer's CUDA.
void add_library_wheels(Question& question) {
    std::vector<Item> wheels;
    for (const Item& item : question.items) {
        if (item.kind != Item::Kind::Spec) {
            continue;
        }
        if (knowledge::find_framework(item.name) != nullptr) {
            return;
        }
        if (is_library(item.name)) {
            Item wheel;
            wheel.text = item.text;
            wheel.origin = item.origin;
            wheel.name = "nvidia-" + item.name;
            wheel.demand = wheel.relaxed = wheel.name;
            wheels.push_back(std::move(wheel));
        }
    }
    std::ranges::move(wheels, std::back_inserter(question.items));
}

} // namespace

const specs::PackageRecord* record_named(const Records& records, std::string_view name) {
    const auto found = std::ranges::find(records, name, &specs::PackageRecord::name);
    return found == records.end() ? nullptr : *found;
}

bool is_asked(const Attempt& attempt, std::string_view name) {
    return std::ranges::any_of(attempt.question.items, [&](const Item& item) {
        return item.name == name && !item.kept && item.kind == Item::Kind::Spec;
    });
}

std::string extras_of(const Attempt& attempt, const Records& records, std::string_view name) {
    std::set<std::string> extras;
    for (const Item& item : attempt.question.items) {
        if (item.name == name) {
            extras.insert(item.extras.begin(), item.extras.end());
        }
    }
    if (const auto* const record = record_named(records, cuda_extra_name(name))) {
        for (const std::string_view extra : split(record->build, ',')) {
            if (!extra.empty()) {
                extras.emplace(extra);
            }
        }
    }
    return extras.empty()
               ? std::string()
               : '[' + join(std::vector<std::string>(extras.begin(), extras.end()), ",") + ']';
}

Result<Attempt> make_attempt(const Request& request, const facts::Host& host,
                             std::span<const Channel* const> channels,
                             const AttemptOptions& options) {
    Attempt attempt;
    attempt.manager = options.manager;
    WorldOptions world_options = options.world;

    // What is asked depends on the names that there are; what the catalogue holds depends on the
    // world, which depends on whether CUDA was asked: so the catalogue's names are read from a
    // first one.
    std::vector<const Channel*> sources(channels.begin(), channels.end());
    const bool embedded = sources.empty();
    std::unique_ptr<World> first_world;
    std::unique_ptr<Catalogue> first_catalogue;
    if (embedded) {
        first_world = std::make_unique<World>(host, world_options);
        first_catalogue = std::make_unique<Catalogue>(*first_world, options.manager);
        sources = {first_catalogue.get()};
    }
    CUDAENV_TRY(attempt.question,
                read_question(request, host, sources,
                              embedded ? Vocabulary::Catalogue : Vocabulary::Conda));
    world_options.cuda_asked = attempt.question.cuda_asked;
    world_options.cuda_named = attempt.question.cuda_named;
    world_options.cpu_asked = attempt.question.cpu_asked;
    world_options.strict_host = request.strict_host;
    world_options.purpose = request.purpose;
    attempt.world = std::make_unique<World>(host, world_options);
    if (embedded && options.manager == Manager::Pip) {
        add_library_wheels(attempt.question);
    }
    if (embedded) {
        attempt.catalogue = std::make_unique<Catalogue>(*attempt.world, options.manager);
        sources = {attempt.catalogue.get()};
        for (const Installed& installed : request.environment.installed) {
            const bool from_conda = installed.name == "torch" &&
                                    installed.manager == Manager::Conda &&
                                    options.manager == Manager::Pip && installed.label != "cpu";
            // A named CUDA excludes a build for AMD or Intel GPUs.
            const bool for_other_gpu = installed.is_for_other_gpu() && !attempt.question.cuda_named;
            if (installed.is_built_torch() || for_other_gpu || from_conda) {
                attempt.catalogue->add_built_torch(installed);
            }
        }
        add_named_versions(attempt);
    }
    attempt.channels = sources;

    UniverseInput input;
    input.channels = sources;
    input.own = attempt.world->records();
    for (const Assumption& assumption : attempt.world->assumptions()) {
        attempt.demands.push_back(assumption.demand);
    }
    for (const Item& item : attempt.question.items) {
        if (item.kind == Item::Kind::Pin) {
            specs::PackageRecord pin;
            pin.name = item.demand;
            pin.version = "0";
            pin.constrains = item.constrains;
            input.own.push_back(std::move(pin));
            attempt.demands.push_back(item.demand);
        }
    }
    for (const Item& item : attempt.question.items) {
        if (item.kind == Item::Kind::Spec) {
            attempt.demands.push_back(item.demand);
        }
    }
    if (request.purpose == pins::Purpose::Build) {
        attempt.demands.emplace_back(World::k_nvcc);
    }
    for (const std::string& installed : request.preferred) {
        const std::size_t equals = installed.find("==");
        if (equals != std::string::npos) {
            input.favoured[installed.substr(0, equals)] = {installed.substr(equals + 2), {}};
        }
    }
    // A new environment gets the Python that most builds exist for.
    if (embedded && !request.environment.exists()) {
        input.favoured["python"] = {"3.12", {}};
    }
    if (!embedded) {
        input.amend = [world = attempt.world.get()](std::vector<specs::PackageRecord>& records) {
            world->amend(records);
        };
    }
    std::vector<std::string> reach = attempt.demands;
    if (options.narrowing == Narrowing::Tight) {
        input.narrowed = narrowing_of(attempt);
    } else {
        for (Item& item : attempt.question.items) {
            if (!item.relaxed.empty()) {
                reach.push_back(item.relaxed);
            }
            item.nearest = nearest_to(item, sources);
            reach.insert(reach.end(), item.nearest.begin(), item.nearest.end());
            if (!item.build_relaxed.empty()) {
                reach.push_back(item.build_relaxed);
            }
            reach.insert(reach.end(), item.siblings.begin(), item.siblings.end());
        }
    }
    CUDAENV_TRY(Universe universe, Universe::reach(std::move(input), reach));
    attempt.universe = std::make_unique<Universe>(std::move(universe));
    return attempt;
}

} // namespace cudaenv::resolve
