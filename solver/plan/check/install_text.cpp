#include "solver/plan/check/install_text.hpp"

#include "base/shell_word.hpp"

namespace cudaenv::plan {

namespace {

std::string with_words(std::string command, const std::vector<std::string>& words) {
    for (const auto& word : words) {
        command += ' ' + shell_word(word);
    }
    return command;
}

} // namespace

std::string pip_install(const CheckScene& scene, const facts::Distribution* like,
                        const std::vector<std::string>& words) {
    if (like != nullptr && like->installer == "uv") {
        return with_words("uv pip install --python " + shell_word(scene.inventory.prefix), words);
    }
    return with_words(shell_word(absolute_path(scene, "bin/python")) + " -m pip install", words);
}

std::string conda_install(const CheckScene& scene, const std::vector<std::string>& words) {
    return with_words("conda install -p " + shell_word(scene.inventory.prefix), words);
}

std::string absolute_path(const CheckScene& scene, std::string_view path) {
    if (path.starts_with('/')) {
        return std::string(path);
    }
    const auto& prefix = scene.inventory.prefix;
    return (prefix == "/" ? std::string() : prefix) + '/' + std::string(path);
}

} // namespace cudaenv::plan
