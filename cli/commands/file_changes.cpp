#include "cli/commands/file_changes.hpp"

#include "base/json_bytes.hpp"
#include "cli/output.hpp"
#include "cli/render/render.hpp"
#include "cli/report.hpp"
#include "cli/this_caller.hpp"

#include <array>
#include <unistd.h>

namespace cudaenv::cli {

namespace {

// In the order of FileChange.
constexpr std::array k_names{"written", "removed", "kept", "absent", "foreign"};

} // namespace

Result<int> show_file_changes(const FileChanges& changes, const OutputWishes& output) {
    nlohmann::json files = nlohmann::json::array();
    for (const ChangedFile& file : changes.files) {
        files.push_back(
            {{"path", file.path}, {"change", k_names[static_cast<std::size_t>(file.change)]}});
    }
    const nlohmann::json object = {{"schema", "cudaenv.change/1"},
                                   {"command", changes.command},
                                   {"files", std::move(files)},
                                   {"next", text_or_null(changes.next)}};
    if (output.json) {
        CUDAENV_TRY_VOID(write_all(STDOUT_FILENO, as_json(object)));
    } else if (!output.quiet) {
        const Terminal terminal = terminal_of(STDOUT_FILENO);
        CUDAENV_TRY_VOID(
            write_all(STDOUT_FILENO,
                      render(object, style_for(terminal, output.colour, this_caller(terminal)))));
    }
    return 0;
}

} // namespace cudaenv::cli
