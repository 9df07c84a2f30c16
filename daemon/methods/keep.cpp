#include "check/repair/keep.hpp"

#include "base/json_bytes.hpp"
#include "base/printable.hpp"
#include "base/shell_word.hpp"
#include "base/text.hpp"
#include "check/rules/evidence.hpp"
#include "check/rules/origin.hpp"
#include "daemon/check/examination.hpp"
#include "daemon/methods/methods.hpp"
#include "daemon/waiter.hpp"
#include "protocol/json_field.hpp"
#include "solver/specs/requirement.hpp"

#include <ctime>

namespace cudaenv::daemon {

namespace {

nlohmann::json to_json(const repair::KeptDistribution& kept, const repair::KeptStore& store) {
    const std::string files = store.files_of(kept);
    return {{"name", protocol::bytes_to_json(kept.name)},
            {"version", protocol::bytes_to_json(kept.version)},
            {"files", kept.files.size()},
            {"bytes", kept.bytes()},
            {"kept_at", rules::utc(kept.kept_at * 1'000'000'000)},
            {"source", bytes_or_null(kept.source)},
            {"editable", kept.editable},
            {"path", protocol::bytes_to_json(files.substr(0, files.rfind('/')))}};
}

nlohmann::json object_of(const Examination& examination, const char* action,
                         const std::vector<repair::KeptDistribution>& kept,
                         const repair::KeptStore& store) {
    auto list =
        json_list(kept, [&](const repair::KeptDistribution& one) { return to_json(one, store); });
    return {{"schema", "cudaenv.kept/1"},
            {"environment", protocol::bytes_to_json(examination.inventory().prefix)},
            {"action", action},
            {"kept", std::move(list)},
            {"notes", nlohmann::json::array()}};
}

// Of several of that name the one that is imported.
Result<std::uint32_t> distribution_named(const Examination& examination, const std::string& word) {
    const std::string name = specs::normalize_project_name(word);
    const auto& all = examination.inventory().distributions;
    std::vector<std::string> names;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        if (all[i].name == name) {
            return i;
        }
        names.push_back(all[i].name);
    }
    return bad_input("no-such-distribution",
                     cudaenv::quoted(word) + " is not installed in " +
                         printable(examination.inventory().prefix),
                     did_you_mean(name, names));
}

// What an index or a channel has can be had from there again.
Result<void> check_worth(const Examination& examination, std::uint32_t number, bool insists) {
    const facts::Distribution& one = examination.inventory().distributions[number];
    const bool of_conda = examination.ownership().of(number).owner == rules::Owner::Conda;
    const bool of_system = examination.ownership().of(number).owner == rules::Owner::System;
    const bool of_index =
        rules::origin_of(one) == facts::Origin::Wheel && rules::is_of_an_index(one);
    if (insists || (!of_conda && !of_system && !of_index)) {
        return {};
    }
    return bad_input("can-be-had-again",
                     rules::title_of(one) + " can be installed again from " +
                         (of_conda    ? "its conda channel"
                          : of_system ? "the system's packages"
                                      : "its index"),
                     "`cudaenv keep --yes " + shell_word(one.name) + "` keeps it anyway");
}

std::string counted_files(std::size_t number) {
    return rules::counted(number, "file");
}

Result<protocol::Reply> keep_one(const Examination& examination, const repair::KeptStore& store,
                                 const protocol::Caller& caller, const std::string& word,
                                 bool insists, const GoesOn& wanted) {
    CUDAENV_TRY(const auto number, distribution_named(examination, word));
    CUDAENV_TRY_VOID(check_worth(examination, number, insists));
    const facts::Distribution& one = examination.inventory().distributions[number];
    const std::string source = rules::source_of(one);
    CUDAENV_TRY(const auto keeping,
                keep(store, examination.inventory(), one, source, std::time(nullptr), wanted));
    memories_of(caller).write(examination.inventory().prefix, examination.memory_with_kept(one));
    nlohmann::json object = object_of(examination, "kept", {keeping.kept}, store);
    if (keeping.kept.editable) {
        object["notes"].push_back("editable: its records are kept; its source stays in " +
                                  printable(source));
    }
    if (!keeping.changed.empty()) {
        object["notes"].push_back(
            counted_files(keeping.changed.size()) +
            " kept with content that differs from RECORD: " + printable(keeping.changed.front()));
    }
    if (!keeping.outside.empty()) {
        object["notes"].push_back(
            counted_files(keeping.outside.size()) +
            " outside the environment not kept: " + printable(keeping.outside.front()));
    }
    return protocol::Reply{0, std::move(object)};
}

// NAME: all versions of it; NAME==VERSION.
Result<protocol::Reply> forget(const Examination& examination, const repair::KeptStore& store,
                               const std::string& word) {
    const auto equals = word.find("==");
    const std::string name = specs::normalize_project_name(word.substr(0, equals));
    const std::string version = equals == std::string::npos ? "" : word.substr(equals + 2);
    std::vector<repair::KeptDistribution> gone;
    std::vector<std::string> names;
    for (repair::KeptDistribution& kept : store.list(examination.inventory().prefix)) {
        names.push_back(kept.name);
        if (kept.name == name && (version.empty() || kept.version == version)) {
            CUDAENV_TRY_VOID(store.forget(kept));
            gone.push_back(std::move(kept));
        }
    }
    if (gone.empty()) {
        return bad_input("not-kept",
                         "there is no kept copy of " + cudaenv::quoted(word) + " in " +
                             printable(examination.inventory().prefix),
                         did_you_mean(name, names));
    }
    return protocol::Reply{0, object_of(examination, "forgotten", gone, store)};
}

} // namespace

// Params: those of Examination; `arguments`: a distribution, or `list`, or `forget`: a name. `yes`:
// also what can be had again.
Result<protocol::Reply> keep(const nlohmann::json& params, const protocol::Caller& caller,
                             Machine& machine, const Waiter& waiter) {
    CUDAENV_TRY(const auto words, protocol::strings_field(params, "arguments"));
    CUDAENV_TRY(const bool lists, protocol::bool_field(params, "list", false));
    CUDAENV_TRY(const bool insists, protocol::bool_field(params, "yes", false));
    CUDAENV_TRY(const auto forgotten, protocol::string_field(params, "forget"));
    if (static_cast<int>(!words.empty()) + static_cast<int>(lists) +
            static_cast<int>(forgotten.has_value()) >
        1) {
        return bad_input("two-wishes", "more than one action was requested",
                         "expected one of DIST, --list and --forget DIST");
    }
    Heartbeat heartbeat(waiter, "copies");
    CUDAENV_TRY(
        const auto examination,
        Examination::of(params, caller, machine, rules::CheckDepth::Records, heartbeat.goes_on()));
    const repair::KeptStore store(memories_of(caller).directory());
    if (forgotten) {
        return forget(*examination, store, *forgotten);
    }
    if (!words.empty()) {
        return keep_one(*examination, store, caller, words.front(), insists, heartbeat.goes_on());
    }
    return protocol::Reply{
        0, object_of(*examination, "list", store.list(examination->inventory().prefix), store)};
}

} // namespace cudaenv::daemon
