#include "solver/plan/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cudaenv::plan {

namespace {

std::string python_spec(const std::vector<DottedVersion>& pythons) {
    std::string spec = "python";
    for (const DottedVersion& python : pythons) {
        spec += fmt::format("{}{}.*", &python == pythons.data() ? " " : "|", python.str());
    }
    return spec;
}

// Builds of one release are tried in this order: what the driver runs fully, then (no driver known)
// what the release is known by, then the newest CUDA.
std::uint64_t preference(const facts::Host& host, const DottedVersion& cuda, bool is_default) {
    const bool driver_known = host.driver && host.driver->cuda;
    const bool fits = !driver_known || cuda <= *host.driver->cuda;
    return (fits ? 100000U : 0U) + (!driver_known && is_default ? 50000U : 0U) +
           cuda.major() * 100U + cuda.minor();
}

} // namespace

const knowledge::TorchRelease* torch_release(std::string_view version) {
    const auto releases = knowledge::torch_releases();
    const auto found = std::find_if(releases.begin(), releases.end(),
                                    [&](const auto& row) { return row.torch.str() == version; });
    return found == releases.end() ? nullptr : &*found;
}

const knowledge::TorchVariant* torch_variant(std::string_view version, std::string_view tag) {
    const auto* const release = torch_release(version);
    if (release == nullptr) {
        return nullptr;
    }
    const auto found = std::find_if(release->variants.begin(), release->variants.end(),
                                    [&](const auto& row) { return row.tag == tag; });
    return found == release->variants.end() ? nullptr : &*found;
}

Catalogue::Catalogue(World& world, Manager manager) {
    add_basics(world);
    add_torch(world, manager);
    add_tensorflow(world, manager);
}

void Catalogue::add_basics(World& world) {
    std::set<std::string> pythons;
    std::set<std::string> cudnns;
    for (const auto& release : knowledge::torch_releases()) {
        for (const auto& python : release.pythons) {
            pythons.insert(python.str());
        }
        for (const auto& variant : release.variants) {
            for (const auto& cudnn : {variant.cudnn, variant.conda_cudnn}) {
                if (cudnn) {
                    cudnns.insert(*cudnn);
                }
            }
            for (const auto& python : variant.conda_pythons) {
                pythons.insert(python.str());
            }
            for (const auto& python : variant.pythons) {
                pythons.insert(python.str());
            }
        }
    }
    for (const auto& release : knowledge::tensorflow_releases()) {
        for (const auto& python : release.pythons) {
            pythons.insert(python.str());
        }
        if (release.cudnn) {
            cudnns.insert(release.cudnn->str());
        }
    }
    const auto plain = [&](std::string name, std::string version) {
        specs::PackageRecord record;
        record.name = std::move(name);
        record.version = std::move(version);
        return record;
    };
    for (const std::string& python : pythons) {
        add(plain("python", python));
    }
    for (const std::string& cudnn : cudnns) {
        add(plain("cudnn", cudnn));
    }
    for (const DottedVersion& release : knowledge::cuda_releases()) {
        specs::PackageRecord record = plain("cuda", release.str());
        record.depends.emplace_back("__cuda");
        record.constrains = world.runtime_constraints(release);
        add(std::move(record));
    }
}

