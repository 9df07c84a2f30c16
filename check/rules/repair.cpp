#include "check/rules/repair.hpp"

#include "base/ranges.hpp"

#include <type_traits>

namespace cudaenv::rules {

std::string Remove::words(const facts::Inventory& /*inventory*/) const {
    return "remove " + path;
}

std::string UninstallPip::words(const facts::Inventory& /*inventory*/) const {
    return "uninstall " + distribution + ' ' + version;
}

std::string RestoreKept::words(const facts::Inventory& /*inventory*/) const {
    return "restore the kept copy of " + distribution;
}

std::string RestoreConda::words(const facts::Inventory& inventory) const {
    const facts::CondaPackage& one = inventory.conda[package];
    return "restore the files of conda's " + one.name + ' ' + one.version + ' ' + one.build;
}

std::string RestoreConda::details() const {
    std::string text;
    for (const std::string& file : files) {
        text += file + '\n';
    }
    return text;
}

bool RestoreConda::absorb(const RestoreConda& other) {
    if (package != other.package) {
        return false;
    }
    files.insert(files.end(), other.files.begin(), other.files.end());
    sort_unique(files);
    return true;
}

std::string ReinstallPip::words(const facts::Inventory& /*inventory*/) const {
    return "reinstall " + distribution + "==" + version;
}

std::string words_of(const Repair& repair, const facts::Inventory& inventory) {
    return std::visit([&](const auto& one) { return one.words(inventory); }, repair);
}

std::string identity_of(const Repair& repair, const facts::Inventory& inventory) {
    return std::visit(
        [&](const auto& one) {
            if constexpr (requires { one.details(); }) {
                return one.words(inventory) + '\n' + one.details();
            } else {
                return one.words(inventory);
            }
        },
        repair);
}

bool merge(Repair& into, const Repair& other) {
    return into.index() == other.index() &&
           std::visit(
               [&](auto& one) {
                   const auto& two = std::get<std::decay_t<decltype(one)>>(other);
                   if constexpr (requires { one.absorb(two); }) {
                       return one.absorb(two);
                   } else {
                       return one == two;
                   }
               },
               into);
}

} // namespace cudaenv::rules
