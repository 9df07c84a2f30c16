#include "solver/resolve/catalogue.hpp"

#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/fit.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/knowledge/packages.hpp"
#include "solver/resolve/package_records.hpp"
#include "solver/specs/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

namespace cudaenv::resolve {

namespace {

std::string python_spec(const std::vector<DottedVersion>& pythons) {
    std::string spec = "python";
    for (const DottedVersion& python : pythons) {
        spec += fmt::format("{}{}.*", &python == pythons.data() ? " " : "|", python.str());
    }
    return spec;
}

// Builds of one release are tried in this order: the newest CUDA that the driver runs in full; then
// the one nearest to the driver's, since the farther away, the more of its runtime is out of reach;
// where no driver is known, what the release is known by, then the newest CUDA.
std::uint64_t preference(const facts::Host& host, const DottedVersion& cuda, bool is_default) {
    const std::uint64_t number = cuda.major() * 100U + cuda.minor();
    switch (knowledge::driver_fit(host, cuda).fit) {
    case knowledge::DriverFit::Full:
    case knowledge::DriverFit::BelowMinimum:
        return 200000U + number;
    case knowledge::DriverFit::MachineCode:
    case knowledge::DriverFit::TooOld:
        return 100000U - number;
    case knowledge::DriverFit::Unknown:
        break;
    }
    return (is_default ? 50000U : 0U) + number;
}

bool is_x86(const facts::Host& host) {
    return host.machine.empty() || host.machine == "x86_64";
}

} // namespace

Catalogue::Catalogue(World& world, Manager manager) : m_world(world), m_manager(manager) {
    add_basics(world);
    add_torch(world, manager);
    add_tensorflow(world, manager);
}

namespace {

// The versions of cuDNN and NCCL that pip can install: those that are pinned anywhere, and those
// whose wheels are in the table of packages.
void add_pinned(std::set<std::string>& cudnns, std::set<std::string>& nccls) {
    const auto take = [&](std::string_view name, const std::string& version) {
        const std::string_view library = library_of(name);
        if (library == "cudnn") {
            cudnns.insert(version);
        } else if (library == "nccl") {
            nccls.insert(version);
        }
    };
    for (const std::string& name : knowledge::package_names()) {
        for (const knowledge::PackageRelease& release : knowledge::package_releases(name)) {
            take(name, release.version);
            if (name != "torch") {
                continue;
            }
            for (const std::string& text : release.requirements) {
                if (const auto pin = exact_pin(text)) {
                    take(pin->first, pin->second);
                }
            }
        }
    }
    for (const auto& release : knowledge::tensorflow_releases()) {
        for (const std::string& text : release.and_cuda) {
            if (const auto pin = exact_pin(text)) {
                take(pin->first, pin->second);
            }
        }
    }
}

} // namespace

void Catalogue::add_basics(World& world) {
    std::set<std::string> pythons;
    std::set<std::string> cudnns;
    for (const auto& release : knowledge::torch_releases(world.host().machine)) {
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
    std::set<std::string> nccls = {"0"};
    if (m_manager == Manager::Pip) {
        add_pinned(cudnns, nccls);
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
        specs::PackageRecord record = plain("cudnn", cudnn);
        if (const auto floor = knowledge::cudnn_floor(cudnn)) {
            record.constrains = world.least_gpu_constraints(floor->least_gpu, floor->source);
        }
        add(std::move(record));
    }
    for (const std::string& nccl : nccls) {
        add(plain("nccl", nccl));
    }
    for (const DottedVersion& release : knowledge::cuda_releases()) {
        specs::PackageRecord record = plain("cuda", release.str());
        record.depends.emplace_back("__cuda");
        record.constrains = world.runtime_constraints(release);
        for (std::string& constraint : world.library_constraints(release)) {
            record.constrains.push_back(std::move(constraint));
        }
        add(std::move(record));
    }
}

// The default index has more than the one that a release is known by: torchvision 0.29.0 requires
// torch 2.14.0 too.
void Catalogue::add_other_partners(const std::string& name, const std::string& known,
                                   const specs::PackageRecord& torch) {
    for (const knowledge::PackageRelease& release : knowledge::package_releases(name)) {
        const std::string needed = requirement_of(name, release.version, "torch");
        if (release.version == known || needed != " ==" + torch.version) {
            continue;
        }
        specs::PackageRecord record;
        record.name = name;
        record.version = release.version;
        record.build = torch.build;
        record.build_number = torch.build_number;
        record.depends = {fmt::format("torch =={} {}", torch.version, torch.build)};
        if (std::string python = wheel_pythons(name, release.version, m_world.host());
            !python.empty()) {
            record.depends.push_back(std::move(python));
        }
        add(std::move(record));
    }
}

void Catalogue::add_torch(World& world, Manager manager) {
    const knowledge::Framework* const torch_row = knowledge::find_framework("torch");
    // Where a CUDA build is asked for, what exists for x86-64 alone says so.
    const std::string processors =
        world.host().machine == "aarch64" ? "x86_64" : "x86_64 and aarch64";
    for (const auto& release : knowledge::torch_releases(world.host().machine)) {
        const auto with_partners = [&](specs::PackageRecord torch,
                                       const knowledge::TorchVariant* variant) {
            const std::string exactly = fmt::format("torch =={} {}", torch.version, torch.build);
            const bool from_conda = manager == Manager::Conda;
            const bool index_alone =
                !from_conda && variant != nullptr && !variant->wheel_is_default;
            const auto partner = [&](const char* name, const std::optional<std::string>& version,
                                     const std::optional<std::string>& wheel,
                                     const std::vector<DottedVersion>& pythons) {
                if (!version || (index_alone && !wheel)) {
                    return;
                }
                if (!from_conda && !index_alone) {
                    add_other_partners(name, *version, torch);
                }
                specs::PackageRecord record;
                record.name = name;
                record.version = *version;
                record.build = torch.build;
                record.build_number = torch.build_number;
                record.channel = torch.channel;
                record.depends = {exactly};
                if (!from_conda && !pythons.empty()) {
                    record.depends.push_back(python_spec(pythons));
                } else if (std::string own = wheel_pythons(name, *version, world.host());
                           !from_conda && !own.empty()) {
                    record.depends.push_back(std::move(own));
                }
                add(std::move(record));
            };
            static const knowledge::TorchVariant k_none;
            const knowledge::TorchVariant& wheels = variant == nullptr ? k_none : *variant;
            partner("torchvision",
                    from_conda && release.conda_torchvision ? release.conda_torchvision
                                                            : release.torchvision,
                    wheels.wheel_torchvision, wheels.torchvision_pythons);
            partner("torchaudio",
                    from_conda && release.conda_torchaudio ? release.conda_torchaudio
                                                           : release.torchaudio,
                    wheels.wheel_torchaudio, wheels.torchaudio_pythons);
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
            const bool forge = variant.conda_channels == std::vector<std::string>{"conda-forge"};
            if (from_conda) {
                record.channel = forge ? "conda-forge" : "pytorch";
            }
            // The pytorch channel is of x86-64; conda-forge is not, and its list was not read.
            if (from_conda ? !forge && !is_x86(world.host()) : variant.other_processor) {
                record.depends.push_back(world.x86_dependency(processors));
            }
            // Of conda-forge's builds those of some Pythons were read; it makes them for all that
            // are current, as PyTorch does.
            const auto& own = from_conda && forge ? release.pythons
                              : from_conda        ? variant.conda_pythons
                                                  : variant.pythons;
            const auto& pythons = !own.empty()               ? own
                                  : !variant.pythons.empty() ? variant.pythons
                                                             : release.pythons;
            if (!pythons.empty()) {
                record.depends.push_back(python_spec(pythons));
            }
            // Wheels require one cuDNN from 2.0 on; before, and in conda's builds, it is linked in.
            if (!from_conda && variant.cudnn && release.torch >= DottedVersion::of("2.0")) {
                record.depends.push_back(fmt::format("cudnn =={}", *variant.cudnn));
            }
            record.constrains =
                world.device_code_constraints(code ? &*code : nullptr, variant.cuda);
            if (const auto gcc = torch_row != nullptr
                                     ? knowledge::oldest_gcc(*torch_row, release.torch)
                                     : std::nullopt) {
                for (std::string& constraint :
                     world.compiler_constraints(*gcc, torch_row->source)) {
                    record.constrains.push_back(std::move(constraint));
                }
            }
            if (!from_conda) {
                if (std::string triton = torch_requirement(release.torch, "triton");
                    !triton.empty()) {
                    record.constrains.push_back("triton" + triton);
                }
                // Its wheels hold NCCL to one version, all CUDAs of a release to the same. One that
                // was not read is nobody else's.
                if (release.torch >= DottedVersion::of("2.0")) {
                    const std::string nccl = torch_requirement(release.torch, "nvidia-nccl-");
                    record.depends.push_back("nccl" + (nccl.empty() ? " ==0" : nccl));
                }
                if (release.torch < DottedVersion::of("2.3")) {
                    record.constrains.emplace_back("numpy <2"); // compiled against NumPy 1
                }
            }
            if (!from_conda && variant.glibc) {
                record.depends.push_back(fmt::format("__glibc >={}", variant.glibc->str()));
            }
            with_partners(std::move(record), &variant);
        }
        specs::PackageRecord cpu;
        cpu.name = "torch";
        cpu.version = release.torch.str();
        cpu.build = "cpu";
        cpu.depends = {World::k_cpu_build};
        if (manager == Manager::Conda) {
            // The last torch in the channel pytorch is 2.5.1.
            cpu.channel = release.torch > DottedVersion::of("2.5.1") ? "conda-forge" : "pytorch";
        }
        if (release.other_processor || (manager == Manager::Conda && !is_x86(world.host()))) {
            cpu.depends.push_back(world.x86_dependency(processors));
        }
        if (!release.pythons.empty()) {
            cpu.depends.push_back(python_spec(release.pythons));
        }
        const bool any_conda = std::ranges::any_of(
            release.variants, [](const auto& variant) { return variant.conda; });
        if (manager == Manager::Pip || any_conda) {
            with_partners(std::move(cpu), nullptr);
        }
    }
}

namespace {

// What `tensorflow[and-cuda]` requires, where it says so and can be installed: since 2.20 ranges,
// before exact versions. Else what the release is built for.
void add_tensorflow_libraries(const knowledge::TensorflowRelease& release,
                              std::vector<std::string>& depends) {
    std::string cuda = fmt::format("cuda {}.*", release.cuda->major_minor());
    std::string cudnn = release.cudnn ? fmt::format("cudnn {}.*", release.cudnn->str()) : "";
    for (const std::string& text : release.and_cuda) {
        const auto requirement = specs::Requirement::parse(text);
        if (!requirement || !release.and_cuda_extra) {
            continue;
        }
        const std::string name = requirement->normalized_name();
        std::string spec = requirement->specifiers.str();
        std::erase(spec, ' ');
        if (library_of(name) == "cudnn") {
            cudnn = "cudnn " + spec;
        } else if (library_of(name) == "nccl") {
            depends.push_back("nccl " + spec);
        } else if (name.starts_with("nvidia-cuda-runtime-") && !spec.starts_with("==")) {
            cuda = fmt::format("cuda >={},<{}", release.cuda->major_minor(),
                               release.cuda->major() + 1);
        }
    }
    depends.push_back(std::move(cuda));
    if (!cudnn.empty()) {
        depends.push_back(std::move(cudnn));
    }
}

} // namespace

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
        if (std::string numpy = requirement_of("tensorflow", record.version, "numpy");
            !numpy.empty()) {
            record.constrains.push_back("numpy" + numpy);
        }
        if (std::string types = requirement_of("tensorflow", record.version, "ml-dtypes");
            !types.empty()) {
            record.depends.push_back("ml-dtypes" + types); // JAX requires it too
        }
        if (const auto* const row = knowledge::package_release("tensorflow", record.version)) {
            add_unstated(
                *row, [this](std::string_view name) { return has(name); }, record);
        }
        specs::PackageRecord cpu = record;
        cpu.build = "cpu";
        cpu.depends.emplace_back(World::k_cpu_build);
        add(std::move(cpu));
        if (!release.cuda) {
            continue;
        }
        if (!is_x86(world.host())) {
            record.depends.push_back(world.x86_dependency("x86_64")); // its others are CPU builds
        }
        record.build =
            "cu" + std::to_string(release.cuda->major()) + std::to_string(release.cuda->minor());
        record.build_number = preference(world.host(), *release.cuda, true);
        record.depends.emplace_back(World::k_cuda_build);
        if (release.and_cuda_extra && !release.and_cuda_pythons.empty()) {
            record.depends.push_back(python_spec(release.and_cuda_pythons));
        }
        add_tensorflow_libraries(release, record.depends);
        // No list of GPUs is published for any release: what its CUDA's libraries do not serve, it
        // does not.
        for (std::string& constraint : world.library_constraints(*release.cuda)) {
            record.constrains.push_back(std::move(constraint));
        }
        add(std::move(record));
    }
}

