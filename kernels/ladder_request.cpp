#include "kernels/ladder_request.hpp"

#include "base/json_bytes.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace cudaenv::kernels {

namespace {

using nlohmann::json;

auto bad_request(std::string what) {
    return bad_input("bad-request", "the request " + std::move(what));
}

Result<std::vector<std::string>> read_files(const std::string& name, const json& value) {
    std::vector<std::string> files;
    const auto not_names = [&] {
        return bad_request("has libraries." + name + " that is not a list of file names");
    };
    if (!value.is_array()) {
        return not_names();
    }
    for (const auto& file : value) {
        auto bytes = bytes_of_json(file);
        if (!bytes || bytes->empty()) {
            return not_names();
        }
        files.push_back(std::move(*bytes));
    }
    return files;
}

// Those that no rung asks for are passed over there.
Result<LadderLibraries> read_libraries(const json& value) {
    if (!value.is_object()) {
        return bad_request("has libraries that are not an object");
    }
    LadderLibraries libraries;
    for (const auto& [name, list] : value.items()) {
        CUDAENV_TRY(auto files, read_files(name, list));
        libraries.set(name, std::move(files));
    }
    return libraries;
}

} // namespace

const std::vector<std::string>& LadderLibraries::of(std::string_view word) const {
    static const std::vector<std::string> k_none;
    const auto found = m_files.find(word);
    return found == m_files.end() ? k_none : found->second;
}

void LadderLibraries::set(std::string word, std::vector<std::string> files) {
    m_files.insert_or_assign(std::move(word), std::move(files));
}

std::vector<std::string> LadderLibraries::all() const {
    std::vector<std::string> all;
    for (const auto& [word, files] : m_files) {
        all.insert(all.end(), files.begin(), files.end());
    }
    return all;
}

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
    if (const auto parent = document.find("parent"); parent != document.end()) {
        if (!parent->is_number_integer()) {
            return bad_request("has a parent that is not a process");
        }
        request.parent = parent->get<int>();
    }
    if (const auto libraries = document.find("libraries"); libraries != document.end()) {
        CUDAENV_TRY(request.libraries, read_libraries(*libraries));
    }
    return request;
}

} // namespace cudaenv::kernels
