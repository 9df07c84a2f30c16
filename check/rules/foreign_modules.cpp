#include "check/rules/foreign_modules.hpp"

#include "base/printable.hpp"
#include "base/shell_word.hpp"
#include "check/rules/install_text.hpp"
#include "check/rules/module_names.hpp"
#include "check/rules/origin.hpp"

#include <algorithm>
#include <set>

namespace cudaenv::rules {

namespace {

// 11 of libcudart.so.11.0; 0 of other libraries, and of a copy bundled under a wheel's own name.
unsigned runtime_major(std::string_view needed) {
    constexpr std::string_view k_runtime = "libcudart.so.";
    if (!needed.starts_with(k_runtime)) {
        return 0;
    }
    const auto version = DottedVersion::parse(needed.substr(k_runtime.size()));
    return version ? version->major() : 0;
}

bool is_cuda_library_of_torch(std::string_view needed) {
    return needed.starts_with("libc10_cuda.") || needed.starts_with("libtorch_cuda");
}

class Judge {
public:
    explicit Judge(const CheckContext& context)
        : m_context(&context), m_torch(find_member(context, "torch")) {}

    void judge(const facts::ExtensionModule& module, std::vector<ForeignModule>& found) const {
        if (auto foreign = other_python(module)) {
            found.push_back(std::move(*foreign));
        }
        if (is_for_another_python(module)) {
            return; // it is not loaded at all
        }
        if (!module.problem.empty() || !m_torch) {
            return;
        }
        auto cuda = other_cuda(module);
        const bool is_explained = cuda && m_torch->build.kind == BuildKind::Cpu;
        if (cuda) {
            found.push_back(std::move(*cuda));
        }
        if (is_explained) {
            return; // torch's CUDA libraries are all that it lacks
        }
        if (auto torch = other_torch(module)) {
            found.push_back(std::move(*torch));
        }
    }

private:
    [[nodiscard]] const facts::Distribution&
    distribution_of(const facts::ExtensionModule& module) const {
        return m_context->inventory.distributions[module.distribution];
    }

    [[nodiscard]] bool is_for_another_python(const facts::ExtensionModule& module) const {
        const auto made = python_of_tag(module.python_tag);
        const auto here = python_of_site(distribution_of(module).site);
        return !made.empty() && !here.empty() && made != here;
    }
    [[nodiscard]] std::optional<ForeignModule>
    other_python(const facts::ExtensionModule& module) const {
        const auto made = python_of_tag(module.python_tag);
        const auto here = python_of_site(distribution_of(module).site);
        if (!is_for_another_python(module) || !was_made_as(distribution_of(module), made) ||
            has_one_for(module, here)) {
            return std::nullopt;
        }
        return ForeignModule{&module, MadeFor::OtherPython, "Python " + made, "Python " + here};
    }
    // The wheel itself was made for that Python: "cp310-cp310-linux_x86_64". One for all may carry
    // modules for many, and finds its own.
    [[nodiscard]] static bool was_made_as(const facts::Distribution& distribution,
                                          const std::string& made) {
        if (origin_of(distribution) == facts::Origin::Editable || distribution.tags.empty()) {
            return true;
        }
        auto tag = "cp" + made;
        tag.erase(tag.find('.'), 1);
        return std::ranges::any_of(distribution.tags, [&](const std::string& own) {
            return own.starts_with(tag + '-') || own.find('-' + tag + '-') != std::string::npos;
        });
    }
    // The same module for the Python that is here or for any, or any module for just that Python.
    [[nodiscard]] bool has_one_for(const facts::ExtensionModule& module,
                                   const std::string& here) const {
        const auto stem = module_stem(module.path);
        const auto serves = [&](std::string_view path) {
            if (!path.ends_with(".so")) {
                return false;
            }
            const auto tag = python_tag_of(path.substr(path.rfind('/') + 1));
            return python_of_tag(tag) == here ||
                   (module_stem(path) == stem && (tag.empty() || tag == "abi3"));
        };
        const auto& files = distribution_of(module).files;
        return std::ranges::any_of(
                   files, [&](const facts::FileClaim& file) { return serves(files.path(file)); }) ||
               std::ranges::any_of(m_context->extensions, [&](const auto& other) {
                   return other.distribution == module.distribution && !other.in_build &&
                          serves(other.path);
               });
    }

    [[nodiscard]] std::optional<ForeignModule>
    other_cuda(const facts::ExtensionModule& module) const {
        const auto& build = m_torch->build;
        if (build.kind == BuildKind::Cpu) {
            const auto found =
                std::ranges::find_if(module.missing_of_torch, is_cuda_library_of_torch);
            return found == module.missing_of_torch.end()
                       ? std::nullopt
                       : std::optional(ForeignModule{&module, MadeFor::OtherCuda, *found,
                                                     "a CPU build", true});
        }
        if (build.kind != BuildKind::Cuda || !build.cuda) {
            return std::nullopt;
        }
        for (const auto& needed : module.needed) {
            const auto major = runtime_major(needed);
            if (major != 0 && major != build.cuda->major()) {
                return ForeignModule{&module, MadeFor::OtherCuda, needed,
                                     "built for " + knowledge::build_text(build)};
            }
        }
        return std::nullopt;
    }

