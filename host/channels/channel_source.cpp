#include "host/channels/channel_source.hpp"

#include "base/ascii.hpp"
#include "base/percent.hpp"
#include "base/text.hpp"
#include "host/channels/repodata_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <iterator>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace cudaenv::channels {

namespace {

// Below this a second thread costs more than it saves.
constexpr std::uint64_t k_worth_a_thread = 1U << 20U;

struct FoundFile {
    std::string path;
    std::string subdir;
    std::uint64_t size = 0;
};

class DirectoryChannel final : public resolve::Channel {
public:
    DirectoryChannel(std::string name, std::vector<std::unique_ptr<RepodataFile>> files)
        : m_name(std::move(name)), m_files(std::move(files)) {}

    const std::string& name() const override { return m_name; }

    Result<void> records_of(std::string_view package,
                            std::vector<specs::PackageRecord>& out) const override {
        for (const auto& file : m_files) {
            CUDAENV_TRY_VOID(file->records_of(package, out));
        }
        return {};
    }

    bool has(std::string_view package) const override {
        return std::ranges::any_of(m_files, [&](const auto& file) { return file->has(package); });
    }

    std::vector<std::string> names() const override {
        std::vector<std::string> out;
        for (const auto& file : m_files) {
            std::vector<std::string> more = file->names();
            std::vector<std::string> merged;
            merged.reserve(out.size() + more.size());
            std::set_union(std::make_move_iterator(out.begin()), std::make_move_iterator(out.end()),
                           std::make_move_iterator(more.begin()),
                           std::make_move_iterator(more.end()), std::back_inserter(merged));
            out = std::move(merged);
        }
        return out;
    }

private:
    std::string m_name;
    std::vector<std::unique_ptr<RepodataFile>>
        m_files; // in the order of the search: platform, noarch
};

bool is_directory(const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string absolute(const std::string& path) {
    if (path.starts_with('/')) {
        return path;
    }
    char* here = ::getcwd(nullptr, 0);
    std::string out = here != nullptr ? here : "";
    std::free(here);
    std::string_view rest = path;
    while (rest.starts_with("./")) {
        rest.remove_prefix(2);
    }
    if (rest != "." && !rest.empty()) {
        out += '/';
        out += rest;
    }
    return out;
}

// The newer of repodata.json and repodata.json.zst in one subdir; an empty path where neither is.
Result<FoundFile> repodata_in(const std::string& directory, const std::string& subdir) {
    FoundFile out;
    out.subdir = subdir;
    struct timespec newest {};
    for (const char* name : {"repodata.json", "repodata.json.zst"}) {
        const std::string path = directory + '/' + subdir + '/' + name;
        struct stat status {};
        if (::stat(path.c_str(), &status) != 0) {
            if (errno != ENOENT && errno != ENOTDIR) {
                return unavailable("cannot-read",
                                   std::string("cannot read repodata: ") + std::strerror(errno), {},
                                   path);
            }
            continue;
        }
        const auto& time = status.st_mtim;
        if (out.path.empty() || time.tv_sec > newest.tv_sec ||
            (time.tv_sec == newest.tv_sec && time.tv_nsec > newest.tv_nsec)) {
            newest = time;
            out.path = path;
            out.size = static_cast<std::uint64_t>(status.st_size);
        }
    }
    return out;
}

tl::unexpected<Error> not_a_channel(const ChannelLocation& location, const std::string& directory,
                                    const ChannelOptions& options) {
    struct stat status {};
    const bool there = ::stat(directory.c_str(), &status) == 0;
    const int number = there ? 0 : errno;
    if (location.bare_word) {
        return unavailable("channel-not-local",
                           "channel " + location.name +
                               " is on the network; only channels on this "
                               "machine can be read",
                           "give a directory or a file:// URL that holds " +
                               options.platform_subdir + "/ and noarch/ with repodata.json");
    }
    if (!there && number != ENOENT && number != ENOTDIR) {
        return unavailable("cannot-read",
                           std::string("cannot read channel: ") + std::strerror(number), {},
                           directory);
    }
    std::string message = "no conda channel here: ";
    std::string hint = "a channel is a directory that holds " + options.platform_subdir +
                       "/repodata.json or noarch/repodata.json (or .json.zst)";
    if (!there) {
        message += "no such directory";
    } else if (!S_ISDIR(status.st_mode)) {
        message += "this is a file";
    } else {
        message += "neither " + options.platform_subdir + "/ nor noarch/ is in it";
        if (::access((directory + "/repodata.json").c_str(), F_OK) == 0 ||
            ::access((directory + "/repodata.json.zst").c_str(), F_OK) == 0) {
            hint = "this is one subdir of a channel: give the directory above it";
        }
    }
    return bad_input("no-channel", std::move(message), std::move(hint), directory);
}

// The repodata files of the channel at `directory`.
Result<std::vector<FoundFile>> find_files(const ChannelLocation& location,
                                          const std::string& directory,
                                          const ChannelOptions& options) {
    std::vector<FoundFile> files;
    std::string without; // a subdir that has no repodata
    for (const std::string& subdir : {options.platform_subdir, std::string("noarch")}) {
        CUDAENV_TRY(auto found, repodata_in(directory, subdir));
        if (!found.path.empty()) {
            files.push_back(std::move(found));
        } else if (is_directory(directory + '/' + subdir)) {
            without = directory + '/' + subdir;
        }
    }
    if (!without.empty() && !(location.bare_word && files.empty())) {
        return bad_input("no-channel", "this subdir of a channel has no repodata.json",
                         "make it with `conda index`, or remove the empty subdir", without);
    }
    if (files.empty()) {
        return not_a_channel(location, directory, options);
    }
    return files;
}

constexpr std::string_view k_local_hint =
    "give a directory or a file:// URL that holds linux-64/ and noarch/ with repodata.json or "
    "repodata.json.zst";

// "https" of "https://host/x"; empty for a path. One letter is not a scheme.
std::string_view scheme_of(std::string_view text) {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos || colon < 2 || !is_letter(text[0]) ||
        colon + 1 >= text.size() || text[colon + 1] != '/') {
        return {};
    }
    const auto scheme = text.substr(0, colon);
    const bool fits = std::ranges::all_of(
        scheme, [](char c) { return is_alnum(c) || c == '+' || c == '-' || c == '.'; });
    return fits ? scheme : std::string_view{};
}

Result<std::string> path_of_file_url(std::string_view url) {
    const auto after_scheme = url.find(':') + 1;
    std::string_view rest = url.substr(after_scheme);
    if (rest.starts_with("//")) {
        rest.remove_prefix(2);
        const auto slash = std::min(rest.find('/'), rest.size());
        const auto host = to_lower_ascii(rest.substr(0, slash));
        if (!host.empty() && host != "localhost") {
            return bad_input("bad-channel",
                             "a file:// URL of another machine, \"" + host + "\", cannot be read",
                             "a path of this machine has three slashes, as in file:///srv/channel");
        }
        rest.remove_prefix(slash);
    }
    const std::size_t start = url.size() - rest.size();
    // What follows ? or # is no part of the path.
    rest = rest.substr(0, rest.find_first_of("?#"));
    if (const std::size_t fault = percent_fault(rest); fault != std::string_view::npos) {
        auto error = bad_input("bad-channel",
                               "\"" + std::string(rest.substr(fault, 3)) +
                                   "\" is not a percent escape of a path",
                               "expected % and two hexadecimal digits, as in %20 for a space");
        error.value().column = static_cast<int>(start + fault + 1);
        return error;
    }
    return percent_decode(rest);
}

} // namespace

