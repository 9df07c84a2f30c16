#include "shellhooks/quote.hpp"
#include "shellhooks/renderers.hpp"

namespace cudaenv::shellhooks {

namespace {

// What fish knows beyond the environment's bytes comes back too: a global is taken away where the
// universal variable below it has the value, and a list (`set -gx CC gcc -m64`) is kept as a list.
// "$NAME" is the very text that a child sees: joined by ':' where the name is a path, else by ' '.
std::string render_set(const std::string& name, const std::string& value) {
    const std::string word = quote_word(Shell::Fish, value);
    const std::string list = "__cudaenv_list_" + name;
    std::string out;
    out += "set -qU " + name + "; and set -eg " + name + '\n';
    out += "if set -qx " + name + "; and contains -- " + word + " \"$" + name + "\"\n";
    out += "else if set -q " + list + "; and contains -- " + word + " \"$" + list + "\"\n";
    out += "set -gx " + name + " $" + list + '\n';
    out += "set -eg " + list + '\n';
    out += "else\n";
    out += "set -q " + name + "[2]; and set -g " + list + " $" + name + '\n';
    out += "set -gx " + name + ' ' + word + '\n';
    out += "end\n";
    return out;
}

std::string render(const plan::Change& change) {
    if (!change.value) {
        // A universal variable of that name is the user's own and shows again.
        return "set -eg " + change.name + '\n';
    }
    if (change.name == k_unexported_variable) {
        // Without -x: what is exported stays so (venv's activate.fish does export it).
        return "set -g " + change.name + ' ' + quote_word(Shell::Fish, *change.value) + '\n';
    }
    return render_set(change.name, *change.value);
}

} // namespace

std::string render_changes_fish(std::span<const plan::Change> changes) {
    std::string out;
    for (const plan::Change& change : changes) {
        out += render(change);
    }
    return out;
}

std::string render_watch_fish(const Watch& watch) {
    return "set -g __cudaenv_watch " + quote_word(Shell::Fish, write_watch(watch)) + '\n';
}

} // namespace cudaenv::shellhooks
