#include "solver/knowledge/table.hpp"

#include "base/text.hpp"
#include "data/tables.hpp"

#include <simdjson.h>

#include <new>
#include <stdexcept>

namespace cudaenv::knowledge {

static_assert(data::k_padding >= simdjson::SIMDJSON_PADDING);

namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

struct Place {
    std::string_view table;
    std::string_view section;
    std::size_t number;

    [[noreturn]] void refuse(std::string_view column, std::string_view what) const {
        throw std::logic_error("data/" + std::string(table) + ".json: " + std::string(section) +
                               " row " + std::to_string(number) + ": column \"" +
                               std::string(column) + "\" " + std::string(what));
    }
};

class JsonRow final : public Row {
public:
    JsonRow(const object& row, const object& sources, const Place& place)
        : m_row(row), m_sources(sources), m_place(place) {}

    std::string text(std::string_view column) const override {
        auto found = find(column);
        if (!found) {
            m_place.refuse(column, "is missing");
        }
        return *std::move(found);
    }

    std::optional<std::string> find(std::string_view column) const override {
        const auto cell = at(column);
        return cell ? std::optional(std::string(as_text(column, *cell))) : std::nullopt;
    }

    std::vector<std::string> list(std::string_view column) const override {
        std::vector<std::string> values;
        if (const auto cell = at(column)) {
            array cells;
            if (cell->get(cells) != simdjson::SUCCESS) {
                m_place.refuse(column, "is not a list");
            }
            values.reserve(cells.size());
            for (const element value : cells) {
                values.emplace_back(as_text(column, value));
            }
        }
        return values;
    }

    std::vector<std::pair<std::string, std::string>> pairs(std::string_view column) const override {
        std::vector<std::pair<std::string, std::string>> values;
        if (const auto cell = at(column)) {
            object cells;
            if (cell->get(cells) != simdjson::SUCCESS) {
                m_place.refuse(column, "is not a mapping");
            }
            for (const auto& [key, value] : cells) {
                values.emplace_back(std::string(key), std::string(as_text(column, value)));
            }
        }
        return values;
    }

    bool flag(std::string_view column) const override {
        const auto cell = at(column);
        bool value = false;
        if (cell && cell->get(value) != simdjson::SUCCESS) {
            m_place.refuse(column, "is not true or false");
        }
        return value;
    }

    std::vector<std::string> sources(std::string_view column) const override {
        const auto cell = at(column);
        if (!cell) {
            m_place.refuse(column, "is missing");
        }
        std::vector<std::string> found;
        if (cell->is_array()) {
            found = list(column);
        } else {
            found.emplace_back(as_text(column, *cell));
        }
        for (std::string& source : found) {
            if (source.starts_with('@')) {
                std::string_view written;
                if (m_sources.at_key(source.substr(1)).get(written) != simdjson::SUCCESS) {
                    m_place.refuse(column, "names " + source + ", which `sources` lacks");
                }
                source = written;
            }
            if (source.empty()) {
                m_place.refuse(column, "is empty");
            }
        }
        return found;
    }

protected:
    [[noreturn]] void refuse(std::string_view column, std::string_view what) const override {
        m_place.refuse(column, what);
    }

private:
    std::optional<element> at(std::string_view column) const {
        element cell;
        if (m_row.at_key(column).get(cell) != simdjson::SUCCESS) {
            return std::nullopt;
        }
        return cell;
    }
    std::string_view as_text(std::string_view column, const element& cell) const {
        std::string_view value;
        if (cell.get(value) != simdjson::SUCCESS) {
            m_place.refuse(column, "is not text");
        }
        return value;
    }

    object m_row;
    object m_sources;
    Place m_place;
};

} // namespace

std::string Row::source(std::string_view column) const {
    const auto all = sources(column);
    return join(all, "; ");
}

DottedVersion Row::version(std::string_view column) const {
    auto parsed = DottedVersion::parse(text(column));
    if (!parsed) {
        refuse(column, parsed.error().message);
    }
    return *std::move(parsed);
}

std::optional<DottedVersion> Row::find_version(std::string_view column) const {
    return find(column) ? std::optional(version(column)) : std::nullopt;
}

std::vector<DottedVersion> Row::versions(std::string_view column) const {
    std::vector<DottedVersion> values;
    for (const std::string& value : list(column)) {
        auto parsed = DottedVersion::parse(value);
        if (!parsed) {
            refuse(column, parsed.error().message);
        }
        values.push_back(*std::move(parsed));
    }
    return values;
}

std::vector<ComputeCapability> Row::capabilities(std::string_view column) const {
    std::vector<ComputeCapability> values;
    for (const std::string& value : list(column)) {
        const auto parsed = ComputeCapability::parse(value);
        if (!parsed) {
            refuse(column, parsed.error().message);
        }
        values.push_back(*parsed);
    }
    return values;
}

ComputeCapability Row::capability(std::string_view column) const {
    const auto parsed = ComputeCapability::parse(text(column));
    if (!parsed) {
        refuse(column, parsed.error().message);
    }
    return *parsed;
}

void read_table(std::string_view name, const RowVisitor& visit) {
    const std::string_view json = data::table(name);
    if (json.empty()) {
        throw std::logic_error("no table data/" + std::string(name) + ".json in this build");
    }
    simdjson::dom::parser parser;
    object document;
    // The padding is embedded behind the text, so nothing is copied.
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(json.data());
    if (const auto error = parser.parse(bytes, json.size(), false).get(document)) {
        if (error == simdjson::MEMALLOC) {
            throw std::bad_alloc();
        }
        throw std::logic_error("data/" + std::string(name) +
                               ".json: " + simdjson::error_message(error));
    }
    object sources;
    if (document.at_key("sources").get(sources) != simdjson::SUCCESS) {
        throw std::logic_error("data/" + std::string(name) + ".json has no `sources`");
    }
    for (const auto& [section, value] : document) {
        array rows;
        if (value.get(rows) != simdjson::SUCCESS) {
            continue; // `about` and `sources`
        }
        std::size_t number = 0;
        for (const element cell : rows) {
            object row;
            const Place place{name, section, ++number};
            if (cell.get(row) != simdjson::SUCCESS) {
                place.refuse("", "belongs to something that is no row");
            }
            visit(section, JsonRow(row, sources, place));
        }
    }
}

} // namespace cudaenv::knowledge