void Catalogue::add_built_torch(const Installed& torch) {
    specs::PackageRecord record;
    record.name = "torch";
    record.version = torch.version;
    record.build = torch.label;
    if (torch.manager == Manager::Conda) {
        record.channel = "conda"; // its libraries are conda's: no wheels of NVIDIA's hold others
    }
    record.build_number = std::numeric_limits<std::uint64_t>::max();
    if (torch.cuda) {
        record.depends = {World::k_cuda_build, fmt::format("cuda {}.*", torch.cuda->str())};
    }
    if (knowledge::release_numbers(torch.version) < DottedVersion::of("2.3")) {
        record.constrains.emplace_back("numpy <2"); // compiled against NumPy 1
    }
    const auto* const release = knowledge::release_before(torch.version);
    for (const auto& [name, version] :
         {std::pair("torchvision", release == nullptr ? std::nullopt : release->torchvision),
          std::pair("torchaudio", release == nullptr ? std::nullopt : release->torchaudio)}) {
        if (version) {
            specs::PackageRecord partner;
            partner.name = name;
            partner.version = *version;
            partner.build = torch.is_for_other_gpu() ? torch.label : "source";
            partner.depends = {fmt::format("torch =={} {}", torch.version, torch.label)};
            m_named.push_back(std::move(partner));
        }
    }
    m_named.push_back(std::move(record));
}

