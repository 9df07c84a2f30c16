// A channel in memory.
#pragma once

#include "solver/resolve/channel.hpp"

#include <map>

namespace cudaenv::test {

class ToyChannel final : public resolve::Channel {
public:
    explicit ToyChannel(std::string name) : m_name(std::move(name)) {}

    specs::PackageRecord& add(std::string name, std::string version, std::string build = "0",
                              std::vector<std::string> depends = {},
                              std::vector<std::string> constrains = {}) {
        specs::PackageRecord record;
        record.name = name;
        record.version = std::move(version);
        record.build = std::move(build);
        record.depends = std::move(depends);
        record.constrains = std::move(constrains);
        record.channel = m_name;
        auto& records = m_records[std::move(name)];
        records.push_back(std::move(record));
        return records.back();
    }

    [[nodiscard]] const std::string& name() const override { return m_name; }
    Result<void> records_of(std::string_view package,
                            std::vector<specs::PackageRecord>& out) const override {
        if (const auto found = m_records.find(package); found != m_records.end()) {
            out.insert(out.end(), found->second.begin(), found->second.end());
        }
        return {};
    }
    [[nodiscard]] bool has(std::string_view package) const override {
        return m_records.contains(package);
    }
    [[nodiscard]] std::vector<std::string> names() const override {
        std::vector<std::string> names;
        for (const auto& [name, records] : m_records) {
            names.push_back(name);
        }
        return names;
    }

private:
    std::string m_name;
    std::map<std::string, std::vector<specs::PackageRecord>, std::less<>> m_records;
};

} // namespace cudaenv::test
