#include "daemon/files_of_request.hpp"

#include "base/printable.hpp"
#include "base/ranges.hpp"
#include "base/text.hpp"
#include "daemon/host_of_request.hpp"
#include "host/silent_paths.hpp"
#include "protocol/json_field.hpp"
#include "solver/knowledge/frameworks.hpp"
#include "solver/pins/pins.hpp"
#include "solver/resolve/catalogue.hpp"
#include "solver/resolve/question.hpp"
#include "solver/specs/ask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace cudaenv::daemon {

namespace {

namespace fs = std::filesystem;

// A requirements file with the hashes of a thousand wheels has a few hundred kilobytes.
constexpr std::size_t k_most_input_bytes = std::size_t{4} << 20;

bool is_directory(const std::string& path) {
    std::error_code failed;
    return fs::is_directory(path, failed);
}

// pyproject.toml[train] of pyproject.toml and --group train.
std::string with_groups(const std::string& word, const std::vector<std::string>& groups) {
    if (groups.empty()) {
        return word;
    }
    const bool has_some = word.ends_with(']');
    return (has_some ? word.substr(0, word.size() - 1) + ',' : word + '[') + join(groups, ",") +
           ']';
}

// The file that a word means; a directory stands for the first of its files.
Result<std::string> file_word(const std::string& word, const protocol::Caller& caller) {
    const std::string path = inputs::split_input_word(word).path;
    const std::string absolute = absolute_for(caller, path);
    CUDAENV_TRY_VOID(host::all_answer({absolute}));
    const std::string brackets = word.substr(path.size());
    if (!is_directory(absolute)) {
        return (path.starts_with("./") ? path.substr(2) : path) + brackets;
    }
    const std::string before = path == "." || path == "./" ? ""
                               : path.ends_with('/')       ? path
                                                           : path + '/';
    for (const std::string_view name : inputs::input_file_names()) {
        std::error_code failed;
        const std::string file = before + std::string(name);
        if (!fs::is_regular_file(absolute_for(caller, file), failed)) {
            continue;
        }
        if (name == "pyproject.toml") {
            // One that only sets up tools says nothing of dependencies.
            const auto text = read_text_file(absolute_for(caller, file), k_most_input_bytes);
            if (text && text->find("[project]") == std::string::npos &&
                text->find("[tool.pixi") == std::string::npos &&
                text->find("[dependency-groups]") == std::string::npos) {
                continue;
            }
        }
        return file + brackets;
    }
    return bad_input("no-such-file", "the directory has no file that lists dependencies",
                     "one of " + join(std::vector<std::string>(inputs::input_file_names().begin(),
                                                               inputs::input_file_names().end()),
                                      ", "),
                     printable(path));
}

bool has_pin(const resolve::Request& request, std::string_view name) {
    return std::ranges::any_of(request.pins,
                               [&](const pins::Pin& pin) { return pin.name == name; });
}

bool has_spec(const resolve::Request& request, const std::string& name) {
    return std::ranges::any_of(request.specs, [&](const resolve::Wanted& wanted) {
        const auto ask = specs::Ask::parse(wanted.text);
        return ask && ask->name() == name;
    });
}

// requires-python of the file: a pin, or a spec beside the pin that is there already.
Result<void> add_python(const inputs::Input& input, resolve::Request& request,
                        std::vector<std::string>& notes) {
    for (const inputs::Entry& python : input.pythons) {
        const auto constraint = pins::PinConstraint::parse(python.text);
        if (!constraint) {
            notes.push_back(python.origin + ": " + printable(python.text) +
                            " is not used: cudaenv cannot compare this constraint");
        } else if (has_pin(request, "python")) {
            request.specs.push_back({"python " + constraint->conda_version_spec(), python.origin});
        } else {
            request.pins.push_back({"python", constraint->str(), python.origin});
        }
    }
    return {};
}

void add_index_label(const inputs::Input& input, resolve::Request& request) {
    if (!input.index_label || has_pin(request, "cuda") || request.cpu) {
        return;
    }
    if (input.index_label->text == "cpu") {
        request.cpu = true;
    } else {
        request.pins.push_back({"cuda", input.index_label->text, input.index_label->origin});
    }
}

// A constraint on what is asked for is one more spec; on what may come along, a pin.
void add_bounds(const inputs::Input& input, resolve::Request& request) {
    for (const inputs::Entry& bound : input.bounds) {
        const auto ask = specs::Ask::parse(bound.text);
        if (!ask || !ask->constrains_version()) {
            continue;
        }
        if (has_spec(request, ask->name())) {
            request.specs.push_back({bound.text, bound.origin, true});
            continue;
        }
        const auto pinned = pins::parse_pin(bound.text, bound.origin);
        for (const pins::Pin& pin : pinned ? *pinned : std::vector<pins::Pin>{}) {
            if (!has_pin(request, pin.name)) {
                request.pins.push_back(pin);
            }
        }
    }
}

void note_expectations(const inputs::Input& input, const facts::Host& host,
                       std::vector<std::string>& notes) {
    if (input.driver_cuda && host.driver && host.driver->cuda &&
        *host.driver->cuda < DottedVersion::of(input.driver_cuda->text)) {
        notes.push_back(fmt::format("{} expects CUDA {} of the driver; this one supports {}",
                                    input.driver_cuda->origin, input.driver_cuda->text,
                                    host.driver->cuda->str()));
    }
    if (input.glibc && host.glibc && *host.glibc < DottedVersion::of(input.glibc->text)) {
        notes.push_back(fmt::format("{} expects glibc {}; this machine has {}", input.glibc->origin,
                                    input.glibc->text, host.glibc->str()));
    }
}

} // namespace

