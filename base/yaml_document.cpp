#include "base/yaml_document.hpp"

#include <algorithm>
#include <yaml.h>

namespace cudaenv {

namespace {

constexpr int k_deepest = 32;

class Reader {
public:
    explicit Reader(std::string_view text)
        : m_text(text.substr(text.starts_with("\xef\xbb\xbf") ? 3 : 0)) {
        // Only without memory it fails, and then the first event is an error.
        static_cast<void>(yaml_parser_initialize(&m_parser));
        yaml_parser_set_encoding(&m_parser, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(
            &m_parser, reinterpret_cast<const unsigned char*>(m_text.data()), m_text.size());
    }
    ~Reader() {
        yaml_event_delete(&m_event);
        yaml_parser_delete(&m_parser);
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    Result<YamlNode> document() {
        YamlNode root;
        CUDAENV_TRY_VOID(next()); // the stream begins
        CUDAENV_TRY_VOID(next());
        if (m_event.type == YAML_DOCUMENT_START_EVENT) {
            CUDAENV_TRY_VOID(next());
            CUDAENV_TRY(root, node(1));
            CUDAENV_TRY_VOID(next()); // the document ends
            CUDAENV_TRY_VOID(next());
        }
        if (m_event.type != YAML_STREAM_END_EVENT) {
            return broken("a second document in one file is not read", m_event.start_mark);
        }
        return root;
    }

private:
    [[nodiscard]] tl::unexpected<Error> broken(std::string message, yaml_mark_t at) {
        Error error{ErrorKind::BadInput, "bad-yaml", std::move(message), {}, 0, 0, {}};
        place(error, at);
        return tl::unexpected(std::move(error));
    }
    // libyaml counts characters; places come in their order, so each is passed once.
    std::size_t byte_of(std::size_t character) {
        if (character < m_character) {
            m_character = m_byte = 0;
        }
        for (; m_character < character && m_byte < m_text.size(); ++m_character) {
            do {
                ++m_byte;
            } while (m_byte < m_text.size() && (m_text[m_byte] & 0xC0) == 0x80);
        }
        return m_byte;
    }
    template <typename Placed>
    void place(Placed& value, yaml_mark_t at) {
        if (at.line != m_line) {
            m_line = at.line;
            m_line_start = byte_of(at.index - at.column);
        }
        value.line = static_cast<int>(at.line) + 1;
        value.column = static_cast<int>(byte_of(at.index) - m_line_start) + 1;
    }

    Result<void> next() {
        yaml_event_delete(&m_event);
        if (yaml_parser_parse(&m_parser, &m_event) != 0) {
            return {};
        }
        const yaml_parser_t& failed = m_parser;
        std::string message = failed.problem == nullptr ? "no memory" : failed.problem;
        if (failed.error == YAML_READER_ERROR) {
            Error error{ErrorKind::BadInput, "bad-yaml", std::move(message), {}, 0, 0, {}};
            const auto before = m_text.substr(0, failed.problem_offset);
            error.line = static_cast<int>(std::ranges::count(before, '\n')) + 1;
            error.column = static_cast<int>(before.size() - (before.rfind('\n') + 1)) + 1;
            return tl::unexpected(std::move(error));
        }
        if (failed.context == nullptr) {
            return broken(std::move(message), failed.problem_mark);
        }
        message += std::string(" ") + failed.context;
        if (failed.error == YAML_SCANNER_ERROR) { // of one token
            return broken(std::move(message), failed.context_mark);
        }
        return broken(message + " that begins in line " +
                          std::to_string(failed.context_mark.line + 1),
                      failed.problem_mark);
    }

    // The node that the event begins.
    Result<YamlNode> node(int depth) {
        YamlNode made;
        place(made, m_event.start_mark);
        if (depth > k_deepest) {
            return broken("the values are nested too deeply", m_event.start_mark);
        }
        if (m_event.type == YAML_ALIAS_EVENT) {
            made.kind = YamlNode::Kind::Alias;
            made.text = std::string("*") + text_of(m_event.data.alias.anchor);
        } else if (m_event.type == YAML_SCALAR_EVENT) {
            const auto& scalar = m_event.data.scalar;
            made.text.assign(text_of(scalar.value), scalar.length);
            made.quoted = scalar.style != YAML_PLAIN_SCALAR_STYLE;
            made.kind =
                made.text.empty() && !made.quoted ? YamlNode::Kind::Null : YamlNode::Kind::Scalar;
        } else if (m_event.type == YAML_SEQUENCE_START_EVENT) {
            made.kind = YamlNode::Kind::Sequence;
            CUDAENV_TRY_VOID(next());
            while (m_event.type != YAML_SEQUENCE_END_EVENT) {
                CUDAENV_TRY(auto item, node(depth + 1));
                made.items.push_back(std::move(item));
                CUDAENV_TRY_VOID(next());
            }
        } else {
            CUDAENV_TRY_VOID(entries(made, depth));
        }
        return made;
    }

    Result<void> entries(YamlNode& mapping, int depth) {
        mapping.kind = YamlNode::Kind::Mapping;
        for (;;) {
            CUDAENV_TRY_VOID(next());
            if (m_event.type == YAML_MAPPING_END_EVENT) {
                return {};
            }
            if (m_event.type != YAML_SCALAR_EVENT) {
                return broken("a key that is not a text is not read", m_event.start_mark);
            }
            CUDAENV_TRY(auto key, node(depth + 1));
            CUDAENV_TRY_VOID(next());
            CUDAENV_TRY(auto value, node(depth + 1));
            mapping.entries.push_back(
                {std::move(key.text), key.line, key.column, std::move(value)});
        }
    }

    static const char* text_of(const yaml_char_t* text) {
        return reinterpret_cast<const char*>(text);
    }

    std::string_view m_text;
    yaml_parser_t m_parser{};
    yaml_event_t m_event{};
    std::size_t m_character = 0; // that `m_byte` is at
    std::size_t m_byte = 0;
    std::size_t m_line = 0;
    std::size_t m_line_start = 0;
};

} // namespace

bool YamlNode::is_null() const {
    return kind == Kind::Null ||
           (kind == Kind::Scalar && !quoted &&
            (text == "~" || text == "null" || text == "Null" || text == "NULL"));
}

Result<YamlNode> parse_yaml(std::string_view text) {
    return text.empty() ? YamlNode{} : Reader(text).document();
}

} // namespace cudaenv
