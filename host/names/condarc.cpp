#include "host/names/condarc.hpp"

#include "base/text.hpp"
#include "base/yaml_document.hpp"

#include <algorithm>
#include <span>

namespace cudaenv::names {

namespace {

constexpr std::string_view k_key = "envs_dirs";
constexpr std::string_view k_other_key = "envs_path";

// Of the comment behind what stands in that line. YAML has more kinds of line ends than \n.
CondarcMark mark_in(std::span<const std::string_view> lines, int line) {
    const auto at = static_cast<std::size_t>(line) - 1;
    std::string_view comment = at < lines.size() ? lines[at] : std::string_view();
    comment = trim(comment.substr(std::min(comment.rfind(" #"), comment.size())));
    while (!comment.empty() && (comment.front() == '!' || comment.front() == '#')) {
        comment.remove_prefix(1);
    }
    return comment == "final"    ? CondarcMark::Final
           : comment == "top"    ? CondarcMark::Top
           : comment == "bottom" ? CondarcMark::Bottom
                                 : CondarcMark::None;
}

tl::unexpected<Error> broken(std::string message, int line) {
    return tl::unexpected(
        Error{ErrorKind::BadInput, "bad-condarc", std::move(message), {}, line, 0, {}});
}

Result<CondarcList> list_of(const YamlEntry& entry, std::span<const std::string_view> lines) {
    CondarcList list;
    list.mark = mark_in(lines, entry.line);
    if (entry.value.is_null()) {
        return list;
    }
    if (entry.value.kind != YamlNode::Kind::Sequence) {
        return broken("envs_dirs is not a list: conda refuses it", entry.value.line);
    }
    for (const YamlNode& item : entry.value.items) {
        if (item.kind != YamlNode::Kind::Scalar) {
            return broken("an item of envs_dirs is not a path", item.line);
        }
        const bool own_line = item.line != entry.line;
        list.items.push_back({item.text, own_line ? mark_in(lines, item.line) : CondarcMark::None});
    }
    return list;
}

} // namespace

Result<CondarcList> parse_condarc(std::string_view text) {
    const auto root = parse_yaml(text);
    if (!root) {
        return broken(root.error().message, root.error().line);
    }
    if (!root->is_null() && root->kind != YamlNode::Kind::Mapping) {
        return broken("expected KEY: VALUE", root->line);
    }
    const YamlEntry* found = nullptr;
    for (const YamlEntry& entry : root->entries) {
        if (entry.key != k_key && entry.key != k_other_key) {
            continue;
        }
        if (found != nullptr && found->key != entry.key) {
            return broken("envs_dirs and envs_path are both set: conda accepts only one of them",
                          entry.line);
        }
        found = &entry;
    }
    return found ? list_of(*found, split(text, '\n')) : CondarcList{};
}

std::vector<std::string> merge_condarc(const std::vector<CondarcList>& sources) {
    const auto is_final = [](const CondarcList& list) { return list.mark == CondarcMark::Final; };
    const auto end = std::ranges::find_if(sources, is_final);
    const std::span relevant(sources.begin(), end == sources.end() ? end : end + 1);
    std::vector<std::string> bottom; // last first
    std::vector<std::string> top;
    const auto add_marked = [](const CondarcList& list, CondarcMark mark,
                               std::vector<std::string>& to) {
        for (const CondarcItem& item : list.items) {
            if (item.mark == mark) {
                to.push_back(item.text);
            }
        }
    };
    for (const CondarcList& list : relevant) {
        add_marked(list, CondarcMark::Top, top);
    }
    std::vector<std::string> ordered;
    for (const std::string& text : top) {
        add_once(ordered, text);
    }
    for (auto list = relevant.rbegin(); list != relevant.rend(); ++list) {
        add_marked(*list, CondarcMark::Bottom, bottom);
        for (const CondarcItem& item : list->items) {
            add_once(ordered, item.text);
        }
    }
    std::vector<std::string> backwards;
    for (auto text = bottom.rbegin(); text != bottom.rend(); ++text) {
        add_once(backwards, *text);
    }
    for (auto text = ordered.rbegin(); text != ordered.rend(); ++text) {
        add_once(backwards, *text);
    }
    return {backwards.rbegin(), backwards.rend()};
}

} // namespace cudaenv::names