bool is_file_word(std::string_view word, const protocol::Caller& caller) {
    const std::string path = inputs::split_input_word(word).path;
    return inputs::is_input_name(word) ||
           (path.find('/') != std::string::npos && path.find("::") == std::string::npos &&
            is_directory(absolute_for(caller, path)));
}

Result<FilesOfRequest> files_of(const nlohmann::json& params, const Arguments& arguments,
                                const protocol::Caller& caller, std::string_view python,
                                const std::string& machine) {
    FilesOfRequest files;
    CUDAENV_TRY(const auto named, protocol::strings_field(params, "requirements"));
    std::vector<std::string> words = named;
    std::ranges::copy_if(arguments.words, std::back_inserter(words),
                         [&](const std::string& word) { return is_file_word(word, caller); });
    CUDAENV_TRY(const auto groups, protocol::strings_field(params, "group"));
    if (!groups.empty() && words.empty()) {
        words.emplace_back("."); // the project's own file, as pip's --group takes it
    }
    const inputs::Target target(python, machine.empty() ? "x86_64" : machine);
    for (const std::string& word : words) {
        CUDAENV_TRY(auto file, file_word(with_groups(word, groups), caller));
        const auto read = [&](const std::string& path) -> Result<std::string> {
            const std::string absolute = absolute_for(caller, path);
            CUDAENV_TRY_VOID(host::all_answer({absolute}));
            auto text = read_text_file(absolute, k_most_input_bytes);
            if (!text) {
                text.error().path = printable(path);
            }
            return text;
        };
        CUDAENV_TRY(auto input, inputs::read_input(file, read, target));
        files.inputs.push_back(std::move(input));
        files.words.push_back(std::move(file));
    }
    return files;
}

// The answer to a pixi.toml is for its workspace, from the side of it that has the frameworks.
void answer_for_pixi(const FilesOfRequest& files, resolve::Request& request) {
    const bool is_pixis = files.words.size() == 1 && files.words.front().ends_with("pixi.toml");
    if (!is_pixis || request.manager != resolve::ManagerChoice::Auto) {
        return;
    }
    bool of_conda = false;
    bool of_pip = false;
    for (const inputs::Entry& entry : files.inputs.front().wanted) {
        const auto ask = specs::Ask::parse(entry.text);
        if (ask && knowledge::find_framework(ask->name()) != nullptr) {
            (entry.of_conda ? of_conda : of_pip) = true;
        }
    }
    if (of_conda == of_pip) {
        return;
    }
    request.manager = of_conda ? resolve::ManagerChoice::Conda : resolve::ManagerChoice::Pip;
    auto& target = request.environment.target;
    if (!request.environment.exists()) {
        target.kind = knowledge::Target::Kind::Conda;
        target.conda = "pixi";
        target.has_conda = true;
        target.project = files.words.front();
        request.environment.shown = "the workspace of " + files.words.front();
    }
}

