#include "solver/resolve/outcome_json.hpp"

#include "solver/facts/json_fields.hpp"

#include <array>

namespace cudaenv {

namespace facts {

constexpr auto words_of(Severity /*type*/) {
    return std::to_array<const char*>({"error", "warning", "note"});
}

constexpr auto fields_of(const Evidence* /*type*/) {
    return std::tuple(Field("path", &Evidence::path),
                      Field("line", &Evidence::line, Presence::FromOne),
                      Field("text", &Evidence::text, Presence::Text));
}

constexpr auto fields_of(const Fix* /*type*/) {
    return std::tuple(Field("text", &Fix::text, Presence::Text), Field("command", &Fix::command));
}

constexpr auto fields_of(const Finding* /*type*/) {
    return std::tuple(
        Field("code", &Finding::code, Presence::Text), Field("severity", &Finding::severity),
        Field("title", &Finding::title, Presence::Text), Field("evidence", &Finding::evidence),
        Field("cause", &Finding::cause, Presence::Text), Field("fix", &Finding::fix));
}

} // namespace facts

namespace knowledge {

constexpr auto words_of(Answer /*type*/) {
    return std::to_array<const char*>({"no", "unknown", "yes"});
}

} // namespace knowledge

namespace resolve {

using facts::Field;
using facts::Presence;

constexpr auto words_of(Manager /*type*/) {
    return std::to_array<const char*>({"conda", "pip"});
}

constexpr auto fields_of(const ChosenPackage* /*type*/) {
    return std::tuple(
        Field("name", &ChosenPackage::name, Presence::Text),
        Field("version", &ChosenPackage::version, Presence::Text),
        Field("build", &ChosenPackage::build), Field("manager", &ChosenPackage::manager),
        Field("channel", &ChosenPackage::channel), Field("url", &ChosenPackage::url),
        Field("sha256", &ChosenPackage::sha256), Field("asked", &ChosenPackage::asked),
        Field("kept", &ChosenPackage::kept), Field("framework", &ChosenPackage::framework));
}

constexpr auto fields_of(const Alternative* /*type*/) {
    return std::tuple(Field("manager", &Alternative::manager),
                      Field("commands", &Alternative::commands));
}

constexpr auto fields_of(const Verdict* /*type*/) {
    return std::tuple(Field("text", &Verdict::text, Presence::Text),
                      Field("answer", &Verdict::answer));
}

constexpr auto fields_of(const Change* /*type*/) {
    return std::tuple(Field("name", &Change::name, Presence::Text),
                      Field("from", &Change::from, Presence::Text),
                      Field("to", &Change::to, Presence::Text), Field("why", &Change::why));
}

constexpr auto fields_of(const Choice* /*type*/) {
    return std::tuple(Field("chosen", &Choice::chosen, Presence::Text),
                      Field("newest", &Choice::newest), Field("next", &Choice::next),
                      Field("why", &Choice::why, Presence::Text));
}

constexpr auto fields_of(const Reason* /*type*/) {
    return std::tuple(Field("text", &Reason::text, Presence::Text), Field("facts", &Reason::facts));
}

constexpr auto fields_of(const RankedFix* /*type*/) {
    return std::tuple(Field("text", &RankedFix::text, Presence::Text),
                      Field("command", &RankedFix::command), Field("cost", &RankedFix::cost));
}

constexpr auto fields_of(const Conflict* /*type*/) {
    return std::tuple(Field("reasons", &Conflict::reasons), Field("fixes", &Conflict::fixes));
}

constexpr auto fields_of(const Outcome* /*type*/) {
    return std::tuple(Field("request", &Outcome::request), Field("cuda", &Outcome::cuda),
                      Field("python", &Outcome::python), Field("cudnn", &Outcome::cudnn),
                      Field("driver_assumed", &Outcome::driver_assumed),
                      Field("packages", &Outcome::packages), Field("commands", &Outcome::commands),
                      Field("alternatives", &Outcome::alternatives),
                      Field("missing", &Outcome::missing), Field("warnings", &Outcome::warnings),
                      Field("runs", &Outcome::runs), Field("changes", &Outcome::changes),
                      Field("kept", &Outcome::kept), Field("conflict", &Outcome::conflict));
}

nlohmann::json to_json(const facts::Finding& finding) {
    return facts::object_json(finding);
}

nlohmann::json to_json(const Outcome& outcome) {
    using facts::value_json;
    nlohmann::json value = facts::object_json(outcome);
    value["schema"] = "cudaenv.resolve/1";
    value["status"] = outcome.solved() ? "solved" : "conflict";
    value["toolkit"] = nullptr;
    value["host_compiler"] = nullptr;
    if (!outcome.choices.empty()) {
        value["choices"] = value_json(outcome.choices);
    }
    if (const auto& toolkit = outcome.toolkit) {
        value["toolkit"] = {{"path", toolkit->path},
                            {"version", value_json(toolkit->version)},
                            {"gcc_min", value_json(toolkit->gcc_min)},
                            {"gcc_max", value_json(toolkit->gcc_max)}};
    }
    if (const auto& compiler = outcome.host_compiler) {
        value["host_compiler"] = {
            {"family", compiler->family == facts::CompilerFamily::Gcc ? "gcc" : "clang"},
            {"version", compiler->version.str()},
            {"path", compiler->path}};
    }
    return value;
}

} // namespace resolve

} // namespace cudaenv
