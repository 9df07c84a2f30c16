// Reads one embedded table row by row. The law of a table (data/README.md): sections are arrays of
// flat rows, every row has a source. A table that breaks it is a defect of the build, so reading
// throws std::logic_error naming table, row and column; the tests read every table whole.
#pragma once

#include "base/compute_capability.hpp"
#include "base/dotted_version.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudaenv::knowledge {

// One row, valid during the visit only.
class Row {
public:
    virtual ~Row() = default;

    [[nodiscard]] virtual std::optional<std::string> find(std::string_view column) const = 0;
    // Empty where the column is absent.
    [[nodiscard]] virtual std::vector<std::string> list(std::string_view column) const = 0;
    // A column that maps names to texts, in the table's order.
    [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>>
    pairs(std::string_view column) const = 0;
    [[nodiscard]] virtual bool flag(std::string_view column) const = 0;
    // Sources written out, "@key" resolved; `column` holds a text or a list.
    [[nodiscard]] virtual std::vector<std::string> sources(std::string_view column) const = 0;

    [[nodiscard]] virtual std::string text(std::string_view column) const = 0;
    [[nodiscard]] std::string source(std::string_view column = "source") const;
    [[nodiscard]] DottedVersion version(std::string_view column) const;
    [[nodiscard]] std::optional<DottedVersion> find_version(std::string_view column) const;
    [[nodiscard]] std::vector<DottedVersion> versions(std::string_view column) const;
    [[nodiscard]] std::vector<ComputeCapability> capabilities(std::string_view column) const;
    [[nodiscard]] ComputeCapability capability(std::string_view column) const;

protected:
    // Throws std::logic_error that names the place.
    [[noreturn]] virtual void refuse(std::string_view column, std::string_view what) const = 0;
};

using RowVisitor = std::function<void(std::string_view section, const Row& row)>;
// Every row of data/NAME.json, in the file's order.
void read_table(std::string_view name, const RowVisitor& visit);

} // namespace cudaenv::knowledge
