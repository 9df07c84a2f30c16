// torch: releases, partners and CUDA builds.
#include "solver/knowledge/knowledge.hpp"
#include "solver/knowledge/table.hpp"

#include <algorithm>
#include <stdexcept>

namespace cudaenv::knowledge {

namespace {

// The list that the row has under `prefix`, else the toolkit's as an upper bound.
std::optional<Architectures> architectures(const Row& row, const DottedVersion& cuda,
                                           const std::string& prefix) {
    Architectures read{row.capabilities(prefix + "sass"), row.capabilities(prefix + "ptx"), false,
                       row.find(prefix + "arch_confidence").value_or(""), ""};
    if (!read.sass.empty()) {
        read.source = row.source(prefix + "arch_source");
        return read;
    }
    auto bound = architectures_of_toolkit(cuda);
    if (bound) {
        bound->derived = true;
        bound->confidence = "bounded";
        bound->source =
            "bounded by what CUDA " + cuda.str() + " can make code for: " + bound->source;
    }
    return bound;
}

TorchVariant read_variant(const Row& row) {
    TorchVariant variant;
    variant.torch = row.version("torch");
    variant.tag = row.text("tag");
    variant.cuda = row.version("cuda");
    variant.confidence = row.find("confidence").value_or("");
    variant.sources = row.sources("source");
    if (const auto wheel = row.find("wheel")) {
        variant.wheel = true;
        variant.wheel_has_local_label = *wheel == "labelled";
        variant.wheel_is_default = row.flag("pypi_default");
        variant.wheel_index = row.text("index");
        variant.glibc = row.find_version("glibc");
        variant.wheel_torchvision = row.find("wheel_torchvision");
        variant.wheel_torchaudio = row.find("wheel_torchaudio");
        variant.torchvision_pythons = row.versions("torchvision_python");
        variant.torchaudio_pythons = row.versions("torchaudio_python");
        variant.pythons = row.versions("python");
        variant.cudnn = row.find("cudnn");
        variant.wheel_architectures = architectures(row, variant.cuda, "");
    }
    if (const auto pin = row.find("conda")) {
        variant.conda = true;
        variant.conda_pin = *pin;
        variant.conda_toolkit = pin->substr(0, pin->find('='));
        variant.conda_channels = row.list("channels");
        variant.conda_pythons = row.versions("conda_python");
        variant.conda_cudnn = row.find("conda_cudnn");
        variant.conda_architectures = architectures(row, variant.cuda, "conda_");
    }
    return variant;
}

// Where a wheel's cuDNN was not read, it is that of the release's nearest CUDA of the same major;
// of cu118 that of the release before, whose cu118 is built from the same lines (9.1.0.70
// from 2.4.0 to 2.7.1).
void add_missing_cudnn(std::vector<TorchRelease>& releases) {
    std::optional<std::string> of_cu118;
    for (TorchRelease& release : releases) {
        const TorchVariant* before = nullptr;
        for (TorchVariant& variant : release.variants) {
            if (variant.wheel && !variant.cudnn && release.torch >= DottedVersion::of("2.4")) {
                variant.cudnn = variant.tag == "cu118" ? of_cu118
                                : before != nullptr && before->cuda.major() == variant.cuda.major()
                                    ? before->cudnn
                                    : std::nullopt;
            }
            if (variant.tag == "cu118") {
                of_cu118 = variant.cudnn;
            }
            before = &variant;
        }
    }
}

// conda-forge's CUDA builds, where the pytorch channel has none of that release and CUDA. Their
// lists of GPUs are not published.
void add_conda_forge(std::vector<TorchRelease>& releases) {
    read_table("conda", [&](std::string_view section, const Row& row) {
        if (section != "pytorch") {
            return;
        }
        const DottedVersion version = row.version("torch");
        const DottedVersion cuda = row.version("cuda");
        const auto release = std::ranges::find(releases, version, &TorchRelease::torch);
        if (release == releases.end()) {
            return;
        }
        auto variant = std::ranges::find(release->variants, cuda, &TorchVariant::cuda);
        if (variant == release->variants.end()) {
            TorchVariant fresh;
            fresh.torch = version;
            fresh.cuda = cuda;
            fresh.tag = "cu" + std::to_string(cuda.major()) + std::to_string(cuda.minor());
            release->variants.push_back(std::move(fresh));
            variant = release->variants.end() - 1;
        }
        if (!variant->conda) {
            variant->conda = true;
            variant->conda_toolkit = "cuda-version";
            variant->conda_pin = "cuda-version=" + cuda.str();
            variant->conda_channels = {"conda-forge"};
            variant->conda_pythons = row.versions("python");
            variant->sources.push_back(row.source());
        }
    });
}

std::vector<TorchRelease> read_torch() {
    std::vector<TorchRelease> releases;
    std::vector<TorchVariant> variants;
    read_table("torch", [&](std::string_view section, const Row& row) {
        if (section == "variants") {
            variants.push_back(read_variant(row));
        } else if (section == "releases") {
            TorchRelease release;
            release.torch = row.version("torch");
            release.torchvision = row.find("torchvision");
            release.torchaudio = row.find("torchaudio");
            const auto or_same = [&](std::string_view column,
                                     const std::optional<std::string>& same) {
                auto own = row.find(column);
                return own ? own : same;
            };
            release.conda_torchvision = or_same("conda_torchvision", release.torchvision);
            release.conda_torchaudio = or_same("conda_torchaudio", release.torchaudio);
            release.pythons = row.versions("python");
            release.long_term_support = row.flag("long_term_support");
            release.note = row.find("note").value_or("");
            release.source = row.source();
            releases.push_back(std::move(release));
        }
    });
    std::ranges::sort(releases, {}, &TorchRelease::torch);
    for (TorchVariant& variant : variants) {
        const auto release =
            std::ranges::lower_bound(releases, variant.torch, {}, &TorchRelease::torch);
        if (release == releases.end() || release->torch != variant.torch) {
            throw std::logic_error("data/torch.json: a variant of torch " + variant.torch.str() +
                                   ", which is no release there");
        }
        release->variants.push_back(std::move(variant));
    }
    add_conda_forge(releases);
    for (TorchRelease& release : releases) {
        std::ranges::sort(release.variants, {}, &TorchVariant::cuda);
    }
    add_missing_cudnn(releases);
    return releases;
}

// conda-forge has builds for other processors, whose list was not read; of the rest only x86-64's
// exist (the pytorch channel is of linux-64).
void keep_elsewhere(TorchVariant& variant) {
    const bool forge =
        !variant.wheel && variant.conda_channels == std::vector<std::string>{"conda-forge"};
    variant.other_processor = !forge;
    variant.processor_unknown = forge;
    variant.wheel_is_default = false;
}

// What `row` says of a build's wheel for aarch64. Partners are named without a label there: most of
// their wheels have none, and the one index is the only one that is asked.
void take_wheel(const Row& row, const TorchRelease& release, TorchVariant& variant) {
    variant.wheel_is_default = row.flag("pypi_default");
    variant.wheel_has_local_label = false;
    variant.wheel_torchvision = release.torchvision;
    variant.wheel_torchaudio = release.torchaudio;
    variant.torchvision_pythons.clear();
    variant.torchaudio_pythons.clear();
    variant.processor_unknown = row.flag("unknown");
    variant.wheel_architectures = architectures(row, variant.cuda, "");
    variant.pythons = release.pythons;
    variant.sources = row.sources("source");
}

// A processor without wheels: every build is x86-64's alone.
std::vector<TorchRelease> without_wheels() {
    const auto x86 = torch_releases();
    std::vector<TorchRelease> releases(x86.begin(), x86.end());
    for (TorchRelease& release : releases) {
        release.other_processor = true;
        std::ranges::for_each(release.variants, keep_elsewhere);
    }
    return releases;
}

// As without wheels, until a row says otherwise.
std::vector<TorchRelease> read_aarch64() {
    std::vector<TorchRelease> releases = without_wheels();
    const auto release_of = [&](const Row& row) -> TorchRelease& {
        return *std::ranges::find(releases, row.version("torch"), &TorchRelease::torch);
    };
    read_table("torch", [&](std::string_view section, const Row& row) {
        if (section == "aarch64_releases") {
            TorchRelease& release = release_of(row);
            release.other_processor = false;
            release.pythons = row.versions("python");
            release.source = row.source();
        }
    });
    read_table("torch", [&](std::string_view section, const Row& row) {
        if (section == "aarch64_variants") {
            TorchRelease& release = release_of(row);
            TorchVariant& variant =
                *std::ranges::find(release.variants, row.text("tag"), &TorchVariant::tag);
            variant.other_processor = false;
            take_wheel(row, release, variant);
        }
    });
    return releases;
}

} // namespace

std::span<const TorchRelease> torch_releases(std::string_view machine) {
    static const std::vector<TorchRelease> releases = read_torch();
    if (machine == "aarch64" || machine == "arm64") {
        static const std::vector<TorchRelease> aarch64 = read_aarch64();
        return aarch64;
    }
    if (!machine.empty() && machine != "x86_64") {
        static const std::vector<TorchRelease> none = without_wheels();
        return none;
    }
    return releases;
}

} // namespace cudaenv::knowledge