Result<void> merge_files(const FilesOfRequest& files, const facts::Host& host,
                         resolve::Request& request, std::vector<std::string>& notes) {
    const bool only_files = request.specs.empty() && !files.inputs.empty();
    if (request.manager == resolve::ManagerChoice::Auto && only_files &&
        std::ranges::all_of(files.inputs, &inputs::Input::is_pips)) {
        request.manager = resolve::ManagerChoice::Pip;
    }
    for (const inputs::Input& input : files.inputs) {
        for (const inputs::Entry& entry : input.wanted) {
            request.specs.push_back({entry.text, entry.origin, true});
        }
    }
    if (only_files) {
        answer_for_pixi(files, request);
    }
    for (const inputs::Input& input : files.inputs) {
        CUDAENV_TRY_VOID(add_python(input, request, notes));
        add_index_label(input, request);
        add_bounds(input, request);
        note_expectations(input, host, notes);
        notes.insert(notes.end(), input.notes.begin(), input.notes.end());
        for (const inputs::Entry& index : input.indexes) {
            notes.push_back(index.origin + ": the index " + printable(index.text) +
                            " is not used: the answer comes from the built-in catalogue");
        }
    }
    return {};
}

FilesOfRequest manifest_of(const std::string& path) {
    const auto read = [](const std::string& one) {
        return read_text_file(one, k_most_input_bytes);
    };
    FilesOfRequest files;
    if (auto input = inputs::read_input(path, read, inputs::Target({}, "x86_64"))) {
        files.words.push_back(path);
        files.inputs.push_back(*std::move(input));
    }
    return files;
}

bool FilesOfRequest::names_conda_forge_alone() const {
    bool named = false;
    for (const inputs::Input& input : inputs) {
        for (const inputs::Entry& channel : input.channels) {
            if (channel.text != "conda-forge" && channel.text != "nodefaults") {
                return false;
            }
            named = named || channel.text == "conda-forge";
        }
    }
    return named;
}

resolve::Request from_conda_forge(resolve::Request request) {
    for (resolve::Wanted& wanted : request.specs) {
        const auto ask = specs::Ask::parse(wanted.text);
        const auto* const row = ask ? knowledge::find_framework(ask->name()) : nullptr;
        if (row != nullptr && row->table == "torch" && is_one_of(ask->name(), row->conda) &&
            wanted.text.find("::") == std::string::npos) {
            wanted.text.insert(0, "conda-forge::");
        }
    }
    return request;
}

std::vector<std::string> local_channels_of(const FilesOfRequest& files,
                                           const protocol::Caller& caller,
                                           std::vector<std::string>& notes) {
    std::vector<std::string> local;
    for (std::size_t i = 0; i < files.inputs.size(); ++i) {
        const std::string path = inputs::split_input_word(files.words[i]).path;
        const std::size_t slash = path.rfind('/');
        const std::string directory =
            absolute_for(caller, slash == std::string::npos ? "." : path.substr(0, slash + 1));
        std::vector<std::string> others;
        for (const inputs::Entry& channel : files.inputs[i].channels) {
            const bool is_path = channel.text.starts_with('/') || channel.text.starts_with('.');
            const std::string place =
                channel.text.starts_with('.') ? directory + '/' + channel.text : channel.text;
            if (channel.text.starts_with("file://") || (is_path && is_directory(place))) {
                local.push_back(place);
            } else {
                others.push_back(printable(redact_secrets(channel.text)));
            }
        }
        if (!others.empty()) {
            notes.push_back(fmt::format("{}: its channels are not read ({}); -c names channels on "
                                        "this machine",
                                        printable(path), join(others, ", ")));
        }
    }
    return local;
}

