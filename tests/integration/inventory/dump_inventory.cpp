// Tells an inventory as JSON, for tests in Python, or how long it takes.
// usage: dump_inventory PREFIX               one JSON object on standard output
//        dump_inventory --time RUNS PREFIX   milliseconds of read_inventory and of the join, a line
//                                            each run; then memory and counts
//        dump_inventory --examine PREFIX [CACHE]          what lies at the claimed paths, as JSON;
//                                            CACHE: a directory of digests of its own
//        dump_inventory --time-examine RUNS PREFIX [CACHE]      milliseconds of examine, a line
//        each
//                                            run; then what the last took
//        dump_inventory --refresh PREFIX     keeps the inventory: for each line on standard input
//        it
//                                            is refreshed, and reported in a line with
//                                            "records_read"
// Names of files are bytes: each byte is the character of that number (Latin-1).
#include "check/inventory/examine.hpp"
#include "check/inventory/read_inventory.hpp"
#include "solver/facts/claims.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

using namespace cudaenv;
using nlohmann::json;

std::string latin_1(std::string_view bytes) {
    std::string text;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x80) {
            text += c;
        } else {
            text += static_cast<char>(0xc0U | (byte >> 6U));
            text += static_cast<char>(0x80U | (byte & 0x3fU));
        }
    }
    return text;
}

json texts(const std::vector<std::string>& list) {
    json result = json::array();
    for (const auto& text : list) {
        result.push_back(latin_1(text));
    }
    return result;
}

std::string hex(const facts::Sha256Digest& digest) {
    std::string text;
    for (const unsigned byte : digest) {
        text += "0123456789abcdef"[byte >> 4U];
        text += "0123456789abcdef"[byte & 15U];
    }
    return text;
}

// [path, kind, hash, size, prefix replaced]
json files_of(const facts::FileClaims& files) {
    json result = json::array();
    for (std::size_t number = 0; number < files.size(); ++number) {
        const auto& claim = files[number];
        const char* kind = claim.kind == facts::ClaimKind::File       ? "file"
                           : claim.kind == facts::ClaimKind::Softlink ? "softlink"
                                                                      : "directory";
        const auto hash = claim.hash == facts::ClaimHash::Sha256
                              ? "sha256=" + hex(claim.sha256)
                              : latin_1(files.other_hash(number));
        result.push_back({latin_1(files.path(number)), kind, hash,
                          claim.size == facts::FileClaim::k_no_size ? json() : json(claim.size),
                          claim.prefix_replaced});
    }
    return result;
}

json of_distribution(const facts::Distribution& result) {
    static const char* const k_kinds[] = {"dist-info", "egg-info directory", "egg-info file",
                                          "egg-link",  "egg directory",      "egg file"};
    json out = {{"name", latin_1(result.name)},
                {"written", latin_1(result.written)},
                {"version", latin_1(result.version)},
                {"installer", latin_1(result.installer)},
                {"metadata", latin_1(result.metadata)},
                {"kind", k_kinds[static_cast<int>(result.kind)]},
                {"site", latin_1(result.site)},
                {"requires", texts(result.requires_dist)},
                {"requested", result.requested},
                {"has_metadata", result.has_metadata},
                {"has_record", result.has_record},
                {"tags", texts(result.tags)},
                {"generator", latin_1(result.generator)},
                {"source_directory", latin_1(result.source_directory)},
                {"installed_ns", result.installed_ns},
                {"damaged_lines", result.damaged_lines},
                {"files", files_of(result.files)}};
    if (result.direct_url) {
        out["direct_url"] = {{"url", latin_1(result.direct_url->url)},
                             {"editable", result.direct_url->editable},
                             {"vcs", latin_1(result.direct_url->vcs)},
                             {"commit", latin_1(result.direct_url->commit)},
                             {"archive_hash", latin_1(result.direct_url->archive_hash)},
                             {"local_directory", latin_1(result.direct_url->local_directory)}};
    }
    return out;
}

json of_inventory(const facts::Inventory& inventory) {
    static const char* const k_leftovers[] = {"interrupted-uninstall", "no-metadata", "no-record"};
    json out = {{"prefix", latin_1(inventory.prefix)},
                {"conda_prefix", inventory.conda_prefix},
                {"sites", texts(inventory.sites)},
                {"conda", json::array()},
                {"distributions", json::array()},
                {"leftovers", json::array()},
                {"path_files", json::array()},
                {"notes", json::array()},
                {"shared", json::array()}};
    for (const auto& package : inventory.conda) {
        out["conda"].push_back({{"name", latin_1(package.name)},
                                {"version", latin_1(package.version)},
                                {"build", latin_1(package.build)},
                                {"channel", latin_1(package.channel)},
                                {"depends", texts(package.depends)},
                                {"record", latin_1(package.record)},
                                {"written_ns", package.written_ns},
                                {"files", files_of(package.files)}});
    }
    for (const auto& distribution : inventory.distributions) {
        out["distributions"].push_back(of_distribution(distribution));
    }
    for (const auto& leftover : inventory.leftovers) {
        out["leftovers"].push_back({{"kind", k_leftovers[static_cast<int>(leftover.kind)]},
                                    {"path", latin_1(leftover.path)},
                                    {"name", latin_1(leftover.name)},
                                    {"version", latin_1(leftover.version)}});
    }
    for (const auto& file : inventory.path_files) {
        out["path_files"].push_back({{"path", latin_1(file.path)},
                                     {"directories", texts(file.directories)},
                                     {"finders", texts(file.finders)}});
    }
    for (const auto& note : inventory.notes) {
        out["notes"].push_back({latin_1(note.path), latin_1(note.reason)});
    }
    const facts::Claims claims(inventory);
    claims.for_each_shared([&](std::string_view path, std::span<const facts::Claim> by) {
        json owners = json::array();
        for (const auto& claim : by) {
            owners.push_back(claim.by == facts::Claim::By::Conda
                                 ? latin_1(inventory.conda[claim.package].record)
                                 : latin_1(inventory.distributions[claim.package].metadata));
        }
        out["shared"].push_back({latin_1(path), owners});
    });
    return out;
}

