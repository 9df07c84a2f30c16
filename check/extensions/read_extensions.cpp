#include "check/extensions/read_extensions.hpp"

#include "check/extensions/elf_file.hpp"
#include "check/extensions/source_modules.hpp"
#include "check/extensions/torch_libraries.hpp"
#include "check/rules/foreign_modules.hpp"
#include "check/rules/origin.hpp"
#include "host/file_system.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace cudaenv::extensions {

namespace {

using facts::Distribution;
using facts::ExtensionModule;

// Of one environment; a real one has some hundreds.
constexpr std::size_t k_most_modules = 20'000;
// Of those that a module lacks, so many are searched for under the other ABI: one is enough.
constexpr std::size_t k_most_abi_questions = 8;

// What a library under such a name defines is never torch's: the system's, the compiler's and
// NVIDIA's.
bool is_of_the_system(std::string_view name) {
    constexpr std::array<std::string_view, 22> k_names = {
        "ld-linux", "libc.",     "libm.",    "libdl.",     "librt.",   "libpthread.",
        "libutil.", "libstdc++", "libgcc_s", "libgomp",    "libiomp5", "libomp",
        "libz.",    "libpython", "libcu",    "libnv",      "libnccl",  "libatomic",
        "libmkl",   "libblas",   "libtbb",   "libopenblas"};
    return std::ranges::any_of(k_names,
                               [&](std::string_view known) { return name.starts_with(known); });
}

bool requires_torch(const Distribution& distribution) {
    return std::ranges::any_of(distribution.requires_dist, [](const std::string& text) {
        constexpr std::string_view k_torch = "torch";
        if (!text.starts_with(k_torch)) {
            return false;
        }
        const auto rest = text.substr(k_torch.size());
        return rest.empty() || rest.find_first_of(" =<>!~;([") == 0;
    });
}

struct Reader {
    const facts::Inventory& inventory;
    const GoesOn& going;
    std::optional<TorchLibraries> of_torch{};
    std::map<std::string, std::string, std::less<>> libraries{}; // of the distribution, by name
    bool has_own_python = false; // it has a module for just the environment's Python
    std::vector<ExtensionModule> modules{};

    std::vector<ExtensionModule> read() {
        for (std::uint32_t i = 0; i < inventory.distributions.size(); ++i) {
            if (inventory.distributions[i].name != "torch") {
                read_distribution(i);
            }
        }
        return std::move(modules);
    }

    [[nodiscard]] std::string absolute(const std::string& path) const {
        return path.starts_with('/') ? path : inventory.prefix + '/' + path;
    }

    void read_distribution(std::uint32_t index) {
        const auto& distribution = inventory.distributions[index];
        const auto origin = rules::origin_of(distribution);
        const bool all = origin != facts::Origin::Wheel || requires_torch(distribution);
        std::set<std::string> paths;
        libraries.clear();
        for (const auto& file : distribution.files) {
            const auto path = distribution.files.path(file);
            const auto name = host::base_name(path);
            if (name.find(".so") == std::string_view::npos) {
                continue;
            }
            libraries.try_emplace(std::string(name), path);
            if (name.ends_with(".so") && (all || !rules::python_tag_of(name).empty())) {
                paths.emplace(path);
            }
        }
        if (origin == facts::Origin::Editable ||
            distribution.kind == facts::DistributionKind::EggDirectory) {
            for (auto& path : modules_of_source(inventory, distribution)) {
                paths.insert(std::move(path));
            }
        }
        has_own_python = std::ranges::any_of(paths, [&](const std::string& path) {
            const auto made = rules::python_of_tag(rules::python_tag_of(host::base_name(path)));
            return !made.empty() && made == rules::python_of_site(distribution.site);
        });
        for (const auto& path : paths) {
            read_module(index, path, Place::Installed);
        }
        if (origin != facts::Origin::Wheel) {
            for (const auto& path : modules_of_build(distribution)) {
                read_module(index, path, Place::Build);
            }
        }
    }

    enum class Place { Installed, Build };

