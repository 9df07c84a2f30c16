// Any bytes as places that a configuration names. The first line is one path or channel: an
// absolute path comes of it, or one Error. All lines are ~/.conda/environments.txt: what is listed
// is found by its name, and each environment once.
#include "host/channels/channel_source.hpp"
#include "host/conda_installs.hpp"
#include "host/names/environment_names.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/support/fake_disk.hpp"
#include "tests/support/fake_processes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace cudaenv;
using namespace cudaenv::host;
using namespace cudaenv::names;
using namespace cudaenv::trusted;

const Environment k_environment{{"HOME", "/home/u"}, {"SCRATCH", "/scratch/u"}, {"EMPTY", ""}};

void check_path(const std::string& written) {
    std::set<std::string> unset;
    const std::string path = expand_path(written, {&k_environment, "/home/u", "/lab/here"}, unset);
    require(path.starts_with('/') && (path == "/" || !path.ends_with('/')));
    require(path.find("/../") == std::string::npos && path.find("/./") == std::string::npos);
    for (const std::string& name : unset) {
        require(!name.empty() && !k_environment.contains(name));
        require(written.find(name) != std::string::npos);
    }
    if (path.find('$') == std::string::npos) {
        std::set<std::string> none;
        require(expand_path(path, {&k_environment, "/home/u", "/"}, none) == path && none.empty());
    }
}

void check_channel(const std::string& written) {
    const auto channel = channels::locate_channel(written);
    if (!channel) {
        require(channel.error().code == "bad-channel" ||
                channel.error().code == "channel-not-local");
        require(!channel.error().message.empty());
    } else {
        require(!channel->directory.empty() && !channel->name.empty());
        require(channel->directory.find('\0') == std::string::npos);
        require(channel->directory == "/" || !channel->directory.ends_with('/'));
    }
    if (written.find('\0') == std::string::npos) {
        std::string path = '/' + written;
        const auto again = channels::locate_channel(channels::file_url(path));
        while (path.size() > 1 && path.ends_with('/')) {
            path.pop_back();
        }
        require(again && again->directory == path && !again->bare_word);
    }
}

void check_list(const std::string& text) {
    test::FakeDisk disk;
    disk.file("/home/u/.conda/environments.txt", text)
        .directory("/data/apex/conda-meta")
        .file("/data/venv/pyvenv.cfg")
        .link("/data/link", "/data/apex");
    const NameSources sources{&disk,
                              {&k_environment, "/home/u", "/lab/here"},
                              [](const std::string&) { return true; },
                              [&](const std::string& path) {
                                  const auto read = disk.read_file(path);
                                  return read ? TrustedFile{*read, {}} : TrustedFile{};
                              }};
    const SearchTools tools = search_tools(sources);
    const std::set<std::string> listed(tools.registered.begin(), tools.registered.end());
    require(listed.size() == tools.registered.size());
    for (const std::string& prefix : listed) {
        require(prefix.starts_with('/') && prefix.find('\n') == std::string::npos);
        require(text.find(prefix) != std::string::npos);
    }
    for (const std::string name : {"apex", "venv", "link"}) {
        const auto prefix = prefix_named(name, tools, disk);
        require(!listed.contains("/data/" + name) || prefix ||
                prefix.error().code == "ambiguous-environment");
        require(!prefix || (listed.contains(*prefix) && prefix->ends_with('/' + name)));
    }

    test::FakeProcesses processes;
    VersionCache versions("", 0);
    const auto found = find_conda(disk, k_environment, "/home/u",
                                  VersionAsker{processes, versions, k_environment});
    const std::set<std::string> once(found.prefixes.begin(), found.prefixes.end());
    require(once.size() == found.prefixes.size() && processes.started.empty());
    for (const std::string& prefix : once) {
        require(disk.real_path(prefix) == prefix);
    }
    require(!listed.contains("/data/link") || once.contains("/data/apex"));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    // The fuzzer's bytes are text here.
    const std::string text(reinterpret_cast<const char*>(data), size);
    const std::string line = text.substr(0, text.find('\n'));
    check_path(line);
    check_channel(line);
    check_list(text);
    return 0;
}
