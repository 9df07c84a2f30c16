#include "solver/specs/oracle.hpp"

#include "base/text.hpp"
#include "daemon/methods/methods.hpp"
#include "protocol/json_field.hpp"

#include <limits>

namespace cudaenv::daemon {

// A batch of question lines in, their answers out, one line each; empty lines are no questions.
Result<protocol::Reply> oracle(const nlohmann::json& params, const protocol::Caller&, Machine&,
                               const Waiter&) {
    CUDAENV_TRY(const auto lines, protocol::string_field(params, "lines"));
    CUDAENV_TRY(const auto first, protocol::integer_field(params, "first_line", 1,
                                                          std::numeric_limits<int>::max(), 1));
    if (!lines) {
        return bad_input("no-lines", "no questions were asked");
    }
    std::string answers;
    auto number = static_cast<int>(first);
    for (const std::string_view line : split(*lines, '\n')) {
        if (!trim(line).empty()) {
            auto answer = specs::oracle::answer(line);
            if (!answer) {
                answer.error().path = "standard input";
                answer.error().line = number;
                return tl::unexpected(std::move(answer).error());
            }
            answers += *answer + '\n';
        }
        ++number;
    }
    return protocol::Reply{0, {{"schema", "cudaenv.oracle/1"}, {"lines", std::move(answers)}}};
}

} // namespace cudaenv::daemon
