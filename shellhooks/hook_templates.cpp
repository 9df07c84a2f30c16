#include "shellhooks/renderers.hpp"

// hooks.S, made by CMakeLists.txt.
extern "C" {
extern const char cudaenv_hook_bash[];
extern const char cudaenv_hook_bash_end[];
extern const char cudaenv_hook_zsh[];
extern const char cudaenv_hook_zsh_end[];
extern const char cudaenv_hook_fish[];
extern const char cudaenv_hook_fish_end[];
extern const char cudaenv_hook_tcsh[];
extern const char cudaenv_hook_tcsh_end[];
extern const char cudaenv_hook_xonsh[];
extern const char cudaenv_hook_xonsh_end[];
}

namespace cudaenv::shellhooks {

std::string_view hook_template(Shell shell) {
    switch (shell) {
    case Shell::Posix:
        break;
    case Shell::Bash:
        return {cudaenv_hook_bash, cudaenv_hook_bash_end};
    case Shell::Zsh:
        return {cudaenv_hook_zsh, cudaenv_hook_zsh_end};
    case Shell::Fish:
        return {cudaenv_hook_fish, cudaenv_hook_fish_end};
    case Shell::Tcsh:
        return {cudaenv_hook_tcsh, cudaenv_hook_tcsh_end};
    case Shell::Xonsh:
        return {cudaenv_hook_xonsh, cudaenv_hook_xonsh_end};
    }
    return {};
}

} // namespace cudaenv::shellhooks
