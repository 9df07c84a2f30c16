#include "cli/commands/kernelspec.hpp"

#include "base/raw_bytes.hpp"

#include <nlohmann/json.hpp>

namespace cudaenv::cli {

namespace {

using Json = nlohmann::ordered_json; // a person's file keeps its order

// $0 is cudaenv, $1 the environment. exec: signals and the status go to the kernel itself.
constexpr const char* k_script =
    R"sh(p=$1; shift; if [ -x "$0" ]; then exec "$0" run -p "$p" -- "$@"; fi; exec "$@")sh";
constexpr std::size_t k_own_words = 5; // sh, -c, script, cudaenv, prefix

Result<Json> parse(std::string_view text) {
    Json kernel = Json::parse(text, nullptr, false);
    const auto argv = kernel.is_object() ? kernel.find("argv") : kernel.end();
    bool good =
        !kernel.is_discarded() && argv != kernel.end() && argv->is_array() && !argv->empty();
    for (std::size_t i = 0; good && i < argv->size(); ++i) {
        good = (*argv)[i].is_string();
    }
    if (!good) {
        return bad_input("bad-kernel", "is not a kernel specification",
                         "expected a JSON object with a list `argv` of words");
    }
    return kernel;
}

bool is_wrapped(const Json& argv) {
    // Every version of the script has these words, so a kernel is never wrapped twice.
    return argv.size() > k_own_words && argv[1] == "-c" &&
           argv[2].get<std::string>().find(R"(exec "$0" run -p)") != std::string::npos;
}

void unwrap(Json& argv) {
    if (is_wrapped(argv)) {
        argv.erase(argv.begin(), argv.begin() + k_own_words);
    }
}

std::string text_of(const Json& kernel) {
    return kernel.dump(1) + '\n'; // as Jupyter writes its own
}

} // namespace

Result<std::string> kernel_program(std::string_view json) {
    CUDAENV_TRY(Json kernel, parse(json));
    unwrap(kernel["argv"]);
    return kernel["argv"][0].get<std::string>();
}

bool is_wrapped_kernel(std::string_view json) {
    const auto kernel = parse(json);
    return kernel && is_wrapped((*kernel)["argv"]);
}

Result<std::string> wrapped_kernel(std::string_view json, const std::string& program,
                                   const std::string& prefix) {
    if (!is_utf8(program) || !is_utf8(prefix)) {
        return unavailable("unusable-prefix", "cannot name a path that is not UTF-8",
                           "move cudaenv or the environment to a path that is UTF-8");
    }
    CUDAENV_TRY(Json kernel, parse(json));
    Json& argv = kernel["argv"];
    unwrap(argv);
    Json words = {"/bin/sh", "-c", k_script, program, prefix};
    words.insert(words.end(), argv.begin(), argv.end());
    argv = std::move(words);
    return text_of(kernel);
}

Result<std::string> plain_kernel(std::string_view json) {
    CUDAENV_TRY(Json kernel, parse(json));
    if (!is_wrapped(kernel["argv"])) {
        return std::string(json);
    }
    unwrap(kernel["argv"]);
    return text_of(kernel);
}

} // namespace cudaenv::cli