Result<std::unique_ptr<resolve::Channel>> open_channel(std::string_view url_or_directory,
                                                       const ChannelOptions& options) {
    CUDAENV_TRY(auto location, locate_channel(url_or_directory));
    const std::string directory = absolute(location.directory);
    CUDAENV_TRY(auto files, find_files(location, directory, options));

    const std::string base = redact_secrets(file_url(directory == "/" ? "" : directory));
    const auto open_one = [&](const FoundFile& found) {
        return RepodataFile::open(found.path,
                                  {location.name, base + '/' + found.subdir + '/', found.subdir},
                                  {options.cache_directory, options.largest_text});
    };
    std::future<Result<std::unique_ptr<RepodataFile>>> second;
    if (files.size() == 2 && std::min(files[0].size, files[1].size) >= k_worth_a_thread) {
        try {
            second = std::async(std::launch::async, [&] { return open_one(files[1]); });
        } catch (const std::system_error&) {
            // No thread to be had: one after the other then.
        }
    }
    std::vector<std::unique_ptr<RepodataFile>> opened;
    for (std::size_t i = 0; i < files.size(); ++i) {
        auto file = i == 1 && second.valid() ? second.get() : open_one(files[i]);
        if (!file) {
            return tl::unexpected(std::move(file).error()); // the future's destructor waits
        }
        opened.push_back(std::move(*file));
    }
    return std::make_unique<DirectoryChannel>(location.name, std::move(opened));
}

Result<ChannelLocation> locate_channel(std::string_view url_or_directory) {
    const auto given = trim(url_or_directory);
    ChannelLocation out;
    out.name = redact_secrets(given);
    if (given.empty() || given.find('\0') != std::string_view::npos) {
        return bad_input("bad-channel", "a channel without a name", std::string(k_local_hint));
    }
    if (const auto scheme = to_lower_ascii(scheme_of(given)); scheme == "file") {
        CUDAENV_TRY(out.directory, path_of_file_url(given));
    } else if (!scheme.empty()) {
        return unavailable("channel-not-local",
                           "channel " + out.name +
                               " is on the network; only channels on this "
                               "machine can be read",
                           std::string(k_local_hint));
    } else {
        out.directory = given;
        out.bare_word = given.find('/') == std::string_view::npos && given != "." && given != "..";
    }
    out.directory = std::string(without_end_slashes(out.directory));
    if (out.directory.empty()) {
        return bad_input("bad-channel", "channel " + out.name + " has no path",
                         std::string(k_local_hint));
    }
    return out;
}

std::string file_url(std::string_view absolute_path) {
    return "file://" + percent_encode(absolute_path, "-._~/!$&'()*+,;=:@");
}

} // namespace cudaenv::channels
