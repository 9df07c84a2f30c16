#include "host/probe/account_names.hpp"

#include "base/text.hpp"

namespace cudaenv::probe {

namespace {

// Lines are "name:x:number:".
std::string name_in(host::FileSystem& files, const char* file, std::string_view number) {
    const std::string text = files.read_file(file).value_or("");
    for (const std::string_view line : split(text, '\n')) {
        const auto fields = split(line, ':');
        if (fields.size() > 3 && fields[2] == number) {
            return std::string(fields[0]);
        }
    }
    return std::string(number);
}

} // namespace

std::string user_name(host::FileSystem& files, std::string_view number) {
    return name_in(files, "/etc/passwd", number);
}

std::string group_name(host::FileSystem& files, std::string_view number) {
    return name_in(files, "/etc/group", number);
}

} // namespace cudaenv::probe
