#include "solver/resolve/spec_reader.hpp"

#include "base/ascii.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/knowledge/packages.hpp"
#include "solver/pins/pins.hpp"
#include "solver/resolve/package_records.hpp"
#include "solver/specs/ask.hpp"
#include "solver/specs/cuda_label.hpp"
#include "solver/specs/match_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace cudaenv::resolve {

namespace {

bool is_name_character(char c) {
    return is_alnum(c) || c == '_' || c == '-' || c == '.';
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// conda's packages that say which CUDA an environment has.
constexpr std::array<std::string_view, 4> k_cuda_packages = {"cudatoolkit", "cuda-version",
                                                             "pytorch-cuda", "cuda-toolkit"};
// Those that have nvcc, and what people call it.
constexpr std::array<std::string_view, 5> k_nvcc_packages = {"cuda-toolkit", "cuda-nvcc", "nvcc",
                                                             "cuda-compiler", "cudatoolkit-dev"};

// The catalogue's name for what conda or an older pip calls otherwise: "torch" of "pytorch-gpu".
std::string catalogue_name(const std::string& name) {
    if (is_one_of(name, k_cuda_packages) || is_one_of(name, k_nvcc_packages)) {
        return "cuda";
    }
    const auto* const known = knowledge::find_framework(name);
    return known == nullptr ? name : known->name;
}

// The name that a channel has for it: "pytorch" of "torch".
std::string channel_name_of(const std::string& name, std::span<const Channel* const> channels) {
    const auto has = [&](std::string_view one) { return has_name(channels, one); };
    std::vector<std::string> names;
    if (name == "cuda") {
        names.assign(k_cuda_packages.begin(), k_cuda_packages.end());
    } else if (const auto* const known = knowledge::find_framework(name)) {
        names = known->conda;
    }
    const auto* const found = has(name) ? nullptr : find_pointer_if(names, has);
    return found == nullptr ? name : *found;
}

// What a pin of this name constrains, in conda's channels.
std::vector<std::string> conda_names_of_pin(std::string_view pin) {
    if (pin == "cuda") {
        return {"cudatoolkit",  "cuda-version", "pytorch-cuda", "cuda-cudart",
                "cuda-runtime", "cuda-toolkit", "cuda-nvcc"};
    }
    const pins::PinName* const known = pins::find_pin_name(pin);
    if (known != nullptr && !known->conda_name.empty() && known->conda_name != pin) {
        return {std::string(known->conda_name), std::string(pin)};
    }
    return {std::string(pin)};
}

// `name[extra1,extra2]rest` without its extras: a bracket that holds no `=` is pip's, not conda's.
std::string without_extras(std::string_view text) {
    const std::size_t open = text.find('[');
    const std::size_t close = text.find(']', open == std::string_view::npos ? 0 : open);
    if (open == std::string_view::npos || close == std::string_view::npos ||
        contains(text.substr(open, close - open), "=")) {
        return std::string(text);
    }
    return std::string(text.substr(0, open)) + std::string(text.substr(close + 1));
}

// conda takes any word for a version; nothing in the catalogue has one that begins with a letter.
Result<void> check_version_begins_with_digit(std::string_view rest, std::string_view text,
                                             const std::string& origin) {
    const std::size_t begin = rest.find_first_not_of("=<>!~ ");
    if (begin == 0 || begin == std::string_view::npos || rest[begin] < 'A' || rest[begin] > 'z') {
        return {};
    }
    const std::string_view word = rest.substr(begin, rest.find_first_of(" ,|=", begin) - begin);
    auto error = bad_input("bad-version", fmt::format("\"{}\" is not a version", word),
                           "expected digits and dots, as in 11.3", origin);
    error.value().column = static_cast<int>(text.find(word)) + 1;
    return error;
}

// Wheels and builds are for a minor version of Python: 3.11.7 asks for 3.11.
std::string minor_python(std::string_view rest) {
    const std::size_t begin = rest.find_first_of("0123456789");
    if (begin == std::string_view::npos ||
        rest.find_first_of(",|<>!~*", 0) != std::string_view::npos) {
        return std::string(rest);
    }
    const auto version = DottedVersion::parse(trim(rest.substr(begin)));
    return version && version->parts().size() > 2
               ? std::string(rest.substr(0, begin)) + version->major_minor()
               : std::string(rest);
}

// The build of a conda spec in the catalogue's words: "*cuda12.1*" -> "cu121", "*cpu*" -> "cpu".
std::string catalogue_build(std::string_view build) {
    std::string plain(build);
    std::erase(plain, '*');
    if (const auto cuda = specs::cuda_in(plain)) {
        return knowledge::cuda_tag(*cuda);
    }
    return contains(plain, "cpu") ? "cpu" : "";
}

// Where `=build` begins in "=version=build"; npos: it does not.
std::size_t build_in(std::string_view rest) {
    return rest.starts_with("=") && !rest.starts_with("==") ? rest.find('=', 1)
                                                            : std::string_view::npos;
}

// "conda-forge::", "pytorch" and "=2.1=*cuda12.1*" of a spec.
struct SpecParts {
    std::string scope;
    std::string name;
    std::string rest;
};

SpecParts parts_of(const std::string& spec) {
    const std::size_t colons = spec.rfind("::");
    const std::size_t begin = colons == std::string::npos ? 0 : colons + 2;
    std::size_t end = begin;
    while (end < spec.size() && is_name_character(spec[end])) {
        ++end;
    }
    return {spec.substr(0, begin), to_lower_ascii(spec.substr(begin, end - begin)),
            spec.substr(end)};
}

// "cu113" of "==1.12.1+cu113".
std::string local_label(const std::string& rest) {
    const std::size_t plus = rest.find('+');
    return plus == std::string::npos || rest.find_first_of(",|", plus) != std::string::npos
               ? std::string()
               : std::string(trim(std::string_view(rest).substr(plus + 1)));
}

// Version and build as the catalogue's records have them: " 2.1.* cu121" of "=2.1=*cuda12.1*".
std::string rest_in_catalogue(const std::string& name, std::string rest, const specs::Ask& ask) {
    const auto with_build = [](const std::string& version, const std::string& build) {
        return ' ' + version + (build.empty() ? "" : ' ' + build);
    };
    const std::string label = local_label(rest);
    if (const auto* const spec = ask.conda(); spec != nullptr && contains(rest, "[")) {
        const auto* const version = spec->value("version");
        const auto* const build = spec->value("build");
        rest = with_build(version == nullptr ? "*" : *version,
                          build == nullptr ? "" : catalogue_build(*build));
    }
    if (const std::size_t at = build_in(rest); at != std::string::npos) {
        const std::string version = rest.substr(1, at - 1);
        rest = with_build(version + (contains(version, "*") ? "" : ".*"),
                          catalogue_build(std::string_view(rest).substr(at + 1)));
    }
    if (name == "python") {
        rest = minor_python(rest);
    }
    if (name == "cuda" && rest.starts_with("=")) { // an update of a release is that release: 12.4.1
        const auto version = DottedVersion::parse(rest.substr(rest.find_first_not_of('=')));
        if (version && version->parts().size() > 2) {
            rest = '=' + version->major_minor();
        }
    }
    // torch==1.12.1+cu113: the label is the variant.
    if (!label.empty()) {
        rest = rest.substr(0, rest.find('+')) + ' ' + label;
        if (rest.starts_with("==")) {
            rest = ' ' + rest;
        }
    }
    return rest;
}

// The spec in the catalogue's words. Of torch's records the channel is known:
// pytorch::pytorch=2.1=*cuda12.1*.
Result<SpecParts> in_catalogue(SpecParts parts, const specs::Ask& ask, const std::string& origin) {
    parts.name = catalogue_name(parts.name);
    const auto* const row = knowledge::find_framework(parts.name);
    if (row == nullptr || row->table != "torch") {
        parts.scope.clear();
    } else if (!parts.scope.empty()) {
        const std::string channel = redact_secrets(parts.scope.substr(0, parts.scope.size() - 2));
        if (!channel.empty() && channel != "pytorch" && channel != "conda-forge") {
            return bad_input(
                "other-channel",
                fmt::format("builds of {} in channel {} are not known here", parts.name, channel),
                fmt::format(
                    "only those of pytorch and conda-forge are known; -c {} reads the channel",
                    channel),
                origin);
        }
    }
    parts.rest = rest_in_catalogue(parts.name, std::move(parts.rest), ask);
    return parts;
}

// The item's spec without its version, and without its build: the last of `name version build`,
// `name=version=build`, or a bracket key.
void add_relaxed(const SpecParts& parts, Item& item) {
    item.relaxed = parts.name;
    const std::vector<std::string_view> words = split(trim(parts.rest), ' ');
    const std::size_t second = build_in(parts.rest);
    if (words.size() == 2 && !words[1].empty()) {
        item.build_relaxed = parts.name + ' ' + std::string(words[0]);
    } else if (second != std::string::npos) {
        item.build_relaxed = parts.name + parts.rest.substr(0, second);
    }
}

// What the words say of CUDA. `typed`: the name before it was looked up.
void note_cuda(const SpecParts& parts, std::string_view typed, std::string_view text,
               std::string_view label, Question& question) {
    const std::string lower = to_lower_ascii(text);
    const std::string& name = parts.name;
    const bool names_gpu = name.starts_with("cuda") || is_library(name) ||
                           !library_of(name).empty() || name == "pytorch-cuda" ||
                           typed.ends_with("-gpu") || lower.starts_with("tensorflow-gpu") ||
                           lower.starts_with("pytorch-gpu") || name.starts_with("cupy");
    if (names_gpu || contains(parts.rest, "cuda") || contains(parts.rest, "gpu") ||
        label.starts_with("cu")) {
        question.cuda_asked = true;
    }
    question.nvcc_asked = question.nvcc_asked || is_one_of(typed, k_nvcc_packages);
    if (name == "cpuonly" || typed.ends_with("-cpu") || contains(parts.rest, "cpu")) {
        question.cpu_asked = true;
    }
}

} // namespace

bool has_name(std::span<const Channel* const> channels, std::string_view name) {
    return std::ranges::any_of(channels,
                               [&](const Channel* channel) { return channel->has(name); });
}

tl::unexpected<Error> at_origin(Error error, const std::string& origin) {
    return error.path.empty() ? at_path(origin, std::move(error))
                              : tl::unexpected(std::move(error));
}

Result<void> check_is_for_nvidia(std::string_view text) {
    const std::string lower = to_lower_ascii(text);
    const auto plus = lower.find_last_of("+/");
    const auto label = plus == std::string::npos ? std::string() : lower.substr(plus + 1);
    if (const auto build = knowledge::build_by_label('+' + label); build.other_gpu()) {
        return bad_input("other-gpu",
                         fmt::format("{} is {}; cudaenv resolves CUDA builds", text,
                                     knowledge::other_gpu_text(build.kind)),
                         fmt::format("leave it out, or see https://pytorch.org/get-started/locally "
                                     "for {}",
                                     knowledge::build_text(build)));
    }
    if (contains(lower, ".dev") || contains(lower, "/nightly/")) {
        return bad_input("nightly",
                         fmt::format("{} is a nightly build; cudaenv knows releases only", text),
                         "nightlies are at https://download.pytorch.org/whl/nightly/TAG");
    }
    return {};
}

Result<Item> read_spec(const Wanted& wanted, std::span<const Channel* const> channels,
                       Vocabulary vocabulary, Question& question) {
    std::string text(trim(wanted.text));
    if (text.empty()) {
        return bad_input("bad-spec", "an empty spec",
                         "a name with or without a version, as in torch==2.4");
    }
    const auto ask = specs::Ask::parse(text);
    if (!ask) {
        return at_origin(ask.error(), wanted.origin);
    }
    CUDAENV_TRY_VOID(check_is_for_nvidia(text));
    const auto* const project = knowledge::package_project(ask->name());
    if (project != nullptr && !project->other_platform.empty()) {
        return bad_input("other-gpu",
                         fmt::format("{} is {}; cudaenv resolves CUDA builds", ask->name(),
                                     project->other_platform),
                         "leave it out", wanted.origin);
    }
    if (contains(text, " @ ") || contains(text, "===")) {
        return bad_input("bad-spec",
                         fmt::format("\"{}\" names one file: there is nothing to solve", text),
                         "install it as it is, or name a version, as in torch==2.4");
    }
    if (const std::size_t marker = text.find(';'); marker != std::string::npos) {
        text = std::string(
            trim(std::string_view(text).substr(0, marker))); // it holds here: see the caller
    }
    for (const std::string& extra : ask->extras()) {
        question.cuda_asked = question.cuda_asked || contains(extra, "cuda");
    }
    SpecParts parts = parts_of(ask->extras().empty() ? text : without_extras(text));
    const std::string typed = parts.name;
    const std::string label = local_label(parts.rest);
    if (vocabulary == Vocabulary::Catalogue) {
        CUDAENV_TRY(parts, in_catalogue(std::move(parts), *ask, wanted.origin));
    } else {
        parts.name = channel_name_of(parts.name, channels);
    }

    Item item;
    item.extras = ask->extras();
    item.text = redact_secrets(text);
    item.origin = wanted.origin;
    item.name = parts.name;
    item.demand = parts.scope + parts.name + parts.rest;
    const auto parsed = specs::MatchSpec::parse(item.demand);
    if (!parsed) {
        return at_origin(parsed.error(), wanted.origin);
    }
    if (vocabulary == Vocabulary::Catalogue) {
        CUDAENV_TRY_VOID(check_version_begins_with_digit(parts.rest, text, wanted.origin));
    }
    if (parsed->constrains_anything()) {
        add_relaxed(parts, item);
    }
    note_cuda(parts, typed, text, label, question);
    return item;
}

Result<Item> read_pin(const pins::Pin& pin, Vocabulary vocabulary) {
    Item item;
    item.kind = Item::Kind::Pin;
    const bool has_operator = !pin.constraint.empty() && pin.constraint.find_first_of("=<>!~") == 0;
    item.text = pin.name + (has_operator ? "" : "=") + pin.constraint;
    item.origin = pin.origin;
    item.name = pin.name;
    item.demand = "__pin_" + pin.name;
    item.in_environment = pin.origin == k_of_environment;
    auto constraint = pins::PinConstraint::parse(pin.constraint);
    if (!constraint) {
        return at_origin(constraint.error(), pin.origin);
    }
    std::vector<std::string> names{pin.name};
    if (vocabulary == Vocabulary::Conda) {
        names = conda_names_of_pin(pin.name);
    }
    for (const std::string& name : names) {
        std::string spec = constraint->conda_version_spec();
        // These carry major.minor only: a pin of a patch release still means them.
        if (name == "cuda" || name == "cuda-version" || name == "pytorch-cuda" ||
            (name == "python" && vocabulary == Vocabulary::Catalogue)) {
            const auto single = constraint->single();
            if (single && single->parts().size() > 2) {
                spec = single->major_minor() + ".*";
            }
        }
        item.constrains.push_back(name + ' ' + spec);
    }
    return item;
}

} // namespace cudaenv::resolve
