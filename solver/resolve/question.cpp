#include "solver/resolve/question.hpp"

#include "base/ranges.hpp"
#include "base/text.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/knowledge/packages.hpp"
#include "solver/resolve/package_records.hpp"
#include "solver/resolve/spec_reader.hpp"
#include "solver/specs/requirement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace cudaenv::resolve {

namespace {

// The first release with an extra that exists beside no record of its own, TensorFlow's; nothing
// for all others, whose records say it.
std::optional<std::string> first_with_extra(const std::string& package, const std::string& extra) {
    if (has_package(extra_name(package, extra))) {
        return std::nullopt;
    }
    const auto* const first =
        find_pointer_if(knowledge::package_releases(package),
                        [&](const auto& release) { return release.extra(extra) != nullptr; });
    return first == nullptr ? std::nullopt : std::optional(first->version);
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
            add_once(known, extra.name);
        }
    }
    for (const std::string& extra : item.extras) {
        const std::string name = specs::normalize_project_name(extra);
        const auto begins = first_with_extra(item.name, name);
        if (pin && begins && is_before(pin->second, *begins)) {
            return bad_input(
                "no-such-extra",
                fmt::format("{} {} has no extra \"{}\"", item.name, pin->second, extra),
                fmt::format("the extra begins with {}", *begins), item.origin);
        }
        if (!known.empty() && name.find("cuda") != std::string::npos && !contains(known, name)) {
            return bad_input("no-such-extra",
                             fmt::format("{} has no extra \"{}\"", item.name, extra),
                             "its extras are " + join(known, ", "), item.origin);
        }
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

// What an item asks of a package, asked of its extra, which is a package of its own.
Item of_extra(Item item, const std::string& name) {
    item.demand = name + item.demand.substr(item.name.size());
    item.name = name;
    item.relaxed = item.relaxed.empty() ? "" : name;
    item.build_relaxed.clear();
    item.siblings.clear();
    return item;
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
    const auto* const release = knowledge::package_release(one.name, one.version);
    if (release == nullptr) {
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
            items.push_back(of_extra(item, name));
        }
        items.push_back(std::move(item));
    }
    question.items = std::move(items);
}

// scipy is no cupy: a slip of the finger keeps the first letter.
std::optional<std::string> near_name(const std::string& name,
                                     std::span<const Channel* const> channels) {
    std::vector<std::string> names;
    for (const Channel* const channel : channels) {
        std::ranges::move(channel->names(), std::back_inserter(names));
    }
    for (const knowledge::Framework& framework : knowledge::frameworks()) {
        std::ranges::remove_copy(framework.conda, std::back_inserter(names), name);
    }
    auto near = nearest(name, names);
    return near && near->front() == name.front() ? near : std::nullopt;
}

Error no_such_package(const std::string& name, const std::optional<std::string>& near,
                      std::span<const Channel* const> channels) {
    const auto channel_names = each_of(channels, &Channel::name);
    const std::string hint =
        near == name ? "leave out --manager conda to use pip, or add a channel that has it with -c"
        : near       ? fmt::format("did you mean \"{}\"?", *near)
                     : "add a channel that has it with -c";
    return bad_input("no-such-package",
                     fmt::format("no package \"{}\" in {}", name, join(channel_names, ", ")), hint)
        .value();
}

} // namespace

Result<Question> read_question(const Request& request, const facts::Host& host,
                               std::span<const Channel* const> channels, Vocabulary vocabulary) {
    Question question;
    question.cpu_asked = request.cpu;
    for (const Wanted& wanted : request.specs) {
        auto item = read_spec(wanted, channels, vocabulary, question);
        if (!item) {
            return at_origin(item.error(), wanted.origin);
        }
        if (vocabulary == Vocabulary::Catalogue && item->name == "cpuonly") {
            continue;
        }
        if (!item->name.starts_with("__") && item->name != "*" && !has_name(channels, item->name)) {
            const bool may_be_pips = vocabulary == Vocabulary::Catalogue &&
                                     knowledge::find_framework(item->name) == nullptr;
            const auto near = near_name(item->name, channels);
            if (!near && may_be_pips) {
                question.unknown.push_back(item->text);
                continue;
            }
            return at_origin(no_such_package(item->name, near, channels), wanted.origin);
        }
        CUDAENV_TRY_VOID(check_extras(*item));
        for (const std::string& extra : item->extras) {
            const std::string name = extra_name(item->name, specs::normalize_project_name(extra));
            if (vocabulary == Vocabulary::Catalogue && has_name(channels, name)) {
                question.items.push_back(of_extra(*item, name));
                question.items.back().siblings = siblings_of(name, channels);
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
        question.cuda_asked = question.cuda_asked || pin.name == "cuda" || is_library(pin.name);
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
    const bool named_gpu = !host.gpus.empty() && contains(request.host_words, "--gpu");
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
