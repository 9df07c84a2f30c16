#include "solver/resolve/question.hpp"

#include "base/text.hpp"
#include "solver/knowledge/builds.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/knowledge/packages.hpp"
#include "solver/pins/pins.hpp"
#include "solver/resolve/package_records.hpp"
#include "solver/specs/ask.hpp"
#include "solver/specs/cuda_label.hpp"
#include "solver/specs/match_spec.hpp"
#include "solver/specs/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace cudaenv::resolve {

namespace {

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

// conda's packages that say which CUDA an environment has.
constexpr std::array<std::string_view, 4> k_cuda_packages = {"cudatoolkit", "cuda-version",
                                                             "pytorch-cuda", "cuda-toolkit"};

// The catalogue's name for what conda or an older pip calls otherwise: "torch" of "pytorch-gpu".
std::string catalogue_name(const std::string& name) {
    if (std::ranges::find(k_cuda_packages, name) != k_cuda_packages.end()) {
        return "cuda";
    }
    const auto* const known = knowledge::find_framework(name);
    return known == nullptr ? name : known->name;
}

// The name that a channel has for it: "pytorch" of "torch".
std::string channel_name_of(const std::string& name, std::span<const Channel* const> channels) {
    const auto has = [&](std::string_view one) {
        return std::ranges::any_of(channels,
                                   [&](const Channel* channel) { return channel->has(one); });
    };
    std::vector<std::string> names;
    if (name == "cuda") {
        names.assign(k_cuda_packages.begin(), k_cuda_packages.end());
    } else if (const auto* const known = knowledge::find_framework(name)) {
        names = known->conda;
    }
    const auto found = has(name) ? names.end() : std::ranges::find_if(names, has);
    return found == names.end() ? name : *found;
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

bool has_name(std::span<const Channel* const> channels, std::string_view name) {
    return std::any_of(channels.begin(), channels.end(),
                       [&](const Channel* channel) { return channel->has(name); });
}

Error at_origin(Error error, const std::string& origin) {
    if (error.path.empty()) {
        error.path = origin;
    }
    return error;
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
    Error error = bad_input("bad-version", fmt::format("\"{}\" is not a version", word),
                            "expected digits and dots, as in 11.3")
                      .value();
    error.path = origin;
    error.column = static_cast<int>(text.find(word)) + 1;
    return tl::unexpected(std::move(error));
}

} // namespace

Result<void> check_is_for_nvidia(std::string_view text) {
    const std::string lower = to_lower_ascii(text);
    const auto plus = lower.find_last_of("+/");
    const auto label = plus == std::string::npos ? std::string() : lower.substr(plus + 1);
    const bool rocm = label.starts_with("rocm") || label.starts_with("hip");
    if (rocm || label.starts_with("xpu")) {
        return bad_input(
            "other-gpu",
            fmt::format("{} is {}; cudaenv resolves CUDA builds", text,
                        rocm ? "a ROCm build, for AMD GPUs" : "an XPU build, for Intel GPUs"),
            fmt::format("leave it out, or see https://pytorch.org/get-started/locally "
                        "for {}",
                        rocm ? "ROCm" : "XPU"));
    }
    if (contains(lower, ".dev") || contains(lower, "/nightly/")) {
        return bad_input("nightly",
                         fmt::format("{} is a nightly build; cudaenv knows releases only", text),
                         "nightlies are at https://download.pytorch.org/whl/nightly/TAG");
    }
    return {};
}

namespace {

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

Result<Item> read_spec(const Wanted& wanted, std::span<const Channel* const> channels,
                       Vocabulary vocabulary, Question& question) {
    std::string text(trim(wanted.text));
    if (text.empty()) {
        return bad_input("bad-spec", "an empty spec",
                         "a name with or without a version, as in torch==2.4");
    }
    auto ask = specs::Ask::parse(text);
    if (!ask) {
        return tl::unexpected(at_origin(ask.error(), wanted.origin));
    }
    CUDAENV_TRY_VOID(check_is_for_nvidia(text));
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
    std::string plain = ask->extras().empty() ? text : without_extras(text);
    const std::size_t scope = plain.rfind("::");
    const std::size_t name_begin = scope == std::string::npos ? 0 : scope + 2;
    std::size_t name_end = name_begin;
    while (name_end < plain.size() && is_name_character(plain[name_end])) {
        ++name_end;
    }
    std::string name = to_lower_ascii(plain.substr(name_begin, name_end - name_begin));
    const std::string typed_name = name;
    std::string rest = plain.substr(name_end);
    std::size_t scope_end = 0; // what of `plain` is left out of the demand
    std::string local_tag;
    if (const std::size_t local = rest.find('+');
        local != std::string::npos && rest.find_first_of(",|", local) == std::string::npos) {
        local_tag = std::string(trim(rest.substr(local + 1)));
    }

    if (vocabulary == Vocabulary::Catalogue) {
        name = catalogue_name(name);
        // pytorch::pytorch=2.1=*cuda12.1*: torch's records have a channel, and the build says the
        // CUDA.
        const auto* const row = knowledge::find_framework(name);
        const bool has_channel = row != nullptr && row->table == "torch";
        const std::string channel =
            scope == std::string::npos ? "" : redact_secrets(plain.substr(0, scope));
        if (has_channel && !channel.empty() && channel != "pytorch" && channel != "conda-forge") {
            auto error = bad_input(
                "other-channel",
                fmt::format("builds of {} in channel {} are not known here", name, channel),
                fmt::format("those of pytorch and conda-forge are; -c {} reads it", channel));
            error.value().path = wanted.origin;
            return error;
        }
        scope_end = has_channel ? 0 : name_begin;
        if (const auto* const spec = ask->conda(); spec != nullptr && contains(rest, "[")) {
            const auto* const version = spec->value("version");
            const auto* const build = spec->value("build");
            const std::string tag = build == nullptr ? "" : catalogue_build(*build);
            rest = (version == nullptr ? std::string(" *") : ' ' + *version) +
                   (tag.empty() ? "" : ' ' + tag);
        }
        const std::size_t build_at = rest.starts_with("=") && !rest.starts_with("==")
                                         ? rest.find('=', 1)
                                         : std::string::npos;
        if (build_at != std::string::npos) {
            const std::string build = catalogue_build(std::string_view(rest).substr(build_at + 1));
            rest = rest.substr(1, build_at - 1);
            rest =
                ' ' + rest + (contains(rest, "*") ? "" : ".*") + (build.empty() ? "" : ' ' + build);
        }
        if (name == "python") {
            rest = minor_python(rest);
        }
        if (name == "cuda") { // an update of a release is that release: 12.4.1
            const auto version =
                rest.starts_with("=")
                    ? DottedVersion::parse(rest.substr(rest.find_first_not_of('=')))
                    : Result<DottedVersion>(DottedVersion());
            if (version && version->parts().size() > 2) {
                rest = '=' + version->major_minor();
            }
        }
        // torch==1.12.1+cu113: the label is the variant.
        if (!local_tag.empty()) {
            rest = rest.substr(0, rest.find('+')) + ' ' + local_tag;
            if (rest.starts_with("==")) {
                rest = ' ' + rest;
            }
        }
    } else {
        name = channel_name_of(name, channels);
    }

    Item item;
    item.extras.assign(ask->extras().begin(), ask->extras().end());
    item.text = redact_secrets(text);
    item.origin = wanted.origin;
    item.name = name;
    item.demand = plain.substr(scope_end, name_begin - scope_end) + name + rest;
    auto parsed = specs::MatchSpec::parse(item.demand);
    if (!parsed) {
        return tl::unexpected(at_origin(parsed.error(), wanted.origin));
    }
    if (vocabulary == Vocabulary::Catalogue) {
        CUDAENV_TRY_VOID(check_version_begins_with_digit(rest, text, wanted.origin));
    }
    if (parsed->constrains_anything()) {
        item.relaxed = name;
        // The build is the last of `name version build`, `name=version=build`, or a bracket key.
        const std::vector<std::string_view> words = split(trim(rest), ' ');
        const std::size_t second = rest.starts_with("=") && !rest.starts_with("==")
                                       ? rest.find('=', 1)
                                       : std::string::npos;
        if (words.size() == 2 && !words[1].empty()) {
            item.build_relaxed = name + ' ' + std::string(words[0]);
        } else if (second != std::string::npos) {
            item.build_relaxed = name + rest.substr(0, second);
        }
    }
    const std::string lower = to_lower_ascii(text);
    const bool names_gpu = name.starts_with("cuda") || name == "cudnn" || name == "nccl" ||
                           !library_of(name).empty() || name == "pytorch-cuda" ||
                           typed_name.ends_with("-gpu") || lower.starts_with("tensorflow-gpu") ||
                           lower.starts_with("pytorch-gpu") || name.starts_with("cupy");
    if (names_gpu || contains(rest, "cuda") || contains(rest, "gpu") ||
        local_tag.starts_with("cu")) {
        question.cuda_asked = true;
    }
    if (name == "cpuonly" || typed_name.ends_with("-cpu") || contains(rest, "cpu")) {
        question.cpu_asked = true;
    }
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
    auto constraint = pins::PinConstraint::parse(pin.constraint);
    if (!constraint) {
        return tl::unexpected(at_origin(constraint.error(), pin.origin));
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

// The first release with an extra that exists beside no record of its own, TensorFlow's; nothing
// for all others, whose records say it.
std::optional<std::string> first_with_extra(const std::string& package, const std::string& extra) {
    if (has_package(extra_name(package, extra))) {
        return std::nullopt;
    }
    for (const auto& release : knowledge::package_releases(package)) {
        if (std::ranges::find(release.extras, extra, &knowledge::PackageExtra::name) !=
            release.extras.end()) {
            return release.version;
        }
    }
    return std::nullopt;
}

bool is_before(const std::string& version, const std::string& other) {
    const auto one = DottedVersion::parse(version);
    const auto two = DottedVersion::parse(other);
    return one && two && *one < *two;
}

// The tables have the extras that bring CUDA: one that is not among them installs a CPU build.
Result<void> check_extras(const Item& item) {
    std::vector<std::string> known;
    const auto pin = exact_pin(item.demand);
    for (const auto& release : knowledge::package_releases(item.name)) {
        for (const auto& extra : release.extras) {
            if (std::ranges::find(known, extra.name) == known.end()) {
                known.push_back(extra.name);
            }
        }
    }
    for (const std::string& extra : item.extras) {
        const std::string name = specs::normalize_project_name(extra);
        const auto begins = first_with_extra(item.name, name);
        if (pin && begins && is_before(pin->second, *begins)) {
            auto error =
                bad_input("no-such-extra",
                          fmt::format("{} {} has no extra \"{}\"", item.name, pin->second, extra),
                          fmt::format("the extra begins with {}", *begins));
            error.value().path = item.origin;
            return error;
        }
        if (known.empty() || !contains(name, "cuda") ||
            std::ranges::find(known, name) != known.end()) {
            continue;
        }
        auto error =
            bad_input("no-such-extra", fmt::format("{} has no extra \"{}\"", item.name, extra),
                      "its extras are " + join(known, ", "));
        error.value().path = item.origin;
        return error;
    }
    return {};
}

// "cupy-cuda12x" and "cupy-cuda11x" of "cupy-cuda13x"; "jax_extra_cuda12" of "jax_extra_cuda13".
std::vector<std::string> siblings_of(const std::string& name,
                                     std::span<const Channel* const> channels) {
    std::vector<std::string> siblings;
    const auto cuda = name.find("cuda");
    const auto digits = cuda == std::string::npos ? cuda : name.find_first_of("0123456789", cuda);
    if (digits == std::string::npos) {
        return siblings;
    }
    const auto end = std::min(name.find_first_not_of("0123456789", digits), name.size());
    // cupy-cuda112 is of the time before cupy-cuda11x.
    const std::string rest = name.starts_with("cupy-cuda") ? "x" : name.substr(end);
    for (const char* const major : {"13", "12", "11"}) {
        std::string sibling = name.substr(0, digits) + major + rest;
        if (sibling != name && has_name(channels, sibling)) {
            siblings.push_back(std::move(sibling));
        }
    }
    return siblings;
}

// What the environment has, as far as it stays.
Item item_of(const Kept& kept) {
    const Installed& installed = kept.installed;
    Item item;
    item.text = installed.shown();
    item.origin = "the environment";
    item.name = installed.name;
    item.relaxed = installed.name;
    item.in_environment = true;
    item.demand = installed.name;
    const std::string label = installed.label.empty() ? "" : ' ' + installed.label;
    switch (kept.stays) {
    case Stays::Build:
        item.kept = true;
        item.demand += " ==" + installed.version + label;
        break;
    case Stays::Version:
        item.demand += " ==" + installed.version;
        break;
    case Stays::Label:
        item.demand += label.empty() ? "" : " *" + label;
        break;
    case Stays::Package:
        break;
    }
    return item;
}

bool is_installed(const Request& request, std::string_view name) {
    return std::ranges::find(request.environment.installed, name, &Installed::name) !=
           request.environment.installed.end();
}

// An extra whose CUDA libraries are installed holds them: jax-cuda12-plugin[with-cuda] beside a
// wheel of cuDNN.
void add_installed_extras(const Request& request, const Kept& kept, Question& question) {
    const Installed& one = kept.installed;
    const auto releases = knowledge::package_releases(one.name);
    const auto release =
        std::ranges::find(releases, one.version, &knowledge::PackageRelease::version);
    if (release == releases.end()) {
        return;
    }
    for (const knowledge::PackageExtra& extra : release->extras) {
        const bool held =
            std::ranges::any_of(extra.requirements, [&](const std::string& requirement) {
                const auto parsed = specs::Requirement::parse(requirement);
                const std::string name = parsed ? parsed->normalized_name() : std::string();
                return library_of(name) == "cudnn" && is_installed(request, name);
            });
        if (held) {
            Item item = item_of(kept);
            item.name = extra_name(one.name, extra.name);
            item.relaxed = item.name;
            const bool same = kept.stays == Stays::Build || kept.stays == Stays::Version;
            item.demand = item.name + (same ? " ==" + one.version : "");
            question.items.push_back(std::move(item));
        }
    }
}

// What needs JAX gets it with CUDA: alone it would be a CPU build (flax, optax).
void add_jax(const Request& request, Question& question) {
    const auto needs_jax = [](const Item& item) {
        const auto releases = knowledge::package_releases(item.name);
        return item.kind == Item::Kind::Spec && !item.in_environment && !releases.empty() &&
               std::ranges::any_of(releases.back().requirements, [](const auto& text) {
                   const auto requirement = specs::Requirement::parse(text);
                   return requirement && requirement->normalized_name() == "jax";
               });
    };
    const bool named =
        std::ranges::find(question.items, "jax", &Item::name) != question.items.end();
    const auto needing = std::ranges::find_if(question.items, needs_jax);
    if (named || is_installed(request, "jax") || needing == question.items.end()) {
        return;
    }
    Item item;
    item.text = "jax";
    item.origin = needing->origin;
    item.name = item.relaxed = item.demand = "jax";
    question.items.push_back(std::move(item));
}

// Where CUDA is wanted and comes by an extra, and the request names none.
void add_cuda_extras(std::span<const Channel* const> channels, Question& question) {
    std::vector<Item> items;
    for (Item& item : question.items) {
        const std::string name = cuda_extra_name(item.name);
        if (item.kind == Item::Kind::Spec && !item.in_environment && item.extras.empty() &&
            has_name(channels, name)) {
            Item more = item;
            more.demand = name + item.demand.substr(item.name.size());
            more.name = name;
            more.relaxed = more.relaxed.empty() ? "" : name;
            more.build_relaxed.clear();
            more.siblings.clear();
            items.push_back(std::move(more));
        }
        items.push_back(std::move(item));
    }
    question.items = std::move(items);
}

} // namespace

Result<Question> read_question(const Request& request, const facts::Host& host,
                               std::span<const Channel* const> channels, Vocabulary vocabulary) {
    Question question;
    question.cpu_asked = request.cpu;
    for (const Wanted& wanted : request.specs) {
        auto item = read_spec(wanted, channels, vocabulary, question);
        if (!item) {
            return tl::unexpected(at_origin(item.error(), wanted.origin));
        }
        if (vocabulary == Vocabulary::Catalogue && item->name == "cpuonly") {
            continue;
        }
        if (!item->name.starts_with("__") && item->name != "*" && !has_name(channels, item->name)) {
            std::vector<std::string> names;
            std::vector<std::string> channel_names;
            for (const Channel* channel : channels) {
                for (std::string& name : channel->names()) {
                    names.push_back(std::move(name));
                }
                channel_names.push_back(channel->name());
            }
            std::string hint;
            auto near = nearest(item->name, names);
            // scipy is no cupy: a slip of the finger keeps the first letter.
            if (near && near->front() != item->name.front()) {
                near.reset();
            }
            if (!near && vocabulary == Vocabulary::Catalogue &&
                knowledge::find_framework(item->name) == nullptr) {
                question.unknown.push_back(item->text);
                continue;
            }
            if (near == item->name) {
                hint = "leave out --manager conda for pip's, or add a channel that has it with -c";
            } else if (near) {
                hint = fmt::format("did you mean \"{}\"?", *near);
            } else {
                hint = "add a channel that has it with -c";
            }
            auto error = bad_input(
                "no-such-package",
                fmt::format("no package \"{}\" in {}", item->name, join(channel_names, ", ")),
                std::move(hint));
            return tl::unexpected(at_origin(std::move(error).value(), wanted.origin));
        }
        CUDAENV_TRY_VOID(check_extras(*item));
        for (const std::string& extra : item->extras) {
            const std::string name = extra_name(item->name, specs::normalize_project_name(extra));
            if (vocabulary == Vocabulary::Catalogue && has_name(channels, name)) {
                Item more = *item;
                more.demand = name + item->demand.substr(item->name.size());
                more.name = name;
                more.relaxed = more.relaxed.empty() ? "" : name;
                more.build_relaxed.clear();
                more.siblings = siblings_of(name, channels);
                question.items.push_back(std::move(more));
            }
        }
        if (vocabulary == Vocabulary::Catalogue) {
            item->siblings = siblings_of(item->name, channels);
        }
        question.items.push_back(*std::move(item));
    }
    std::vector<Item> pinned;
    for (const pins::Pin& pin : request.pins) {
        CUDAENV_TRY(Item item, read_pin(pin, vocabulary));
        question.cuda_asked =
            question.cuda_asked || pin.name == "cuda" || pin.name == "cudnn" || pin.name == "nccl";
        pinned.push_back(std::move(item));
    }
    for (const Kept& kept : request.kept) {
        add_installed_extras(request, kept, question);
        Item item = item_of(kept);
        // A CPU build that is there does not stand against CUDA that is asked for by name.
        if (item.kept && kept.installed.label == "cpu" && !question.cuda_asked) {
            question.cpu_asked = true;
        } else if (item.kept && kept.installed.label.starts_with("cu") && !question.cpu_asked) {
            question.cuda_asked = true;
        }
        question.items.push_back(std::move(item));
    }
    std::ranges::move(pinned, std::back_inserter(question.items));
    // The catalogue's answer is for the GPU of a driver that is named alone. A channel's is
    // conda's, which looks at the driver.
    const bool unknown_gpu = vocabulary == Vocabulary::Catalogue && host.gpus_absent.empty();
    // A GPU that the user names is there to be used, with or without a driver beside it.
    const bool named_gpu =
        !host.gpus.empty() && std::find(request.host_words.begin(), request.host_words.end(),
                                        "--gpu") != request.host_words.end();
    const bool usable_gpu =
        named_gpu || (host.driver.has_value() && (!host.gpus.empty() || unknown_gpu));
    question.cuda_named = question.cuda_asked;
    question.cuda_asked = !question.cpu_asked && (question.cuda_asked || usable_gpu);
    if (vocabulary == Vocabulary::Catalogue && question.cuda_asked) {
        add_jax(request, question);
        add_cuda_extras(channels, question);
    }
    return question;
}

} // namespace cudaenv::resolve
