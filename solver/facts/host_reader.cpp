#include "solver/facts/host_json.hpp"
#include "solver/facts/json_place.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <functional>
#include <limits>

namespace cudaenv::facts {

namespace {

using nlohmann::json;

std::string pointer_of(const std::vector<std::string>& steps) {
    std::string pointer;
    for (const auto& step : steps) {
        pointer += '/';
        for (const char c : step) {
            pointer += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
        }
    }
    return pointer.empty() ? "the whole document" : pointer;
}

// At most this many bytes of a wrong value are quoted.
constexpr std::size_t k_quoted = 40;

std::string described(const json& value) {
    if (value.is_object()) {
        return "an object";
    }
    if (value.is_array()) {
        return "an array";
    }
    // Invalid UTF-8 cannot get here: the parser refuses it.
    std::string text = value.dump(-1, ' ', true);
    if (text.size() > k_quoted) {
        text = text.substr(0, k_quoted) + "...";
    }
    return text;
}

// Reads members and keeps the first complaint; after it every answer is a default.
class Reader {
public:
    Reader(std::string_view text, std::string_view path) : m_text(text), m_path(path) {}

    void fail(const std::vector<std::string>& steps, const std::string& problem,
              const std::string& expected) {
        if (m_error) {
            return;
        }
        const auto place = place_of_offset(m_text, offset_of_value(m_text, steps));
        m_error = Error{ErrorKind::BadInput,
                        "bad-facts",
                        pointer_of(steps) + ": " + problem,
                        std::string(m_path),
                        place.line,
                        place.column,
                        expected};
    }

    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }

private:
    std::string_view m_text;
    std::string_view m_path;
    std::optional<Error> m_error;
};

// One object of the document. Null and a missing key are the same: not told.
class Member {
public:
    Member(Reader& reader, const json& object, std::vector<std::string> steps)
        : m_reader(&reader), m_object(&object), m_steps(std::move(steps)) {}

    // Null where the key is missing or null.
    const json* find(const char* key) const {
        const auto found = m_object->find(key);
        return found == m_object->end() || found->is_null() ? nullptr : &*found;
    }

    std::string text(const char* key) const {
        const json* value = find(key);
        if (value == nullptr) {
            return {};
        }
        if (!value->is_string()) {
            wrong(key, *value, "expected a text or null");
            return {};
        }
        return value->get<std::string>();
    }

    std::string required_text(const char* key, const char* expected) const {
        auto read = text(key);
        if (read.empty()) {
            m_reader->fail(m_steps, std::string("`") + key + "` is missing", expected);
        }
        return read;
    }

    bool flag(const char* key) const {
        const json* value = find(key);
        if (value == nullptr) {
            return false;
        }
        if (!value->is_boolean()) {
            wrong(key, *value, "expected true, false or null");
            return false;
        }
        return value->get<bool>();
    }

    std::optional<std::uint64_t> count(const char* key, std::uint64_t highest) const {
        const json* value = find(key);
        if (value == nullptr) {
            return std::nullopt;
        }
        if (!value->is_number_unsigned() || value->get<std::uint64_t>() > highest) {
            wrong(key, *value,
                  "expected a whole number from 0 to " + std::to_string(highest) + " or null");
            return std::nullopt;
        }
        return value->get<std::uint64_t>();
    }

    // A compiler's major version.
    std::optional<int> major(const char* key) const {
        const auto read = count(key, 999);
        return read ? std::optional(static_cast<int>(*read)) : std::nullopt;
    }

    std::optional<DottedVersion> version(const char* key) const {
        const json* value = find(key);
        if (value == nullptr) {
            return std::nullopt;
        }
        if (!value->is_string()) {
            wrong(key, *value, "expected a version as text, as in \"11.3\", or null");
            return std::nullopt;
        }
        auto parsed = DottedVersion::parse(value->get_ref<const std::string&>());
        if (!parsed) {
            wrong(key, *value, "expected digits and dots, as in \"11.3\", or null");
            return std::nullopt;
        }
        return std::move(*parsed);
    }

    std::optional<ComputeCapability> capability(const char* key) const {
        const json* value = find(key);
        if (value == nullptr) {
            return std::nullopt;
        }
        const auto parsed = value->is_string()
                                ? ComputeCapability::parse(value->get_ref<const std::string&>())
                                : bad_input("bad-compute-capability", "");
        if (!parsed) {
            wrong(key, *value, "expected MAJOR.MINOR as text, as in \"8.6\", or null");
            return std::nullopt;
        }
        return *parsed;
    }