    [[nodiscard]] std::optional<ForeignModule>
    other_torch(const facts::ExtensionModule& module) const {
        if (!module.unresolved.empty()) {
            const auto& symbol = module.asked_with_other_abi.empty() ? module.unresolved.front()
                                                                     : module.asked_with_other_abi;
            return ForeignModule{&module, MadeFor::OtherTorch, symbol, m_torch->version};
        }
        if (!module.missing_of_torch.empty()) {
            return ForeignModule{&module, MadeFor::OtherTorch, module.missing_of_torch.front(),
                                 m_torch->version};
        }
        return std::nullopt;
    }

    const CheckContext* m_context;
    std::optional<FamilyMember> m_torch;
};

enum class InBuild { No, Yes };

std::vector<ForeignModule> judged(const CheckContext& context, InBuild wanted) {
    std::vector<ForeignModule> found;
    const Judge judge(context);
    for (const auto& module : context.extensions) {
        if (module.in_build == (wanted == InBuild::Yes)) {
            judge.judge(module, found);
        }
    }
    return found;
}

} // namespace

std::vector<ForeignModule> foreign_modules(const CheckContext& context) {
    return judged(context, InBuild::No);
}

std::vector<ForeignModule> stale_builds(const CheckContext& context) {
    auto found = judged(context, InBuild::Yes);
    if (found.empty()) {
        return found;
    }
    const auto installed = judged(context, InBuild::No);
    std::erase_if(found, [&](const ForeignModule& built) {
        const auto& distribution = context.inventory.distributions[built.module->distribution];
        const bool is_from_build = distribution.kind == facts::DistributionKind::EggLink ||
                                   origin_of(distribution) == facts::Origin::Built;
        return !is_from_build || built.made_for == MadeFor::OtherPython ||
               std::ranges::none_of(installed, [&](const ForeignModule& other) {
                   return other.made_for == built.made_for &&
                          other.module->distribution == built.module->distribution;
               });
    });
    return found;
}

bool uses_cuda(const facts::ExtensionModule& module) {
    return std::ranges::any_of(module.needed, [](const std::string& needed) {
        return needed.starts_with("libcudart") || is_cuda_library_of_torch(needed);
    });
}

namespace {

// What the next build would take from there.
std::string without_builds(const CheckContext& context, const facts::Distribution& distribution) {
    constexpr std::string_view k_build = "/build/lib.";
    std::set<std::string> directories;
    for (const auto& stale : stale_builds(context)) {
        const auto& path = stale.module->path;
        const auto at = path.rfind(k_build);
        if (&context.inventory.distributions[stale.module->distribution] != &distribution ||
            at == std::string::npos) {
            continue;
        }
        auto directory = path.substr(0, path.find('/', at + k_build.size()));
        directories.insert(directory);
        directories.insert(directory.replace(at + k_build.size() - 4, 4, "temp.")); // the objects
    }
    std::string command;
    for (const auto& directory : directories) {
        command += ' ' + shell_word(directory);
    }
    return command.empty() ? command : "rm -rf" + command;
}

struct Rebuild {
    const char* way = "rebuild";
    std::string command;
};

Rebuild rebuild_alone(const CheckContext& context, const facts::Distribution& distribution,
                      MadeFor made_for) {
    const auto directory = distribution.direct_url ? distribution.direct_url->local_directory
                                                   : distribution.source_directory;
    std::vector<std::string> words{"--no-deps", "--no-build-isolation"};
    if (origin_of(distribution) == facts::Origin::Editable) {
        if (directory.empty()) {
            return {"in_source", {}};
        }
        words.insert(words.end(), {"-e", pip_source(directory)});
        return {"rebuild", pip_install(context, &distribution, words)};
    }
    words.insert(words.end(), {"--force-reinstall", "--no-cache-dir"});
    if (!directory.empty()) {
        words.push_back(pip_source(directory));
    } else if (distribution.direct_url && !distribution.direct_url->vcs.empty()) {
        const auto& url = *distribution.direct_url;
        words.push_back(
            pip_source(url.vcs + '+' + url.url + (url.commit.empty() ? "" : '@' + url.commit)));
    } else if (distribution.direct_url || origin_of(distribution) == facts::Origin::Built) {
        return {"other_build", {}};
    } else if (made_for == MadeFor::OtherPython) {
        return {"reinstall",
                pip_install(context, &distribution,
                            {"--no-deps", "--force-reinstall", "--no-cache-dir",
                             pip_requirement(distribution.name, distribution.version)})};
    } else {
        // Without it pip installs the very same wheel again, where an index has one.
        words.insert(words.end(), {"--no-binary", pip_name(distribution.name),
                                   pip_requirement(distribution.name, distribution.version)});
    }
    return {"rebuild", pip_install(context, &distribution, words)};
}

} // namespace

facts::Arguments rebuild(const CheckContext& context, const facts::Distribution& distribution,
                         MadeFor made_for) {
    auto [way, command] = rebuild_alone(context, distribution, made_for);
    const auto first = without_builds(context, distribution);
    if (!first.empty()) {
        command = both_commands(first, command);
    }
    return {{"name", printable(distribution.name)},
            {way, "yes"},
            {"stale", first.empty() ? "" : "yes"},
            {"command", std::move(command)}};
}

} // namespace cudaenv::rules
