#include "kernels/ladder_request.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <utility>

namespace cudaenv::kernels {

namespace {

using nlohmann::json;

auto bad_request(std::string what) {
    return bad_input("bad-request", "the request " + std::move(what));
}

Result<std::vector<std::string>> read_files(const char* name, const json& value) {
    std::vector<std::string> files;
    const auto not_names = [&] {
        return bad_request("has libraries." + std::string(name) + " that is no list of file names");
    };
    if (!value.is_array()) {
        return not_names();
    }
    for (const auto& file : value) {
        if (!file.is_string() || file.get_ref<const std::string&>().empty()) {
            return not_names();
        }
        files.push_back(file.get<std::string>());
    }
    return files;
}

Result<LadderLibraries> read_libraries(const json& value) {
    if (!value.is_object()) {
        return bad_request("has libraries that are no object");
    }
    LadderLibraries libraries;
    const std::array<std::pair<const char*, std::vector<std::string>*>, 5> lists = {{
        {"cudart", &libraries.cudart},
        {"nvrtc", &libraries.nvrtc},
        {"cublas", &libraries.cublas},
        {"cudnn", &libraries.cudnn},
        {"nccl", &libraries.nccl},
    }};
    for (const auto& [name, list] : lists) {
        if (const auto found = value.find(name); found != value.end()) {
            CUDAENV_TRY(*list, read_files(name, *found));
        }
    }
    return libraries;
}

} // namespace

Result<LadderRequest> read_ladder_request(std::string_view text) {
    const auto document = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!document.is_object()) {
        return bad_request("is no JSON object");
    }
    LadderRequest request;
    if (const auto depth = document.find("depth"); depth != document.end()) {
        if (*depth != "quick" && *depth != "full") {
            return bad_request("has a depth that is neither \"quick\" nor \"full\"");
        }
        request.full = *depth == "full";
    }
    if (const auto all = document.find("all_gpus"); all != document.end()) {
        if (!all->is_boolean()) {
            return bad_request("has all_gpus that is neither true nor false");
        }
        request.all_gpus = all->get<bool>();
    }
    if (const auto libraries = document.find("libraries"); libraries != document.end()) {
        CUDAENV_TRY(request.libraries, read_libraries(*libraries));
    }
    return request;
}

} // namespace cudaenv::kernels
