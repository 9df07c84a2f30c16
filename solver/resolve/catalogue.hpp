// The embedded catalogue as a channel: torch and TensorFlow releases with their CUDA variants,
// Python, cuDNN and partners, made from the tables of data/. Answers where no channel is given,
// offline, on a fresh machine. Names are PyPI's: torch, torchvision, torchaudio, tensorflow,
// python, cuda, cudnn.
//
// A variant is one record: `torch 1.12.1 cu113`. Its build is the tag, its CUDA a dependency on
// `cuda 11.3.*`, its device code a constraint on each GPU.
#pragma once

#include "solver/knowledge/knowledge.hpp"
#include "solver/resolve/channel.hpp"
#include "solver/resolve/world.hpp"

#include <map>
#include <string>
#include <vector>

namespace cudaenv::resolve {

class Catalogue final : public Channel {
public:
    // `manager`: whose builds are in it. `world` is asked for what each record needs of the host.
    Catalogue(World& world, Manager manager);

    [[nodiscard]] const std::string& name() const override { return m_name; }
    Result<void> records_of(std::string_view package,
                            std::vector<specs::PackageRecord>& out) const override;
    [[nodiscard]] bool has(std::string_view package) const override;
    [[nodiscard]] std::vector<std::string> names() const override;

    // A version that the tables lack and the user names: conda or pip has it, or says that it has
    // not.
    void add_plain(const std::string& name, const std::string& version,
                   std::vector<std::string> depends = {});
    // A torch of the environment that is no release of an index: built from source, a vendor's, a
    // nightly. The partners of the release that it comes from are compiled against it.
    void add_built_torch(const Installed& torch);

private:
    void add_other_partners(const std::string& name, const std::string& known,
                            const specs::PackageRecord& torch);
    void add_torch(World& world, Manager manager);
    void add_tensorflow(World& world, Manager manager);
    void add_basics(World& world);
    void add(specs::PackageRecord record) { m_records[record.name].push_back(std::move(record)); }

    World& m_world;
    Manager m_manager;
    std::vector<specs::PackageRecord> m_named; // add_plain's
    std::string m_name = "the embedded catalogue";
    std::map<std::string, std::vector<specs::PackageRecord>, std::less<>> m_records;
};

} // namespace cudaenv::resolve
