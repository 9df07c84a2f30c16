#include "tests/support/checker.hpp"

#include "solver/specs/match_spec.hpp"
#include "solver/specs/version.hpp"

#include <map>

namespace cudaenv::test {
namespace {

using specs::MatchSpec;
using specs::PackageRecord;
using specs::Version;

std::string named(const PackageRecord& record) {
    return record.name + '-' + record.version + '-' + record.build;
}

// All there is in the environment that is claimed, by name.
class Environment {
public:
    explicit Environment(std::vector<std::string>& faults) : m_faults(faults) {}

    void add(const PackageRecord& record) {
        const auto version = Version::parse(record.version);
        if (!version) {
            m_faults.push_back(named(record) + " has an invalid version");
            return;
        }
        if (!m_present.try_emplace(record.name, Present{&record, *version}).second) {
            m_faults.push_back(record.name + " is there twice");
        }
    }
    // A record that the spec names and matches; any number of others may be there.
    [[nodiscard]] bool has_match(const MatchSpec& spec) const {
        for (const auto& [name, present] : m_present) {
            if (spec.name_matches(name) && spec.matches(*present.record, present.version)) {
                return true;
            }
        }
        return false;
    }
    // A record that the spec names and does not match; null where there is none.
    [[nodiscard]] const PackageRecord* against(const MatchSpec& spec) const {
        for (const auto& [name, present] : m_present) {
            if (spec.name_matches(name) && !spec.matches(*present.record, present.version)) {
                return present.record;
            }
        }
        return nullptr;
    }

private:
    struct Present {
        const PackageRecord* record;
        Version version;
    };
    std::vector<std::string>& m_faults;
    std::map<std::string, Present> m_present;
};

void check_each(const std::vector<std::string>& texts, const std::string& whose,
                std::vector<std::string>& faults, const auto& check) {
    for (const std::string& text : texts) {
        const auto spec = MatchSpec::parse(text);
        if (!spec) {
            faults.push_back(whose + " has a spec that cannot be read: " + text);
        } else {
            check(text, *spec);
        }
    }
}

} // namespace

std::vector<std::string> violations(const Claim& claim) {
    std::vector<std::string> faults;
    Environment environment(faults);
    for (const auto* records : {&claim.chosen, &claim.virtual_packages}) {
        for (const PackageRecord& record : *records) {
            environment.add(record);
        }
    }
    const auto must_have = [&](const std::vector<std::string>& texts, const std::string& whose) {
        check_each(texts, whose, faults, [&](const std::string& text, const MatchSpec& spec) {
            if (!environment.has_match(spec)) {
                faults.push_back(whose + " needs " + text + ", which nothing matches");
            }
        });
    };
    const auto must_not_break = [&](const std::vector<std::string>& texts,
                                    const std::string& whose) {
        check_each(texts, whose, faults, [&](const std::string& text, const MatchSpec& spec) {
            if (const PackageRecord* other = environment.against(spec)) {
                faults.push_back(whose + " allows only " + text + ", and " + named(*other) +
                                 " is there");
            }
        });
    };
    must_have(claim.specs, "the request");
    must_not_break(claim.constraints, "a pin");
    for (const PackageRecord& record : claim.chosen) {
        must_have(record.depends, named(record));
        must_not_break(record.constrains, named(record));
    }
    return faults;
}

std::vector<std::string> priority_violations(const std::vector<PackageRecord>& chosen,
                                             std::span<const resolve::Channel* const> channels) {
    std::vector<std::string> faults;
    for (const PackageRecord& record : chosen) {
        for (const resolve::Channel* channel : channels) {
            if (channel->name() == record.channel) {
                break;
            }
            if (channel->has(record.name)) {
                faults.push_back(named(record) + " is from " + record.channel + ", but " +
                                 channel->name() + " comes first and has the name");
                break;
            }
        }
    }
    return faults;
}

bool find_record(std::span<const resolve::Channel* const> channels, const std::string& name,
                 const std::string& version, const std::string& build, PackageRecord& out) {
    for (const resolve::Channel* channel : channels) {
        if (!channel->has(name)) {
            continue;
        }
        std::vector<PackageRecord> records;
        if (!channel->records_of(name, records)) {
            return false;
        }
        for (PackageRecord& record : records) {
            if (record.version == version && record.build == build) {
                out = std::move(record);
                return true;
            }
        }
        return false;
    }
    return false;
}

std::vector<PackageRecord> virtual_packages_of(const std::string& cuda) {
    std::vector<PackageRecord> out;
    const auto add = [&](const char* name, const std::string& version, const char* build) {
        PackageRecord record;
        record.name = name;
        record.version = version;
        record.build = build;
        out.push_back(std::move(record));
    };
    add("__glibc", "2.36", "0");
    add("__linux", "6.1", "0");
    add("__unix", "0", "0");
    add("__archspec", "1", "x86_64");
    if (!cuda.empty()) {
        add("__cuda", cuda, "0");
    }
    return out;
}

} // namespace cudaenv::test
