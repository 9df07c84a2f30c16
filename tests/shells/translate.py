"""The words of scenarios in the words of each shell: one small function for each.

Everything is what a user of that shell would type. A value may hold any bytes but NUL; what a
terminal cannot take is sourced from a file by the driver.
"""

import shlex

# Lists are extended as people write it who know that the list may be unset.


class Bash:
    def quote(self, text):
        return shlex.quote(text)

    def export(self, name, value):
        return f"export {name}={self.quote(value)}"

    def local(self, name, value):
        """Set, not exported."""
        return f"{name}={self.quote(value)}"

    def unset(self, name):
        return f"unset {name}"

    def prepend(self, name, directory):
        return f"export {name}={self.quote(directory)}${{{name}:+:${name}}}"

    def append(self, name, directory):
        return f"export {name}=${{{name}:+${name}:}}{self.quote(directory)}"

    def cd(self, directory):
        return f"cd {self.quote(directory)}" if not directory.startswith("-") \
            else f"cd -- {self.quote(directory)}"

    def activate(self, environment):
        return f". {self.quote(environment + '/bin/activate')}"

    def deactivate(self):
        return "deactivate"

    def source(self, file):
        return f". {self.quote(file)}"

    def shell(self, kind):
        return kind if kind != "xonsh" else "xonsh --shell-type readline"

    def exec(self, kind):
        return f"exec {self.shell(kind)}"

    def use(self, version):
        """In the paired shell: what `cudaenv use` amounts to."""
        return self.export("CUDAENV_CUDA", version)

    def use_clear(self):
        return self.unset("CUDAENV_CUDA")

    def nvcc(self, file):
        return f"nvcc --version >| {self.quote(file)} 2>&1"


class Zsh(Bash):
    pass


class Fish(Bash):
    def quote(self, text):
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def export(self, name, value):
        return f"set -gx {name} {self.quote(value)}"

    def local(self, name, value):
        return f"set -g {name} {self.quote(value)}"

    def unset(self, name):
        return f"set -e {name}"

    # Names that end in PATH are lists in fish; one empty element is kept by none who extends it.
    def prepend(self, name, directory):
        return f"set -gx {name} {self.quote(directory)} (string match -- '?*' ${name})"

    def append(self, name, directory):
        return f"set -gx {name} (string match -- '?*' ${name}) {self.quote(directory)}"

    def activate(self, environment):
        return f"source {self.quote(environment + '/bin/activate.fish')}"

    def source(self, file):
        return f"source {self.quote(file)}"

    def nvcc(self, file):
        return f"nvcc --version > {self.quote(file)} 2>&1"


class Tcsh(Bash):
    def quote(self, text):
        # `!` is looked at even within single quotes, and a newline ends them.
        inner = text.replace("'", "'\\''").replace("!", "\\!").replace("\n", "\\\n")
        return f"'{inner}'"

    def export(self, name, value):
        return f"setenv {name} {self.quote(value)}"

    def local(self, name, value):
        return f"set {name} = {self.quote(value)}"

    def unset(self, name):
        return f"unsetenv {name}"

    def prepend(self, name, directory):
        return self._extend(name, f'{self.quote(directory)}:"${{{name}:q}}"', directory)

    def append(self, name, directory):
        return self._extend(name, f'"${{{name}:q}}":{self.quote(directory)}', directory)

    def _extend(self, name, filled, directory):
        # Several lines, so that it is sourced: `if (...) then` wants lines of its own.
        return (f"if ( $?{name} ) then\n"
                f'  if ( "${{{name}:q}}" != "" ) then\n    setenv {name} {filled}\n'
                f"  else\n    setenv {name} {self.quote(directory)}\n  endif\n"
                f"else\n  setenv {name} {self.quote(directory)}\nendif")

    def activate(self, environment):
        return f"source {self.quote(environment + '/bin/activate.csh')}"

    def source(self, file):
        return f"source {self.quote(file)}"

    def nvcc(self, file):
        return f"nvcc --version >&! {self.quote(file)}"


class Xonsh(Bash):
    def quote(self, text):
        return f"@({text!r})"

    def export(self, name, value):
        # xonsh reads NAME=VALUE of these names as numbers or lists by itself.
        return f"${name} = {value!r}"

    def local(self, name, value):
        return f"{name} = {value!r}"

    def unset(self, name):
        return f"_ = __xonsh__.env.pop({name!r}, None)"

    # In place, because reading a list out and writing it back expands `$` and `~` in its entries.
    def prepend(self, name, directory):
        return self._extend(name, directory, f"insert(0, {directory!r})")

    def append(self, name, directory):
        return self._extend(name, directory, f"append({directory!r})")

    def _extend(self, name, directory, how):
        return (f"_ = __xonsh__.env[{name!r}].{how} if any(__xonsh__.env.get({name!r}) or []) "
                f"else __xonsh__.env.__setitem__({name!r}, [{directory!r}])")

    def remove(self, name, directory):
        return (f"_ = [__xonsh__.env[{name!r}].remove({directory!r}) "
                f"for _ in range(list(__xonsh__.env[{name!r}]).count({directory!r}))]")

    def activate(self, environment):
        return f"vox activate {self.quote(environment)}"

    def deactivate(self):
        return "vox deactivate"

    def source(self, file):
        return f"source {self.quote(file)}"

    def cd(self, directory):
        return f"cd {self.quote(directory)}"

    def nvcc(self, file):
        return f"nvcc --version > {self.quote(file)}"


WORDS = {"bash": Bash(), "zsh": Zsh(), "fish": Fish(), "tcsh": Tcsh(), "xonsh": Xonsh()}
