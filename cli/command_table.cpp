#include "cli/command_table.hpp"

#include "base/ranges.hpp"
#include "cli/commands/commands.hpp"
#include "cli/render/render.hpp"
#include "shellhooks/hooks/shell.hpp"

#include <algorithm>
#include <array>

namespace cudaenv::cli {

namespace {

// A list of words as hooks::Choices.
#define CUDAENV_CHOICES(words) [] { return std::string_view(words); }

constexpr auto k_common = std::to_array<OptionRow>({
    {.name = "json", .help = "print the result as one JSON object"},
    {.letter = 'p',
     .name = "prefix",
     .value = "PREFIX",
     .help = "path of the environment",
     .is_path = true},
    {.letter = 'n', .name = "name", .value = "ENV", .help = "name of the environment"},
    {.letter = 'q', .name = "quiet", .help = "print no messages except errors"},
    {.letter = 'v', .name = "verbose", .help = "show where each value comes from"},
    {.letter = 'y', .name = "yes", .help = "do not ask for confirmation"},
    {.name = "color",
     .value = "WHEN",
     .help = "use colour: auto, always or never",
     .choices = CUDAENV_CHOICES("auto always never")},
    {.letter = 'h', .name = "help", .help = "show this help"},
});

constexpr auto k_common_statuses = std::to_array<StatusRow>({
    {"0", "success, and the answer is yes"},
    {"1", "the answer is no: a conflict, a finding of severity error, a failed probe"},
    {"2", "usage error or bad input"},
    {"3", "could not be completed: I/O, permission, network or timeout"},
    {"70", "internal error in cudaenv"},
});

constexpr auto k_host = std::to_array<OptionRow>({
    {.name = "host",
     .value = "FILE",
     .help = "use the machine described in this facts file",
     .is_path = true},
    {.name = "driver", .value = "VERSION", .help = "assume this driver version"},
    {.name = "gpu",
     .value = "CC",
     .help = "assume a GPU of this compute capability",
     .repeats = true},
});

constexpr auto k_host_command = std::to_array<OptionRow>({
    {.name = "probe", .help = "measure the driver and the GPUs with the quick probe first"},
    {.name = "export",
     .value = "FILE",
     .help = "write a facts file for --host (- for standard output)",
     .is_path = true},
});

constexpr auto k_pin = std::to_array<OptionRow>({
    {.name = "here", .help = "edit ./cudaenv.toml even if a parent directory has one"},
    {.name = "global", .help = "edit your user configuration, for every project"},
    {.name = "strict", .help = "exit with status 1 if this machine cannot satisfy the pins"},
});
constexpr std::span k_unpin = std::span(k_pin).first(2);

constexpr auto k_resolve = std::to_array<OptionRow>({
    {.name = "cuda", .value = "X.Y", .help = "CUDA version"},
    {.name = "for",
     .value = "PURPOSE",
     .help = "run (default), or build, which also needs nvcc and a compatible compiler",
     .choices = CUDAENV_CHOICES("run build")},
    {.name = "python", .value = "X.Y", .help = "Python version"},
    {.name = "manager",
     .value = "TOOL",
     .help = "package manager: auto (default), conda or pip",
     .choices = CUDAENV_CHOICES("auto conda pip")},
    {.letter = 'c',
     .name = "channel",
     .value = "URL|DIR",
     .help = "conda channel; the first one given has priority",
     .repeats = true,
     .is_path = true},
    {.letter = 'r',
     .name = "requirements",
     .value = "FILE",
     .help = "requirements.txt, environment.yml, pyproject.toml or pixi.toml",
     .repeats = true,
     .is_path = true},
    {.name = "group",
     .value = "NAME",
     .help = "dependency group or extra of pyproject.toml, or environment of pixi.toml",
     .repeats = true},
    {.letter = 'f',
     .name = "index",
     .value = "URL",
     .help = "PyTorch wheel index, which selects the CUDA version: .../whl/cu124",
     .repeats = true,
     .also = "index-url extra-index-url find-links"},
    {.name = "offline", .help = "do not use the network"},
    {.name = "cpu", .help = "CPU-only build"},
    {.name = "strict-host", .help = "treat host warnings as errors"},
});

constexpr auto k_probe = std::to_array<OptionRow>({
    {.name = "full", .help = "also test PTX and the CUDA libraries"},
    {.name = "build", .help = "also compile a kernel with nvcc, and a torch extension"},
    {.name = "all-gpus", .help = "include GPUs hidden by CUDA_VISIBLE_DEVICES"},
    {.name = "allow-missing", .help = "exit with status 0 if there is no driver or no GPU"},
    {.name = "watch",
     .help = "show GPU usage and processes every 2 s instead of probing",
     .not_with = "full build all-gpus allow-missing prefix name"},
});
constexpr auto k_probe_statuses = std::to_array<StatusRow>({
    {"0", "CUDA works; with --allow-missing, also if there is no driver or GPU"},
    {"1", "a step failed, hung or crashed; the GPU is busy; no driver or no GPU"},
    {"2", "usage error"},
    {"3", "the probe could not run: a program of cudaenv is missing"},
});

constexpr auto k_check = std::to_array<OptionRow>({
    {.name = "fix", .help = "apply safe fixes after one confirmation (-y skips it)"},
    {.name = "fail-on",
     .value = "SEVERITY",
     .help = "lowest severity for exit status 1: error (default), warning or note",
     .choices = CUDAENV_CHOICES("error warning note")},
    {.name = "ignore", .value = "CODE", .help = "do not report this finding", .repeats = true},
    {.name = "accept",
     .value = "CODE:NAME",
     .help = "do not report this finding of this environment again, as in CE104:torch",
     .repeats = true,
     .not_with = "fix"},
    {.name = "all", .help = "also show accepted findings", .not_with = "fix"},
});
constexpr auto k_check_statuses = std::to_array<StatusRow>({
    {"0", "no finding of the severity of --fail-on (default: error) or higher"},
    {"1", "there is such a finding; with --fix, a selected one remains"},
    {"2", "usage error, no environment given, or --fix without a terminal and -y"},
    {"3", "the environment could not be read, or a step of --fix failed"},
});

constexpr auto k_keep = std::to_array<OptionRow>({
    {.name = "list", .help = "list the saved copies of this environment"},
    {.name = "forget",
     .value = "DIST",
     .help = "delete the saved copy; DIST==VERSION if there are several"},
});

constexpr OptionRow k_cuda_option{
    .name = "cuda", .value = "V", .help = "CUDA version; overrides every pin"};

constexpr auto k_run = std::to_array<OptionRow>({
    k_cuda_option,
    {.name = "usr-local-cuda", .help = "mount the chosen toolkit at /usr/local/cuda"},
});

constexpr auto k_use = std::to_array<OptionRow>({
    {.name = "clear", .help = "clear this shell's choice"},
    {.name = "shell",
     .value = "SHELL",
     .help = "print text for a shell to evaluate; the hook does this for you",
     .choices = hooks::names_of_all_shells},
});

constexpr auto k_env = std::to_array<OptionRow>({
    k_cuda_option,
    {.name = "shell",
     .value = "SHELL",
     .help = "print text for a shell to evaluate",
     .choices = hooks::names_of_all_shells},
    {.name = "dotenv", .help = "print a .env file"},
    {.name = "github", .help = "append to the files named by GITHUB_ENV and GITHUB_PATH"},
    // For the scripts of `attach` when an environment is deactivated.
    {.name = "leave", .hidden = true},
});

constexpr auto k_init = std::to_array<OptionRow>({
    {.name = "undo", .help = "remove the hook from the file"},
});

constexpr auto k_attach = std::to_array<OptionRow>({
    {.name = "kernelspec", .help = "change the environment's Jupyter kernels instead"},
});

constexpr ArgumentRow k_specs{
    .name = "SPEC", .most = k_any_number, .help = "conda MatchSpecs or pip requirements"};

constexpr auto k_commands = std::to_array<CommandRow>({
    {.name = "status",
     .summary = "show this shell's project, pins, environment and CUDA",
     .reads_host = true,
     .method = "status",
     .examples = "cudaenv status"},
    {.name = "host",
     .summary = "show this machine: driver, GPUs, toolkits, compilers",
     .options = k_host_command,
     .reads_host = true,
     .method = "host",
     .examples = "cudaenv host\n"
                 "cudaenv host --probe --export lab-07.json\n"
                 "cudaenv host --host lab-07.json"},
    {.name = "toolkits",
     .summary = "list CUDA toolkits and the installed compilers that each one accepts",
     .reads_host = true,
     .method = "toolkits",
     .examples = "cudaenv toolkits"},
    {.name = "pin",
     .summary = "pin versions for this project; without arguments, show the pins",
     .arguments = {.name = "SPEC",
                   .most = k_any_number,
                   .help = "11.3, cuda=11.3, cuda@11.3, cu113; torch=1.12, 'cudnn>=8.2'"},
     .options = k_pin,
     .reads_host = true,
     .method = "pin",
     .examples = "cudaenv pin 11.3\n"
                 "cudaenv pin torch=1.12 'cudnn>=8.2'"},
    {.name = "unpin",
     .summary = "remove pins",
     .arguments =
         {.name = "NAME", .least = 1, .most = k_any_number, .help = "cuda, torch, cudnn, ..."},
     .options = k_unpin,
     .reads_host = true,
     .method = "unpin",
     .examples = "cudaenv unpin cudnn"},
    {.name = "resolve",
     .summary = "find versions that fit the request, the pins and this machine",
     .arguments = k_specs,
     .options = k_resolve,
     .reads_host = true,
     .method = "resolve",
     .examples = "cudaenv resolve torch torchvision --cuda 11.3 --python 3.9\n"
                 "cudaenv resolve pytorch 'numpy>=1.19' -c pytorch -c conda-forge --for build"},
    {.name = "explain",
     .summary = "like resolve, with the reason for each choice or conflict",
     .arguments = k_specs,
     .options = k_resolve,
     .reads_host = true,
     .method = "explain",
     .examples = "cudaenv explain torch==2.4 --cuda 12.1"},
    {.name = "probe",
     .summary = "run a CUDA kernel in this environment; if it fails, say why",
     .options = k_probe,
     .method = "probe",
     .run = probe,
     .examples = "cudaenv probe\n"
                 "cudaenv probe --full --build -n apex",
     .statuses = k_probe_statuses},
    {.name = "check",
     .summary = "find problems in an environment: overwritten files, duplicates, mismatches",
     .arguments = {.name = "CODE",
                   .most = k_any_number,
                   .help = "report only these findings, e.g. CE102"},
     .options = k_check,
     .reads_host = true,
     .method = "check",
     .run = check,
     .examples = "cudaenv check\n"
                 "cudaenv check -n apex --fail-on warning\n"
                 "cudaenv check --fix CE102",
     .statuses = k_check_statuses},
    {.name = "keep",
     .summary = "save a copy of a locally built distribution, so check --fix can restore it",
     .arguments = {.name = "DIST",
                   .most = 1,
                   .help = "an installed distribution, e.g. torch; without it, list the copies"},
     .options = k_keep,
     .method = "keep",
     .examples = "cudaenv keep torch\n"
                 "cudaenv keep --list"},
    {.name = "run",
     .summary = "run a command with CUDA set up",
     .arguments = {.name = "COMMAND",
                   .least = 1,
                   .most = k_any_number,
                   .help = "a command and its arguments",
                   .is_command = true},
     .options = k_run,
     .run = run_command,
     .examples = "cudaenv run nvcc --version\n"
                 "cudaenv run --cuda 11.3 --usr-local-cuda -- make -j4"},
    {.name = "use",
     .summary = "choose a CUDA version for this shell only",
     .arguments = {.name = "V", .most = 1, .help = "11.3, cuda=11.3, cu113"},
     .options = k_use,
     .reads_host = true,
     .run = use,
     .examples = "cudaenv use 11.3\n"
                 "cudaenv use --clear"},
    {.name = "env",
     .summary = "print what activation changes, for shells, files and CI",
     .options = k_env,
     .method = "activate",
     .run = env,
     .examples = "cudaenv env\n"
                 "cudaenv env --dotenv"},
    {.name = "hook",
     .summary = "print the prompt hook of a shell",
     .arguments =
         {.name = "SHELL", .least = 1, .most = 1, .choices = hooks::names_of_hooked_shells},
     .run = print_hook,
     .examples = "cudaenv hook bash"},
    {.name = "init",
     .summary = "add the prompt hook to a shell's start-up file",
     .arguments =
         {.name = "SHELL", .least = 1, .most = 1, .choices = hooks::names_of_hooked_shells},
     .options = k_init,
     .run = init,
     .examples = "cudaenv init bash\n"
                 "cudaenv init bash --undo"},
    {.name = "attach",
     .summary = "set up CUDA whenever an environment is activated, also in scripts and jobs",
     .options = k_attach,
     .run = attach,
     .examples = "cudaenv attach -n apex\n"
                 "cudaenv attach --kernelspec"},
    {.name = "detach",
     .summary = "undo attach",
     .options = k_attach,
     .run = detach,
     .examples = "cudaenv detach -n apex"},
    {.name = "config",
     .summary = "show or change the configuration",
     .arguments = {.name = "ACTION",
                   .least = 1,
                   .most = k_any_number,
                   .help = "list, get KEY, set KEY VALUE..., path",
                   .choices = CUDAENV_CHOICES("list get set path")},
     .method = "config",
     .examples = "cudaenv config list\n"
                 "cudaenv config set resolve.channels pytorch,conda-forge"},
    {.name = "daemon",
     .summary = "start, stop or inspect the background daemon",
     .arguments = {.name = "ACTION",
                   .least = 1,
                   .most = 1,
                   .choices = CUDAENV_CHOICES("start stop status logs")},
     .run = daemon_command,
     .examples = "cudaenv daemon status\n"
                 "cudaenv daemon logs"},
    {.name = "completions",
     .summary = "print completions for a shell",
     .arguments =
         {.name = "SHELL", .least = 1, .most = 1, .choices = hooks::names_of_completing_shells},
     .run = print_completions,
     .examples = "cudaenv completions bash\n"
                 "cudaenv completions fish | source"},
    {.name = "schema",
     .summary = "print the JSON Schema of an object that --json prints",
     .arguments = {.name = "NAME", .least = 1, .most = 1, .choices = names_of_objects},
     .method = "schema",
     .run = show_schema,
     .examples = "cudaenv schema resolve"},
    {.name = "debug",
     .summary = "oracle: answer version and MatchSpec questions from standard input",
     .arguments = {.name = "ACTION", .least = 1, .most = 1, .choices = CUDAENV_CHOICES("oracle")},
     .method = "debug.oracle",
     .run = stream_oracle,
     .examples = "cudaenv debug oracle < questions.jsonl"},
});
#undef CUDAENV_CHOICES

} // namespace

std::span<const CommandRow> commands() {
    return k_commands;
}

const CommandRow* find_command(std::string_view name) {
    return find_pointer(k_commands, name, &CommandRow::name);
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

std::vector<OptionRow> options_of(const CommandRow& command) {
    std::vector<OptionRow> rows(command.options.begin(), command.options.end());
    if (command.reads_host) {
        rows.insert(rows.end(), k_host.begin(), k_host.end());
    }
    rows.insert(rows.end(), k_common.begin(), k_common.end());
    return rows;
}

} // namespace cudaenv::cli
