// What of an environment stays, and what has to change for an answer: first everything is kept;
// where that has no answer, what is installed is put back one by one, as much of each as can be.
// Internal to solver/resolve; pure.
#pragma once

#include "base/result.hpp"
#include "solver/resolve/outcome.hpp"
#include "solver/resolve/request.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace cudaenv::resolve {

// How the environment asks: an answer to a request, or the first reason against one.
struct Asking {
    std::function<Result<std::optional<Outcome>>(const Request&)> answer;
    std::function<Result<std::string>(const Request&)> reason;
};

// The environment's Python becomes a pin. Error "other-python": the request names another one.
Result<void> take_python(Request& request);

// conda's torch or TensorFlow is installed: what of the request conda has here, and what comes by
// pip alone (xformers, transformers), which installs it beside them and must not replace them.
struct BesideConda {
    std::vector<std::string> of_conda;
    std::vector<std::string> of_pip;

    [[nodiscard]] bool is_for_pip() const { return of_conda.empty() && !of_pip.empty(); }
};
BesideConda beside_conda(const Request& request);

// std::nullopt: there is no answer, whatever changes. `request.kept` is then what stays of the
// environment in the question that has none.
Result<std::optional<Outcome>> answer_in_environment(Request& request, const Asking& asking);

} // namespace cudaenv::resolve
