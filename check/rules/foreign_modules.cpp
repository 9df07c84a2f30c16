#include "check/rules/foreign_modules.hpp"

#include "base/printable.hpp"
#include "base/shell_word.hpp"
#include "check/rules/evidence.hpp"
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

struct Judge {
    const CheckContext& context;
    std::optional<FamilyMember> installed_torch{find_member(context, "torch")};

    void judge(const facts::ExtensionModule& module, std::vector<ForeignModule>& found) const {
        if (auto foreign = other_python(module)) {
            found.push_back(std::move(*foreign));
        }
        if (is_for_another_python(module)) {
            return; // it is not loaded at all
        }
        if (!module.problem.empty() || !installed_torch) {
            return;
        }
        auto cuda = other_cuda(module);
        const bool is_explained = cuda && installed_torch->build.kind == BuildKind::Cpu;
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

    [[nodiscard]] const facts::Distribution&
    distribution_of(const facts::ExtensionModule& module) const {
        return context.inventory.distributions[module.distribution];
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
               std::ranges::any_of(context.extensions, [&](const auto& other) {
                   return other.distribution == module.distribution && !other.in_build &&
                          serves(other.path);
               });
    }

    [[nodiscard]] std::optional<ForeignModule>
    other_cuda(const facts::ExtensionModule& module) const {
        const auto& build = installed_torch->build;
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
            return ForeignModule{&module, MadeFor::OtherTorch, symbol, installed_torch->version};
        }
        if (!module.missing_of_torch.empty()) {
            return ForeignModule{&module, MadeFor::OtherTorch, module.missing_of_torch.front(),
                                 installed_torch->version};
        }
        return std::nullopt;
    }
};

enum class InBuild { No, Yes };

std::vector<ForeignModule> judged(const CheckContext& context, InBuild wanted) {
    std::vector<ForeignModule> found;
    const Judge judge{context};
    for (const auto& module : context.extensions) {
        if (module.in_build == (wanted == InBuild::Yes)) {
            judge.judge(module, found);
        }
    }
    return found;
}

std::string_view without_so(std::string_view file_name) {
    constexpr std::string_view k_end = ".so";
    if (!file_name.ends_with(k_end)) {
        return {};
    }
    file_name.remove_suffix(k_end.size());
    return file_name;
}

bool is_tag(std::string_view text) {
    return text == "abi3" || text.starts_with("cpython-") || text.starts_with("pypy") ||
           text.starts_with("graalpy");
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

std::string_view python_tag_of(std::string_view file_name) {
    const auto name = without_so(file_name);
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) {
        return {};
    }
    const auto tag = name.substr(dot + 1);
    return is_tag(tag) ? tag : std::string_view();
}

std::string python_of_tag(std::string_view tag) {
    constexpr std::string_view k_cpython = "cpython-";
    if (!tag.starts_with(k_cpython)) {
        return {};
    }
    tag.remove_prefix(k_cpython.size());
    // "311", "313t", "36m"; free threading is an ABI of its own, whose directory is python3.13t.
    const auto digits = tag.substr(0, std::min(tag.find_first_not_of("0123456789"), tag.size()));
    if (digits.size() < 2 || digits.front() != '3') {
        return {};
    }
    auto rest = tag.substr(digits.size());
    const bool is_threaded = rest.starts_with('t');
    return "3." + std::string(digits.substr(1)) + (is_threaded ? "t" : "");
}

std::string python_of_site(std::string_view site) {
    constexpr std::string_view k_python = "/python3.";
    const auto padded = '/' + std::string(site) + '/';
    const auto at = padded.rfind(k_python);
    if (at == std::string::npos) {
        return {};
    }
    const auto begin = at + k_python.size();
    const auto end = padded.find('/', begin);
    const auto minor = padded.substr(begin, end - begin);
    const auto digits = minor.find_first_not_of("0123456789");
    if (minor.empty() || digits == 0 ||
        (digits != std::string::npos && minor.substr(digits) != "t")) {
        return {};
    }
    return "3." + minor;
}

std::string_view module_stem(std::string_view path) {
    const auto slash = path.rfind('/');
    const auto begin = slash == std::string_view::npos ? 0 : slash + 1;
    auto name = without_so(path.substr(begin));
    if (const auto tag = python_tag_of(path.substr(begin)); !tag.empty()) {
        name.remove_suffix(tag.size() + 1);
    }
    return path.substr(0, begin + name.size());
}

} // namespace cudaenv::rules