void Catalogue::add_plain(const std::string& name, const std::string& version,
                          std::vector<std::string> depends) {
    specs::PackageRecord record;
    record.depends = std::move(depends);
    record.name = name;
    record.version = version;
    m_named.push_back(std::move(record));
}

Result<void> Catalogue::records_of(std::string_view package,
                                   std::vector<specs::PackageRecord>& out) const {
    if (const auto found = m_records.find(package); found != m_records.end()) {
        out.insert(out.end(), found->second.begin(), found->second.end());
    } else if (m_manager == Manager::Pip && has_package(package)) {
        package_records(
            package, m_world, [this](std::string_view name) { return has(name); }, out);
    }
    std::ranges::copy_if(m_named, std::back_inserter(out),
                         [&](const auto& record) { return record.name == package; });
    return {};
}

bool Catalogue::has(std::string_view package) const {
    return m_records.contains(package) || (m_manager == Manager::Pip && has_package(package));
}

std::vector<std::string> Catalogue::names() const {
    std::vector<std::string> names;
    for (const auto& [name, records] : m_records) {
        names.push_back(name);
    }
    for (const knowledge::Framework& framework : knowledge::frameworks()) {
        names.push_back(framework.name);
    }
    for (std::string& name : knowledge::package_names()) {
        names.push_back(std::move(name));
    }
    return names;
}

} // namespace cudaenv::resolve