void drop_unknown(resolve::Request& request, const facts::Host& host,
                  std::span<const resolve::Channel* const> channels,
                  std::vector<std::string>& notes) {
    if (std::ranges::none_of(request.specs, &resolve::Wanted::from_file)) {
        return;
    }
    resolve::World world(host, {});
    const resolve::Catalogue catalogue(world, request.manager == resolve::ManagerChoice::Conda
                                                  ? resolve::Manager::Conda
                                                  : resolve::Manager::Pip);
    const resolve::Channel* const embedded = &catalogue;
    const auto vocabulary =
        channels.empty() ? resolve::Vocabulary::Catalogue : resolve::Vocabulary::Conda;
    const auto sources = channels.empty() ? std::span(&embedded, 1) : channels;
    std::vector<std::string> unknown;
    std::erase_if(request.specs, [&](const resolve::Wanted& wanted) {
        if (!wanted.from_file) {
            return false;
        }
        resolve::Request alone;
        alone.specs = {wanted};
        alone.specs[0].text = wanted.text.substr(0, wanted.text.find(';')); // a marker waits
        const auto question = resolve::read_question(alone, host, sources, vocabulary);
        const bool known =
            question ? question->unknown.empty() : question.error().code != "no-such-package";
        if (known) {
            return false;
        }
        const auto ask = specs::Ask::parse(wanted.text);
        const std::string name = printable(ask ? ask->name() : wanted.text);
        const std::string hint = question ? std::string() : question.error().hint;
        if (hint.starts_with("did you mean")) {
            notes.push_back(
                fmt::format("{}: cudaenv does not know {}: {}", wanted.origin, name, hint));
        } else if (name != "pip") { // conda's way to ask for the installer
            unknown.push_back(name);
        }
        return true;
    });
    if (unknown.empty()) {
        return;
    }
    constexpr std::size_t k_most_shown = 5;
    const std::size_t more = unknown.size() - std::min(unknown.size(), k_most_shown);
    unknown.resize(unknown.size() - more);
    notes.push_back(fmt::format("cudaenv does not know {}{} yet: not part of the answer",
                                join(unknown, ", "),
                                more ? fmt::format(" and {} more", more) : ""));
}

Result<bool> decide_markers(resolve::Request& request, std::string_view python,
                            const std::string& machine, std::vector<std::string>& notes) {
    const inputs::Target target(python, machine.empty() ? "x86_64" : machine);
    bool depends_on_python = false;
    std::vector<resolve::Wanted> decided;
    for (resolve::Wanted& wanted : request.specs) {
        const auto ask = wanted.text.find(';') == std::string::npos
                             ? Result<specs::Ask>(bad_input("", "", ""))
                             : specs::Ask::parse(wanted.text);
        const auto* const requirement = ask ? ask->pip() : nullptr;
        if (requirement == nullptr || !requirement->marker) {
            decided.push_back(std::move(wanted));
            continue;
        }
        CUDAENV_TRY(const auto verdict, target.judge(*requirement->marker));
        if (verdict == inputs::Target::Verdict::DependsOnPython) {
            depends_on_python = true;
        } else if (verdict == inputs::Target::Verdict::Yes) {
            wanted.text = std::string(trim(wanted.text.substr(0, wanted.text.find(';'))));
            decided.push_back(std::move(wanted));
        } else {
            notes.push_back(fmt::format("{} is left out: its marker does not apply here",
                                        printable(redact_secrets(wanted.text))));
        }
    }
    request.specs = std::move(decided);
    return depends_on_python;
}

Error at_file_line(Error error, const FilesOfRequest& files) {
    if (error.code == "nothing-asked" && !files.words.empty()) {
        error.path = printable(files.words.front());
        error.message = "the file requires nothing that cudaenv knows";
        error.hint = "cudaenv resolves CUDA, cuDNN, PyTorch, TensorFlow and what depends on them";
        return error;
    }
    constexpr std::string_view k_line = " line ";
    const std::size_t at = error.path.rfind(k_line);
    int line = 0;
    if (error.line != 0 || at == std::string::npos) {
        return error;
    }
    const char* const end = error.path.data() + error.path.size();
    const auto [stop, failed] = std::from_chars(error.path.data() + at + k_line.size(), end, line);
    if (failed == std::errc() && stop == end) {
        error.path.resize(at);
        error.line = line;
        error.column = 0; // counted within the spec
    }
    return error;
}

} // namespace cudaenv::daemon
