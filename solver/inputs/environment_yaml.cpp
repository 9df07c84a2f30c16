#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/yaml_document.hpp"
#include "solver/inputs/readers.hpp"
#include "solver/specs/ask.hpp"

namespace cudaenv::inputs {

namespace {

using Kind = YamlNode::Kind;

class Parser {
public:
    Parser(Input& input, const std::string& path, const ReadFile& read, Target target)
        : m_input(input), m_path(path), m_read(read), m_target(std::move(target)) {}

    Result<void> document(const YamlNode& root) {
        const YamlEntry* dependencies = nullptr;
        for (const YamlEntry& entry : root.entries) {
            if (entry.key == "channels") {
                CUDAENV_TRY_VOID(channels(entry));
            } else if (entry.key == "dependencies") {
                if (dependencies != nullptr) {
                    return error_at(place(entry), "bad-yaml", "dependencies appears here twice",
                                    "join the two lists");
                }
                dependencies = &entry;
            }
        }
        if (root.kind != Kind::Mapping || dependencies == nullptr) {
            return error_at({m_path, 1, 1}, "no-dependencies", "no list of dependencies",
                            "expected dependencies: and below it lines such as - pytorch=2.5");
        }
        if (dependencies->value.is_null()) {
            return {};
        }
        if (dependencies->value.kind != Kind::Sequence) {
            return not_a_list(*dependencies, "- pytorch=2.5");
        }
        // Markers below "pip:" are judged for the Python that stands among conda's.
        for (const YamlNode& item : dependencies->value.items) {
            if (item.kind == Kind::Scalar) {
                CUDAENV_TRY_VOID(spec(item));
            }
        }
        for (const YamlNode& item : dependencies->value.items) {
            if (item.kind != Kind::Scalar) {
                CUDAENV_TRY_VOID(other(item));
            }
        }
        return {};
    }

private:
    template <typename Placed>
    [[nodiscard]] FilePlace place(const Placed& value) const {
        return {m_path, value.line, value.column};
    }
    [[nodiscard]] tl::unexpected<Error> not_a_list(const YamlEntry& entry,
                                                   const std::string& item) const {
        return error_at(place(entry), "bad-value", quoted(entry.key) + " is not a list",
                        "write each item on a line of its own, as in " + item);
    }
    // Of a scalar's text, behind its quote.
    [[nodiscard]] FilePlace text_place(const YamlNode& item) const {
        return {m_path, item.line, item.column + (item.quoted ? 1 : 0)};
    }

    Result<void> channels(const YamlEntry& entry) {
        if (!entry.value.is_null() && entry.value.kind != Kind::Sequence) {
            return not_a_list(entry, "- conda-forge");
        }
        for (const YamlNode& item : entry.value.items) {
            if (item.kind != Kind::Scalar || item.is_null()) {
                return error_at(place(item), "bad-value",
                                "a channel is a name, a URL or a directory", "as in - conda-forge");
            }
            if (item.text != "nodefaults") {
                m_input.channels.push_back({item.text, place(item).origin()});
            }
        }
        return {};
    }

    Result<void> spec(const YamlNode& item) {
        CUDAENV_TRY_VOID(add_match_spec(m_input, item.text, text_place(item)));
        const auto ask = specs::Ask::parse(item.text);
        if (ask && ask->name() == "python" && ask->constrains_version()) {
            narrow_to(*ask);
        }
        return {};
    }
    // To the minor versions that conda's spec allows.
    void narrow_to(const specs::Ask& python) {
        std::optional<std::string> only;
        for (int minor = 6; minor <= 16; ++minor) {
            const std::string version = "3." + std::to_string(minor);
            if (python.satisfied_by(version + ".99", specs::VersionRules::Conda) ||
                python.satisfied_by(version, specs::VersionRules::Conda)) {
                if (only) {
                    return; // several: what the file says of Python decides no marker
                }
                only = version;
            }
        }
        if (only) {
            m_target.narrow(*specs::SpecifierSet::parse("==" + *only + ".*"));
        }
    }

    Result<void> other(const YamlNode& item) {
        const bool is_pip =
            item.kind == Kind::Mapping && item.entries.size() == 1 && item.entries[0].key == "pip";
        if (!is_pip) {
            return error_at(place(item), "bad-value", "a dependency is not a package spec",
                            "as in - pytorch=2.5; pip's requirements are a list below - pip:");
        }
        const YamlEntry& pip = item.entries[0];
        if (pip.value.is_null()) {
            return {};
        }
        if (pip.value.kind != Kind::Sequence) {
            return not_a_list(pip, "- torch==2.4.1");
        }
        for (const YamlNode& line : pip.value.items) {
            if (line.kind != Kind::Scalar || line.is_null()) {
                return error_at(place(line), "bad-value",
                                "below pip: a requirement is expected on each line",
                                "as in - torch==2.4.1");
            }
            CUDAENV_TRY_VOID(
                parse_requirement_line(m_input, line.text, text_place(line), m_read, m_target));
        }
        return {};
    }

    Input& m_input;
    const std::string& m_path;
    const ReadFile& m_read;
    Target m_target;
};

} // namespace

Result<void> parse_environment_yaml(Input& input, std::string_view text, const std::string& path,
                                    const ReadFile& read, Target target) {
    auto root = parse_yaml(text);
    if (!root) {
        Error error = std::move(root).error();
        error.path = printable(path);
        error.hint = "expected conda's form: name:, channels: and dependencies:, lists with \"- \"";
        return tl::unexpected(std::move(error));
    }
    return Parser(input, path, read, std::move(target)).document(*root);
}

} // namespace cudaenv::inputs
