#include "daemon/check/finding_json.hpp"

#include "protocol/json_field.hpp"
#include "solver/plan/outcome_json.hpp"

namespace cudaenv::daemon {

std::string words_of(const plan::Repair& repair, const facts::Inventory& inventory) {
    switch (repair.kind) {
    case plan::Repair::Kind::Remove:
        return "remove " + repair.path;
    case plan::Repair::Kind::RestoreKept:
        return "put the kept copy of " + repair.distribution + " back";
    case plan::Repair::Kind::RestoreConda: {
        const facts::CondaPackage& package = inventory.conda[repair.package];
        return "put the files of conda's " + package.name + ' ' + package.version + ' ' +
               package.build + " back";
    }
    case plan::Repair::Kind::UninstallPip:
        return "uninstall " + repair.distribution + ' ' + repair.version;
    case plan::Repair::Kind::ReinstallPip:
        break;
    }
    return "install " + repair.distribution + "==" + repair.version + " again";
}

nlohmann::json to_json(const plan::CheckFinding& found, const facts::Inventory& inventory,
                       ListRoom& room) {
    nlohmann::json object = plan::to_json(found.finding);
    // A path is bytes.
    for (std::size_t i = 0; i < found.finding.evidence.size(); ++i) {
        const std::string& path = found.finding.evidence[i].path;
        object["evidence"][i]["path"] =
            path.empty() ? nlohmann::json() : protocol::bytes_to_json(path);
    }
    nlohmann::json files = nlohmann::json::array();
    for (const std::string& file : found.files) {
        if (!room.takes(file.size())) {
            break;
        }
        files.push_back(protocol::bytes_to_json(file));
    }
    nlohmann::json repairs = nlohmann::json::array();
    for (const plan::Repair& repair : found.repairs) {
        repairs.push_back(protocol::bytes_to_json(words_of(repair, inventory)));
    }
    object["subject"] = found.subject;
    object["files"] = std::move(files);
    object["file_count"] = found.files.size();
    object["repairs"] = std::move(repairs);
    return object;
}

} // namespace cudaenv::daemon
