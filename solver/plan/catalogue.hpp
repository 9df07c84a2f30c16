// The embedded catalogue as a channel: torch and TensorFlow releases with their CUDA variants,
// Python, cuDNN and partners, made from the tables of data/. Answers where no channel is given,
// offline, on a fresh machine. Names are PyPI's: torch, torchvision, torchaudio, tensorflow,
// python, cuda, cudnn.
//
// A variant is one record: `torch 1.12.1 cu113`. Its build is the tag, its CUDA a dependency on
// `cuda 11.3.*`, its device code a constraint on each GPU.
#pragma once

#include "solver/knowledge/knowledge.hpp"
#include "solver/plan/channel.hpp"
#include "solver/plan/world.hpp"

#include <map>
#include <string>
#include <vector>

namespace cudaenv::plan {

class Catalogue final : public Channel {
public:
    // `manager`: whose builds are in it. `world` is asked for what each record needs of the host.
    Catalogue(World& world, Manager manager);

    [[nodiscard]] const std::string& name() const override { return m_name; }
    Result<void> records_of(std::string_view package,
                            std::vector<specs::PackageRecord>& out) const override;
    [[nodiscard]] bool has(std::string_view package) const override;
    [[nodiscard]] std::vector<std::string> names() const override;

private:
    void add_torch(World& world, Manager manager);
    void add_tensorflow(World& world, Manager manager);
    void add_basics(World& world);
    void add(specs::PackageRecord record) { m_records[record.name].push_back(std::move(record)); }

    std::string m_name = "the embedded catalogue";
    std::map<std::string, std::vector<specs::PackageRecord>, std::less<>> m_records;
};

// The row behind a chosen `torch` record; nullptr for a CPU build.
const knowledge::TorchVariant* torch_variant(std::string_view version, std::string_view tag);
const knowledge::TorchRelease* torch_release(std::string_view version);

} // namespace cudaenv::plan