    // Which of `words` the text is; none where it is null.
    std::optional<std::size_t> one_of(const char* key, std::span<const char* const> words,
                                      const char* expected) const {
        const json* value = find(key);
        if (value == nullptr) {
            return std::nullopt;
        }
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (value->is_string() && value->get_ref<const std::string&>() == words[i]) {
                return i;
            }
        }
        wrong(key, *value, expected);
        return std::nullopt;
    }

    void object(const char* key, const std::function<void(const Member&)>& read) const {
        const json* value = find(key);
        if (value == nullptr) {
            return;
        }
        if (!value->is_object()) {
            wrong(key, *value, "expected an object or null");
            return;
        }
        read(Member(*m_reader, *value, steps_to(key)));
    }

    void objects(const char* key, const std::function<void(const Member&)>& read) const {
        each(key, "expected an array of objects", [&](const json& value, auto steps) {
            if (!value.is_object()) {
                m_reader->fail(steps, "is " + described(value), "expected an object");
                return;
            }
            read(Member(*m_reader, value, std::move(steps)));
        });
    }

    std::vector<std::string> texts(const char* key) const {
        std::vector<std::string> read;
        each(key, "expected an array of texts", [&](const json& value, const auto& steps) {
            if (!value.is_string()) {
                m_reader->fail(steps, "is " + described(value), "expected a text");
                return;
            }
            read.push_back(value.get<std::string>());
        });
        return read;
    }

    std::map<std::string, std::string> named_texts(const char* key) const {
        std::map<std::string, std::string> read;
        object(key, [&](const Member& member) {
            for (const auto& [name, unused] : member.m_object->items()) {
                auto value = member.text(name.c_str());
                if (!value.empty()) {
                    read.emplace(name, std::move(value));
                }
            }
        });
        return read;
    }

    void wrong(const char* key, const json& value, const std::string& expected) const {
        m_reader->fail(steps_to(key), "is " + described(value), expected);
    }

private:
    std::vector<std::string> steps_to(const char* key) const {
        auto steps = m_steps;
        steps.emplace_back(key);
        return steps;
    }

    void each(const char* key, const char* expected,
              const std::function<void(const json&, std::vector<std::string>)>& read) const {
        const json* value = find(key);
        if (value == nullptr) {
            return;
        }
        if (!value->is_array()) {
            wrong(key, *value, expected);
            return;
        }
        for (std::size_t i = 0; i < value->size(); ++i) {
            auto steps = steps_to(key);
            steps.push_back(std::to_string(i));
            read((*value)[i], std::move(steps));
        }
    }

    Reader* m_reader;
    const json* m_object;
    std::vector<std::string> m_steps;
};

Driver read_driver(const Member& member) {
    constexpr std::array<const char*, 2> k_kinds = {"open", "proprietary"};
    Driver driver;
    driver.version = member.version("version");
    driver.cuda = member.version("cuda");
    if (const auto kind =
            member.one_of("kind", k_kinds, "expected \"open\", \"proprietary\" or null")) {
        driver.kind = *kind == 0 ? DriverKind::Open : DriverKind::Proprietary;
    }
    driver.derived = member.flag("derived");
    driver.source = member.text("source");
    return driver;
}

Gpu read_gpu(const Member& member, int index) {
    Gpu gpu;
    gpu.index =
        static_cast<int>(member.count("index", 9999).value_or(static_cast<std::uint64_t>(index)));
    gpu.name = member.text("name");
    gpu.uuid = member.text("uuid");
    gpu.compute_capability = member.capability("compute_capability");
    gpu.pci_device = member.text("pci_device");
    gpu.memory_bytes = member.count("memory_bytes", std::numeric_limits<std::uint64_t>::max());
    gpu.mig = member.flag("mig");
    gpu.source = member.text("source");
    gpu.last_driver_branch = member.version("last_driver_branch");
    return gpu;
}

Toolkit read_toolkit(const Member& member) {
    Toolkit toolkit;
    toolkit.path =
        member.required_text("path", "each toolkit has a path, as in \"/usr/local/cuda-11.3\"");
    toolkit.version = member.version("version");
    toolkit.nvcc = member.flag("nvcc");
    toolkit.gcc_min = member.major("gcc_min");
    toolkit.gcc_max = member.major("gcc_max");
    toolkit.clang_min = member.major("clang_min");
    toolkit.clang_max = member.major("clang_max");
    toolkit.cudnn = member.version("cudnn");
    toolkit.cudnn_library = member.version("cudnn_library");
    toolkit.nccl = member.version("nccl");
    toolkit.nccl_library = member.version("nccl_library");
    toolkit.problem = member.text("problem");
    toolkit.source = member.text("source");
    toolkit.aliases = member.texts("aliases");
    toolkit.sources = member.named_texts("sources");
    toolkit.absent = member.named_texts("absent");
    toolkit.warnings = member.texts("warnings");
    return toolkit;
}

