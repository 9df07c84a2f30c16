#include "base/text.hpp"
#include "daemon/methods/methods.hpp"
#include "daemon/schemas/schemas.hpp"
#include "protocol/json_field.hpp"

namespace cudaenv::daemon {

Result<protocol::Reply> schema(const nlohmann::json& params, const protocol::Caller&, Machine&,
                               const Waiter&) {
    CUDAENV_TRY(const auto name, protocol::string_field(params, "schema"));
    std::vector<std::string> names;
    for (const Schema& known : schemas()) {
        if (name && known.name == *name) {
            return protocol::Reply{0, nlohmann::json::parse(known.text)};
        }
        names.emplace_back(known.name);
    }
    const std::string all = "there are " + join(names, ", ");
    if (!name) {
        return bad_input("no-schema-name", "no schema is named", all);
    }
    const std::string near = did_you_mean(*name, names);
    auto error = bad_input("no-such-schema", "there is no schema \"" + *name + '"',
                           near.empty() ? all : near + ' ' + all);
    return error;
}

} // namespace cudaenv::daemon
