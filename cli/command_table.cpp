#include "cli/command_table.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::cli {

namespace {

using Words = std::string_view;

constexpr auto k_colours = std::to_array<Words>({"auto", "always", "never"});
constexpr auto k_purposes = std::to_array<Words>({"run", "build"});
constexpr auto k_package_tools = std::to_array<Words>({"auto", "conda", "pip"});
constexpr auto k_shells = std::to_array<Words>({"bash", "zsh", "fish", "tcsh"});
constexpr auto k_hooked_shells = std::to_array<Words>({"bash", "zsh", "fish", "tcsh", "xonsh"});
constexpr auto k_all_shells = std::to_array<Words>(
    {"sh", "bash", "zsh", "fish", "tcsh", "xonsh", "posix", "dash", "ksh", "csh"});
constexpr auto k_schemas = std::to_array<Words>(
    {"error", "finding", "host", "pin", "resolve", "status", "toolkits", "config", "env", "change",
     "check", "daemon", "fix", "kept", "probe", "usage"});
constexpr auto k_config_actions = std::to_array<Words>({"list", "get", "set", "path"});
constexpr auto k_daemon_actions = std::to_array<Words>({"start", "stop", "status", "logs"});
constexpr auto k_debug_actions = std::to_array<Words>({"oracle"});

constexpr auto k_common = std::to_array<OptionRow>({
    {0, "json", "", "one JSON object on standard output, nothing else there"},
    {'p',
     "prefix",
     "PREFIX",
     "path of the environment",
     {},
     Repeat::No,
     Offered::Yes,
     true},
    {'n', "name", "ENV", "name of the conda environment"},
    {'q', "quiet", "", "print only errors on standard error"},
    {'v', "verbose", "", "where each value comes from"},
    {'y', "yes", "", "do not ask"},
    {0, "color", "WHEN", "colour: auto, always or never", k_colours},
    {'h', "help", "", "this text"},
});

constexpr auto k_common_statuses = std::to_array<StatusRow>({
    {"0", "done, and the answer is yes"},
    {"1", "done, and the answer is no: a conflict, a failed probe"},
    {"2", "usage or bad input"},
    {"3", "it could not be done: files, permission, network, time"},
    {"70", "a defect of cudaenv itself"},
});

constexpr auto k_host = std::to_array<OptionRow>({
    {0,
     "host",
     "FILE",
     "use the machine described in this facts file",
     {},
     Repeat::No,
     Offered::Yes,
     true},
    {0, "driver", "VERSION", "assume this driver version"},
    {0, "gpu", "CC", "assume a GPU of this compute capability", {}, Repeat::Yes},
});

constexpr auto k_host_command = std::to_array<OptionRow>({
    {0, "probe", "", "run the quick probe: the driver's CUDA and the GPUs measured, not looked up"},
    {0,
     "export",
     "FILE",
     "write the facts to a file that --host reads; - is standard output",
     {},
     Repeat::No,
     Offered::Yes,
     true},
});

constexpr auto k_pin = std::to_array<OptionRow>({
    {0, "here", "", "in ./cudaenv.toml, even where a directory above has one"},
    {0, "global", "", "in your own configuration, for every project"},
    {0, "strict", "", "status 1 where this host cannot have what is pinned"},
});

constexpr auto k_unpin = std::to_array<OptionRow>({
    {0, "here", "", "in ./cudaenv.toml, even where a directory above has one"},
    {0, "global", "", "in your own configuration"},
});

constexpr auto k_resolve = std::to_array<OptionRow>({
    {0, "cuda", "X.Y", "the CUDA version wanted"},
    {0, "for", "PURPOSE", "run, or build: with nvcc and a compiler that fits it", k_purposes},
    {0, "python", "X.Y", "the Python version wanted"},
    {0, "manager", "TOOL", "who installs: auto, conda or pip", k_package_tools},
    {'c',
     "channel",
     "URL|DIR",
     "a conda channel; the first given wins",
     {},
     Repeat::Yes,
     Offered::Yes,
     true},
    {0, "index", "URL|DIR", "a pip index", {}, Repeat::Yes, Offered::No},
    {0, "offline", "", "no network: only what is on this machine"},
    {0, "cpu", "", "CPU-only build"},
    {0, "strict-host", "", "treat host warnings as errors"},
});

constexpr auto k_not_with_watch =
    std::to_array<Words>({"full", "build", "all-gpus", "allow-missing", "prefix", "name"});
constexpr auto k_probe = std::to_array<OptionRow>({
    {0, "full", "", "the whole ladder: PTX and the libraries of CUDA too"},
    {0, "build", "", "nvcc and the host compiler build a kernel too, and torch an extension"},
    {0, "all-gpus", "", "include GPUs hidden by CUDA_VISIBLE_DEVICES"},
    {0, "allow-missing", "", "status 0 where there is no driver or no GPU"},
    {0,
     "watch",
     "",
     "no probe: what the GPUs do, and whose processes those are, every 2 s",
     {},
     Repeat::No,
     Offered::Yes,
     false,
     k_not_with_watch},
});

constexpr auto k_severities = std::to_array<Words>({"error", "warning", "note"});
constexpr auto k_check = std::to_array<OptionRow>({
    {0, "fix", "", "apply safe fixes, after one confirmation (-y skips it)"},
    {0, "fail-on", "SEVERITY", "status 1 from this severity on: error, warning, note",
     k_severities},
    {0, "ignore", "CODE", "do not report this finding", {}, Repeat::Yes},
});

constexpr auto k_keep = std::to_array<OptionRow>({
    {0, "list", "", "what is kept of the environment"},
    {0, "forget", "DIST", "take the kept copy away; DIST==VERSION for one of several"},
});

constexpr auto k_run = std::to_array<OptionRow>({
    {0, "cuda", "V", "CUDA version; overrides every pin"},
    {0, "usr-local-cuda", "", "for the command, /usr/local/cuda is the toolkit that was chosen"},
});

constexpr auto k_use = std::to_array<OptionRow>({
    {0, "clear", "", "clear this shell's version"},
    {0, "shell", "SHELL", "only the text for a shell to evaluate, as its hook does", k_all_shells},
});

constexpr auto k_init = std::to_array<OptionRow>({
    {0, "undo", "", "take it out again"},
});

constexpr auto k_attach = std::to_array<OptionRow>({
    {0, "kernelspec", "", "attach its Jupyter kernels instead"},
});

constexpr auto k_env = std::to_array<OptionRow>({
    {0, "cuda", "V", "CUDA version; overrides every pin"},
    {0, "shell", "SHELL", "text for a shell to evaluate", k_all_shells},
    {0, "dotenv", "", "as a .env file"},
    {0, "github", "", "into the files that GITHUB_ENV and GITHUB_PATH name"},
    // What the scripts of `attach` evaluate when an environment is left.
    {0, "leave", "", "what takes our changes back", {}, Repeat::No, Offered::No},
});

constexpr auto k_run_examples = std::to_array<Words>(
    {"cudaenv run nvcc --version", "cudaenv run --cuda 11.3 --usr-local-cuda -- make -j4"});
constexpr auto k_use_examples = std::to_array<Words>({"cudaenv use 11.3", "cudaenv use --clear"});
constexpr auto k_env_examples = std::to_array<Words>({"cudaenv env", "cudaenv env --dotenv"});
constexpr auto k_hook_examples = std::to_array<Words>({"cudaenv hook bash"});
constexpr auto k_init_examples =
    std::to_array<Words>({"cudaenv init bash", "cudaenv init bash --undo"});
constexpr auto k_attach_examples =
    std::to_array<Words>({"cudaenv attach -n apex", "cudaenv attach --kernelspec"});
constexpr auto k_detach_examples = std::to_array<Words>({"cudaenv detach -n apex"});
constexpr auto k_status_examples = std::to_array<Words>({"cudaenv status"});
constexpr auto k_host_examples =
    std::to_array<Words>({"cudaenv host", "cudaenv host --probe --export lab-07.json",
                          "cudaenv host --host lab-07.json"});
constexpr auto k_toolkits_examples = std::to_array<Words>({"cudaenv toolkits"});
constexpr auto k_pin_examples =
    std::to_array<Words>({"cudaenv pin 11.3", "cudaenv pin torch=1.12 'cudnn>=8.2'"});
constexpr auto k_unpin_examples = std::to_array<Words>({"cudaenv unpin cudnn"});
constexpr auto k_resolve_examples = std::to_array<Words>(
    {"cudaenv resolve torch torchvision --cuda 11.3 --python 3.9",
     "cudaenv resolve pytorch 'numpy>=1.19' -c pytorch -c conda-forge --for build"});
constexpr auto k_explain_examples =
    std::to_array<Words>({"cudaenv explain torch==2.4 --cuda 12.1"});
constexpr auto k_probe_examples =
    std::to_array<Words>({"cudaenv probe", "cudaenv probe --full --build -n apex"});
constexpr auto k_probe_statuses = std::to_array<StatusRow>({
    {"0", "the chain holds; with --allow-missing also where there is no driver or GPU"},
    {"1", "it fails, hangs or crashes, the GPU is busy, or there is no driver or GPU"},
    {"2", "usage"},
    {"3", "it could not be tried: a program of cudaenv is missing"},
});
constexpr auto k_check_examples = std::to_array<Words>(
    {"cudaenv check", "cudaenv check -n apex --fail-on warning", "cudaenv check --fix CE102"});
constexpr auto k_check_statuses = std::to_array<StatusRow>({
    {"0", "no finding, or none of the severity of --fail-on (error) or worse"},
    {"1", "there is one; with --fix: one that was named or could be fixed is left"},
    {"2", "usage error, no environment given, or --fix has no terminal to ask on"},
    {"3", "the environment could not be read, or a step of --fix failed"},
});
constexpr auto k_keep_examples =
    std::to_array<Words>({"cudaenv keep torch", "cudaenv keep --list"});
constexpr auto k_config_examples = std::to_array<Words>(
    {"cudaenv config list", "cudaenv config set resolve.channels pytorch,conda-forge"});
constexpr auto k_daemon_examples =
    std::to_array<Words>({"cudaenv daemon status", "cudaenv daemon logs"});
constexpr auto k_completions_examples =
    std::to_array<Words>({"cudaenv completions bash", "cudaenv completions fish | source"});
constexpr auto k_schema_examples = std::to_array<Words>({"cudaenv schema resolve"});
constexpr auto k_debug_examples = std::to_array<Words>({"cudaenv debug oracle < questions.jsonl"});

constexpr auto k_commands = std::to_array<CommandRow>({
    {"status",
     "status",
     "project, pins and environment of this shell, and the next step",
     {},
     {},
     true,
     k_status_examples},
    {"host",
     "host",
     "what this machine is: driver, GPUs, toolkits, compilers",
     {},
     k_host_command,
     true,
     k_host_examples},
    {"toolkits",
     "toolkits",
     "every CUDA toolkit, and the compilers here that it accepts",
     {},
     {},
     true,
     k_toolkits_examples},
    {"pin",
     "pin",
     "choose versions for this project; alone, show what is chosen",
     {"SPEC", 0, k_any_number, "11.3, cuda=11.3, cuda@11.3, cu113; torch=1.12, 'cudnn>=8.2'"},
     k_pin,
     true,
     k_pin_examples},
    {"unpin",
     "unpin",
     "take pins out again",
     {"NAME", 1, k_any_number, "cuda, torch, cudnn, ..."},
     k_unpin,
     true,
     k_unpin_examples},
    {"resolve",
     "resolve",
     "which versions fit the request, the pins and this machine",
     {"SPEC", 0, k_any_number, "conda MatchSpecs or pip requirements"},
     k_resolve,
     true,
     k_resolve_examples},
    {"explain",
     "explain",
     "like resolve, with the reason for each choice or conflict",
     {"SPEC", 0, k_any_number, "conda MatchSpecs or pip requirements"},
     k_resolve,
     true,
     k_explain_examples},
    {"probe",
     "probe",
     "run a kernel with this environment's own CUDA: does the chain hold, and if not, where",
     {},
     k_probe,
     false,
     k_probe_examples,
     k_probe_statuses},
    {"check",
     "check",
     "what conda, pip and CUDA did to an environment: files overwritten, copies, misfits",
     {"CODE", 0, k_any_number, "only these findings, as CE102"},
     k_check,
     true,
     k_check_examples,
     k_check_statuses},
    {"keep",
     "keep",
     "a copy of a distribution that was built here, for check --fix to put back",
     {"DIST", 0, 1, "an installed distribution, as torch; alone, what is kept"},
     k_keep,
     false,
     k_keep_examples},
    {"run",
     "",
     "one command, with an environment in which CUDA fits",
     {"COMMAND", 1, k_any_number, "a command and its arguments", {}, true},
     k_run,
     false,
     k_run_examples},
    {"use",
     "",
     "a CUDA version for this shell alone",
     {"V", 0, 1, "11.3, cuda=11.3, cu113"},
     k_use,
     false,
     k_use_examples},
    {"env",
     "activate",
     "what activation changes, for shells, files and CI",
     {},
     k_env,
     false,
     k_env_examples},
    {"hook",
     "",
     "the text that a shell evaluates to follow its environment",
     {"SHELL", 1, 1, "bash, zsh, fish, tcsh or xonsh", k_hooked_shells},
     {},
     false,
     k_hook_examples},
    {"init",
     "",
     "put that into the shell's start-up file, once",
     {"SHELL", 1, 1, "bash, zsh, fish, tcsh or xonsh", k_hooked_shells},
     k_init,
     false,
     k_init_examples},
    {"attach",
     "",
     "an environment that sets CUDA up by itself: scripts, jobs, kernels",
     {},
     k_attach,
     false,
     k_attach_examples},
    {"detach", "", "undo attach", {}, k_attach, false, k_detach_examples},
    {"config",
     "config",
     "the configuration: list, get KEY, set KEY VALUE..., path",
     {"ACTION", 1, k_any_number, "list, get KEY, set KEY VALUE..., path", k_config_actions},
     {},
     false,
     k_config_examples},
    {"daemon",
     "",
     "the process that answers shells at once: start, stop, status, logs",
     {"ACTION", 1, 1, "start, stop, status or logs", k_daemon_actions},
     {},
     false,
     k_daemon_examples},
    {"completions",
     "",
     "completions for a shell",
     {"SHELL", 1, 1, "bash, zsh, fish or tcsh", k_shells},
     {},
     false,
     k_completions_examples},
    {"schema",
     "schema",
     "the JSON Schema of what --json prints",
     {"NAME", 1, 1,
      "error, finding, host, pin, resolve, status, toolkits, config, env, change, check, daemon, "
      "fix, kept, probe, usage",
      k_schemas},
     {},
     false,
     k_schema_examples},
    {"debug",
     "debug.oracle",
     "oracle: our answers to version and MatchSpec questions, JSON lines",
     {"ACTION", 1, 1, "oracle", k_debug_actions},
     {},
     false,
     k_debug_examples},
});

} // namespace

std::span<const CommandRow> commands() {
    return k_commands;
}

const CommandRow* find_command(std::string_view name) {
    const auto found = std::ranges::find(k_commands, name, &CommandRow::name);
    return found == k_commands.end() ? nullptr : &*found;
}

const CommandRow& default_command() {
    return k_commands.front();
}

std::span<const StatusRow> common_statuses() {
    return k_common_statuses;
}

std::span<const OptionRow> common_options() {
    return k_common;
}
std::span<const OptionRow> host_options() {
    return k_host;
}

std::vector<OptionRow> options_of(const CommandRow& command) {
    std::vector<OptionRow> rows(command.options.begin(), command.options.end());
    if (command.reads_host) {
        rows.insert(rows.end(), k_host.begin(), k_host.end());
    }
    rows.insert(rows.end(), k_common.begin(), k_common.end());
    return rows;
}

} // namespace cudaenv::cli