Compiler read_compiler(const Member& member) {
    constexpr std::array<const char*, 2> k_families = {"gcc", "clang"};
    Compiler compiler;
    member.required_text("family", "each compiler has a family, \"gcc\" or \"clang\"");
    if (const auto family = member.one_of("family", k_families, "expected \"gcc\" or \"clang\"")) {
        compiler.family = *family == 0 ? CompilerFamily::Gcc : CompilerFamily::Clang;
    }
    member.required_text("version", "each compiler has a version, as in \"9.4.0\"");
    compiler.version = member.version("version").value_or(DottedVersion());
    compiler.path = member.text("path");
    compiler.source = member.text("source");
    compiler.is_default = member.flag("default");
    return compiler;
}

Host read_host(const Member& member) {
    Host host;
    host.hostname = member.text("hostname");
    host.captured = member.text("captured");
    member.object("driver", [&](const Member& driver) { host.driver = read_driver(driver); });
    host.driver_absent = member.text("driver_absent");
    member.objects("gpus", [&](const Member& gpu) {
        host.gpus.push_back(read_gpu(gpu, static_cast<int>(host.gpus.size())));
    });
    host.gpus_absent = member.text("gpus_absent");
    member.objects("toolkits",
                   [&](const Member& toolkit) { host.toolkits.push_back(read_toolkit(toolkit)); });
    member.objects("compilers", [&](const Member& compiler) {
        host.compilers.push_back(read_compiler(compiler));
    });
    host.glibc = member.version("glibc");
    host.machine = member.text("machine");
    host.kernel = member.text("kernel");
    host.distribution = member.text("distribution");
    member.object("platform", [&](const Member& platform) {
        host.platform.wsl = platform.flag("wsl");
        host.platform.container = platform.text("container");
        host.platform.jetson = platform.flag("jetson");
    });
    member.objects("conda", [&](const Member& install) {
        CondaInstall read;
        read.kind = install.required_text("kind", "each conda install has a kind, as in \"conda\"");
        read.path = install.text("path");
        if (auto version = install.text("version"); !version.empty()) {
            read.version = std::move(version);
        }
        read.source = install.text("source");
        host.conda.push_back(std::move(read));
    });
    host.sources = member.named_texts("sources");
    host.absent = member.named_texts("absent");
    host.notes = member.texts("notes");
    return host;
}

// "parse error at line 3, column 5: syntax error while parsing value - unexpected ...": the place
// is told apart, so only what follows it is kept.
std::string syntax_problem(std::string_view what) {
    for (const std::string_view mark : {"syntax error while ", "column "}) {
        if (const auto at = what.find(mark); at != std::string_view::npos) {
            what.remove_prefix(mark == "column " ? what.find(": ", at) + 2 : at + mark.size());
            break;
        }
    }
    return "not JSON: " + std::string(what);
}

} // namespace

Result<Host> parse_host(std::string_view text, std::string_view path) {
    constexpr const char* k_schema_hint =
        "a facts file is an object with \"schema\": \"cudaenv.host/1\", as `cudaenv host --export` "
        "writes it";
    json document;
    try {
        document = json::parse(text);
    } catch (const json::parse_error& error) {
        // `byte` counts from 1 and stands behind what was read.
        const auto place = place_of_offset(text, error.byte == 0 ? 0 : error.byte - 1);
        return tl::unexpected(Error{ErrorKind::BadInput, "bad-facts", syntax_problem(error.what()),
                                    std::string(path), place.line, place.column, k_schema_hint});
    } catch (const json::exception& error) { // a number out of range
        return tl::unexpected(Error{ErrorKind::BadInput, "bad-facts", syntax_problem(error.what()),
                                    std::string(path), 1, 1, k_schema_hint});
    }
    Reader reader(text, path);
    if (!document.is_object()) {
        reader.fail({}, "is " + described(document), k_schema_hint);
        return tl::unexpected(*reader.error());
    }
    const Member member(reader, document, {});
    if (member.find("schema") == nullptr) {
        reader.fail({}, "`schema` is missing", k_schema_hint);
    } else if (member.text("schema") != k_host_schema) {
        member.wrong("schema", document["schema"], k_schema_hint);
    }
    if (reader.error()) {
        return tl::unexpected(*reader.error());
    }
    Host host = read_host(member);
    if (reader.error()) {
        return tl::unexpected(*reader.error());
    }
    return host;
}

} // namespace cudaenv::facts