void Catalogue::add_torch(World& world, Manager manager) {
    for (const auto& release : knowledge::torch_releases()) {
        const auto with_partners = [&](specs::PackageRecord torch) {
            const std::string exactly = fmt::format("torch =={} {}", torch.version, torch.build);
            const auto partner = [&](const char* name, const std::optional<std::string>& version) {
                if (!version) {
                    return;
                }
                specs::PackageRecord record;
                record.name = name;
                record.version = *version;
                record.build = torch.build;
                record.build_number = torch.build_number;
                record.depends = {exactly};
                add(std::move(record));
            };
            const bool from_conda = manager == Manager::Conda;
            partner("torchvision", from_conda && release.conda_torchvision
                                       ? release.conda_torchvision
                                       : release.torchvision);
            partner("torchaudio", from_conda && release.conda_torchaudio ? release.conda_torchaudio
                                                                         : release.torchaudio);
            add(std::move(torch));
        };
        for (const auto& variant : release.variants) {
            const auto& code = manager == Manager::Conda ? variant.conda_architectures
                                                         : variant.wheel_architectures;
            // What was announced and never seen is no answer.
            if (!(manager == Manager::Conda ? variant.conda : variant.wheel) ||
                variant.confidence == "rfc") {
                continue;
            }
            specs::PackageRecord record;
            record.name = "torch";
            record.version = release.torch.str();
            record.build = variant.tag;
            record.build_number = preference(world.host(), variant.cuda, variant.wheel_is_default);
            record.depends = {World::k_cuda_build,
                              fmt::format("cuda {}.*", variant.cuda.major_minor())};
            const bool from_conda = manager == Manager::Conda;
            const auto& own = from_conda ? variant.conda_pythons : variant.pythons;
            const auto& pythons = !own.empty()               ? own
                                  : !variant.pythons.empty() ? variant.pythons
                                                             : release.pythons;
            if (!pythons.empty()) {
                record.depends.push_back(python_spec(pythons));
            }
            if (const auto& cudnn = from_conda ? variant.conda_cudnn : variant.cudnn) {
                record.depends.push_back(fmt::format("cudnn =={}", *cudnn));
            }
            if (code) {
                record.constrains = world.device_code_constraints(*code, variant.cuda);
            }
            with_partners(std::move(record));
        }
        specs::PackageRecord cpu;
        cpu.name = "torch";
        cpu.version = release.torch.str();
        cpu.build = "cpu";
        cpu.depends = {World::k_cpu_build};
        if (!release.pythons.empty()) {
            cpu.depends.push_back(python_spec(release.pythons));
        }
        const bool any_conda = std::any_of(release.variants.begin(), release.variants.end(),
                                           [](const auto& variant) { return variant.conda; });
        if (manager == Manager::Pip || any_conda) {
            with_partners(std::move(cpu));
        }
    }
}

void Catalogue::add_tensorflow(World& world, Manager manager) {
    if (manager != Manager::Pip) {
        return;
    }
    for (const auto& release : knowledge::tensorflow_releases()) {
        specs::PackageRecord record;
        record.name = "tensorflow";
        record.version = release.tensorflow.str();
        if (!release.pythons.empty()) {
            record.depends.push_back(python_spec(release.pythons));
        }
        specs::PackageRecord cpu = record;
        cpu.build = "cpu";
        cpu.depends.emplace_back(World::k_cpu_build);
        add(std::move(cpu));
        if (!release.cuda) {
            continue;
        }
        record.build =
            "cu" + std::to_string(release.cuda->major()) + std::to_string(release.cuda->minor());
        record.build_number = preference(world.host(), *release.cuda, true);
        record.depends.emplace_back(World::k_cuda_build);
        record.depends.push_back(fmt::format("cuda {}.*", release.cuda->major_minor()));
        if (release.cudnn) {
            record.depends.push_back(fmt::format("cudnn =={}", release.cudnn->str()));
        }
        add(std::move(record));
    }
}

Result<void> Catalogue::records_of(std::string_view package,
                                   std::vector<specs::PackageRecord>& out) const {
    if (const auto found = m_records.find(package); found != m_records.end()) {
        out.insert(out.end(), found->second.begin(), found->second.end());
    }
    return {};
}

bool Catalogue::has(std::string_view package) const {
    return m_records.contains(package);
}

std::vector<std::string> Catalogue::names() const {
    std::vector<std::string> names;
    for (const auto& [name, records] : m_records) {
        names.push_back(name);
    }
    return names;
}

} // namespace cudaenv::plan