int dump(const std::string& prefix) {
    const auto inventory = inventory::read_inventory(prefix);
    if (!inventory) {
        std::fprintf(stderr, "%s\n", inventory.error().message.c_str());
        return 1;
    }
    const auto text = of_inventory(*inventory).dump();
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

int keep_it(const std::string& prefix) {
    inventory::KeptInventory kept(prefix);
    for (int byte = std::getchar(); byte != EOF; byte = std::getchar()) {
        if (byte != '\n') {
            continue;
        }
        if (const auto refreshed = kept.refresh(); !refreshed) {
            std::fprintf(stderr, "%s\n", refreshed.error().message.c_str());
            return 1;
        }
        auto result = of_inventory(kept.inventory());
        result["records_read"] = kept.records_read();
        std::puts(result.dump().c_str());
        std::fflush(stdout);
    }
    return 0;
}

int time_it(int runs, const std::string& prefix) {
    using Clock = std::chrono::steady_clock;
    const auto milliseconds = [](Clock::duration spent) {
        return std::chrono::duration<double, std::milli>(spent).count();
    };
    for (int run = 0; run < runs; ++run) {
        const auto begin = Clock::now();
        const auto inventory = inventory::read_inventory(prefix);
        const auto read = Clock::now();
        if (!inventory) {
            std::fprintf(stderr, "%s\n", inventory.error().message.c_str());
            return 1;
        }
        const facts::Claims claims(*inventory);
        const auto joined = Clock::now();
        std::printf("%.3f %.3f\n", milliseconds(read - begin), milliseconds(joined - read));
        if (run + 1 == runs) {
            std::size_t bytes = 0;
            for (const auto& package : inventory->conda) {
                bytes += package.files.bytes();
            }
            for (const auto& distribution : inventory->distributions) {
                bytes += distribution.files.bytes();
            }
            std::printf("claims %zu bytes %zu join %zu packages %zu\n", claims.size(), bytes,
                        claims.bytes(), inventory->conda.size() + inventory->distributions.size());
        }
    }
    return 0;
}

json of_state(const facts::Inventory& inventory, const facts::Claims& claims,
              const std::string& path, const facts::PathState& state) {
    static const char* const k_lies[] = {"missing", "file",       "link",      "directory",
                                         "other",   "redirected", "unreadable"};
    static const char* const k_fits[] = {"same", "missing", "other", "unknown"};
    json fits = json::array();
    for (const auto& claim : claims.of(path)) {
        fits.push_back({claim.by == facts::Claim::By::Conda
                            ? latin_1(inventory.conda[claim.package].record)
                            : latin_1(inventory.distributions[claim.package].metadata),
                        k_fits[static_cast<int>(facts::fit_of(claims.file(claim), &state))]});
    }
    return {{"lies", k_lies[static_cast<int>(state.lies)]},
            {"sha256", state.sha256 ? json(hex(*state.sha256)) : json()},
            {"size", state.size},
            {"changed_ns", state.changed_ns},
            {"fits", std::move(fits)}};
}

int examine_it(int runs, bool tell, const std::string& prefix, const std::string& directory) {
    const auto inventory = inventory::read_inventory(prefix);
    if (!inventory) {
        std::fprintf(stderr, "%s\n", inventory.error().message.c_str());
        return 1;
    }
    const facts::Claims claims(*inventory);
    for (int run = 0; run < runs; ++run) {
        const auto begin = std::chrono::steady_clock::now();
        inventory::DigestCache cache(directory, "this machine");
        inventory::ExaminationCost cost;
        const auto examined = examine(*inventory, claims, cache, 0, &cost);
        const auto spent = std::chrono::steady_clock::now() - begin;
        cache.save();
        json out = {{"looked_at", cost.looked_at},
                    {"from_cache", cost.from_cache},
                    {"hashed", cost.hashed},
                    {"bytes", cost.bytes},
                    {"held", examined.states().size()}};
        if (!tell) {
            std::printf("%.3f\n", std::chrono::duration<double, std::milli>(spent).count());
        } else {
            out["states"] = json::object();
            for (const auto& [path, state] : examined.states()) {
                out["states"][latin_1(path)] = of_state(*inventory, claims, path, state);
            }
        }
        if (run + 1 == runs) {
            const auto text = out.dump();
            std::fwrite(text.data(), 1, text.size(), stdout);
        }
    }
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    const std::string first = argc > 1 ? argv[1] : "";
    if (first == "--time" && argc == 4) {
        return time_it(std::atoi(argv[2]), argv[3]);
    }
    if (first == "--examine" && (argc == 3 || argc == 4)) {
        return examine_it(1, true, argv[2], argc == 4 ? argv[3] : "");
    }
    if (first == "--refresh" && argc == 3) {
        return keep_it(argv[2]);
    }
    if (first == "--time-examine" && (argc == 4 || argc == 5)) {
        return examine_it(std::atoi(argv[2]), false, argv[3], argc == 5 ? argv[4] : "");
    }
    if (argc != 2) {
        std::fprintf(
            stderr,
            "usage: dump_inventory [--time RUNS | --examine | --time-examine RUNS] PREFIX\n");
        return 2;
    }
    return dump(first);
}
