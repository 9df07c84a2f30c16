#include "solver/knowledge/frameworks.hpp"

#include "base/ranges.hpp"
#include "solver/knowledge/table.hpp"

namespace cudaenv::knowledge {

namespace {

std::vector<Framework> read_frameworks() {
    std::vector<Framework> rows;
    read_table("frameworks", [&](std::string_view section, const Row& row) {
        if (section != "frameworks") {
            return;
        }
        Framework framework;
        framework.name = row.text("name");
        framework.conda = row.list("conda");
        framework.module = row.find("module").value_or(framework.name);
        framework.family = row.text("family");
        framework.role = row.text("role");
        framework.table = row.find("table").value_or("");
        framework.cpu_build = row.flag("cpu_build");
        framework.repository = row.find("repository").value_or("");
        for (const auto& [release, gcc] : row.pairs("gcc_min")) {
            framework.gcc_min.emplace_back(DottedVersion::of(release), std::stoi(gcc));
        }
        framework.same_version = row.find("same_version").value_or("");
        framework.compared_at_import = row.find("compared_at_import").value_or("");
        framework.note = row.find("note").value_or("");
        framework.source = row.source();
        rows.push_back(std::move(framework));
    });
    return rows;
}

LibraryUser::Without without_of(std::string_view text) {
    return text == "import" ? LibraryUser::Without::ImportFails
           : text == "cpu"  ? LibraryUser::Without::RunsOnCpu
                            : LibraryUser::Without::UseFails;
}

} // namespace

std::span<const Framework> frameworks() {
    static const std::vector<Framework> rows = read_frameworks();
    return rows;
}

const Framework* find_framework(std::string_view name) {
    const auto rows = frameworks();
    return find_pointer_if(
        rows, [&](const Framework& row) { return row.name == name || is_one_of(name, row.conda); });
}

std::span<const LibraryUser> library_users() {
    static const std::vector<LibraryUser> rows = [] {
        std::vector<LibraryUser> read;
        read_table("frameworks", [&](std::string_view section, const Row& row) {
            if (section == "library_users") {
                read.push_back({row.list("names"), row.list("files"),
                                without_of(row.text("without")), row.source()});
            }
        });
        return read;
    }();
    return rows;
}

std::optional<int> oldest_gcc(const Framework& framework, const DottedVersion& release) {
    std::optional<int> oldest;
    for (const auto& [from, gcc] : framework.gcc_min) {
        if (release >= from) {
            oldest = gcc;
        }
    }
    return oldest;
}

} // namespace cudaenv::knowledge