    void read_module(std::uint32_t index, const std::string& path, Place place) {
        if (modules.size() >= k_most_modules || !goes_on(going)) {
            return;
        }
        ExtensionModule module;
        module.path = path;
        module.distribution = index;
        module.in_build = place == Place::Build;
        module.python_tag = rules::python_tag_of(host::base_name(path));
        const auto made = rules::python_of_tag(module.python_tag);
        const auto here = rules::python_of_site(inventory.distributions[index].site);
        // Of one source built for several Pythons each finds its own.
        const bool other_python = !made.empty() && !here.empty() && made != here && !has_own_python;

        auto file = ElfFile::open(absolute(path));
        if (!file) {
            module.problem = host::reason_of(file.error());
            modules.push_back(std::move(module));
            return;
        }
        module.needed = file->needed();
        const bool links_torch = std::ranges::any_of(module.needed, is_torch_library);
        if (!links_torch && !other_python) {
            return;
        }
        if (links_torch) {
            compare(*file, absolute(path), module);
        }
        modules.push_back(std::move(module));
    }

    TorchLibraries& torch() {
        if (!of_torch) {
            of_torch.emplace(inventory);
        }
        return *of_torch;
    }

    // What torch does not have of what the module asks for.
    void compare(const ElfFile& file, const std::string& path, ExtensionModule& module) {
        if (torch().empty()) {
            return;
        }
        std::vector<ElfFile> others;
        bool all_known = true;
        for (const auto& needed : file.needed()) {
            if (torch().has(needed)) {
                continue;
            }
            const auto found = find_library(file, path, needed);
            if (found) {
                if (auto opened = ElfFile::open(*found)) {
                    others.push_back(std::move(*opened));
                    continue;
                }
            }
            if (is_torch_library(needed)) {
                if (!found) {
                    module.missing_of_torch.push_back(needed);
                }
                all_known = all_known && !found;
            } else {
                all_known = all_known && !found && is_of_the_system(needed);
            }
        }
        auto wanted = file.undefined_symbols();
        if (!wanted) {
            module.problem = wanted.error().message;
            return;
        }
        if (!all_known || !module.missing_of_torch.empty()) {
            return;
        }
        std::vector<std::string> unresolved;
        for (auto& symbol : *wanted) {
            if (!is_symbol_of_torch(symbol) ||
                std::ranges::any_of(others,
                                    [&](const ElfFile& other) { return other.defines(symbol); })) {
                continue;
            }
            const auto defined = torch().define(symbol);
            if (!defined) {
                return; // unknown
            }
            if (!*defined) {
                unresolved.push_back(std::move(symbol));
            }
        }
        leave_out_its_own(unresolved);
        std::ranges::sort(unresolved);
        module.unresolved = std::move(unresolved);
        ask_other_abi(module);
    }

    // Some load a library of theirs for all before their modules.
    void leave_out_its_own(std::vector<std::string>& symbols) const {
        for (const auto& [name, path] : libraries) {
            if (symbols.empty()) {
                return;
            }
            if (const auto file = ElfFile::open(absolute(path))) {
                std::erase_if(symbols,
                              [&](const std::string& symbol) { return file->defines(symbol); });
            }
        }
    }

    void ask_other_abi(ExtensionModule& module) {
        for (std::size_t i = 0; i < module.unresolved.size() && i < k_most_abi_questions; ++i) {
            auto defined = torch().defined_under_other_abi(module.unresolved[i]);
            if (!defined.empty()) {
                module.asked_with_other_abi = module.unresolved[i];
                module.defined_with_other_abi = std::move(defined);
                return;
            }
        }
    }

    // Where the loader would, or might, find it.
    [[nodiscard]] std::optional<std::string>
    find_library(const ElfFile& file, const std::string& path, const std::string& needed) const {
        const std::string directory(host::parent_path(path));
        std::vector<std::string> places{directory};
        for (auto place : file.search_path()) {
            for (const std::string_view origin : {"${ORIGIN}", "$ORIGIN"}) {
                if (const auto at = place.find(origin); at != std::string::npos) {
                    place.replace(at, origin.size(), directory);
                }
            }
            places.push_back(std::move(place));
        }
        places.push_back(inventory.prefix + "/lib");
        host::DiskFileSystem files;
        for (const auto& place : places) {
            auto found = place + '/' + needed;
            if (place.starts_with('/') && files.exists(found)) {
                return found;
            }
        }
        if (const auto own = libraries.find(needed); own != libraries.end()) {
            return absolute(own->second);
        }
        return std::nullopt;
    }
};

} // namespace

std::vector<ExtensionModule> read_extensions(const facts::Inventory& inventory,
                                             const GoesOn& wanted) {
    return Reader{inventory, wanted}.read();
}

} // namespace cudaenv::extensions
