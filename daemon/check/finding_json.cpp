#include "daemon/check/finding_json.hpp"

#include "base/json_bytes.hpp"
#include "protocol/json_field.hpp"
#include "solver/resolve/outcome_json.hpp"

namespace cudaenv::daemon {

nlohmann::json to_json(const rules::CheckFinding& found, const facts::Inventory& inventory,
                       ListRoom& room) {
    nlohmann::json object = resolve::to_json(found.finding);
    // A path is bytes.
    for (std::size_t i = 0; i < found.finding.evidence.size(); ++i) {
        const std::string& path = found.finding.evidence[i].path;
        object["evidence"][i]["path"] = bytes_or_null(path);
    }
    nlohmann::json files = nlohmann::json::array();
    for (const std::string& file : found.files) {
        if (!room.takes(file.size())) {
            break;
        }
        files.push_back(protocol::bytes_to_json(file));
    }
    object["subject"] = found.subject;
    object["files"] = std::move(files);
    object["file_count"] = found.files.size();
    object["repairs"] = json_list(found.repairs, [&](const rules::Repair& repair) {
        return protocol::bytes_to_json(rules::words_of(repair, inventory));
    });
    return object;
}

} // namespace cudaenv::daemon
