"""What `-n NAME` means and what `status`, `use` and `pin` say, of the real daemon."""

import json
import os
import shutil
import subprocess

from support import LAB, PROGRAMS, CommandTest, run_tests


class Named(CommandTest):
    def conda(self, *parts):
        """An environment of conda's, empty."""
        prefix = self.root.joinpath(*parts)
        (prefix / "conda-meta").mkdir(parents=True)
        (prefix / "bin").mkdir()
        return prefix

    def install_conda(self):
        root = self.conda("conda")
        (root / "conda-meta/history").touch()
        program = root / "bin/conda"
        program.touch()
        program.chmod(0o755)
        self.environment["CONDA_EXE"] = str(program)
        return root

    def status(self, *words, code=0, **more):
        ran = self.check(self.run_cudaenv("status", "--json", "--host", str(LAB), *words, **more), code)
        return json.loads(ran.stdout)

    def test_a_name_is_found_where_condarc_says_also_by_a_variable_of_the_users(self):
        self.install_conda()
        prefix = self.conda("lab/envs/e")
        (self.home / ".condarc").write_text("envs_dirs:\n  - $LAB/envs  # ours\n")
        lab = {"LAB": str(self.root / "lab")}
        self.assertEqual(self.status("-n", "e", environment=lab)["environment"]["prefix"], str(prefix))
        ran = self.check(self.run_cudaenv("run", "-n", "e", "env", environment=lab))
        self.assertIn(f"CONDA_PREFIX={prefix}\n", ran.stdout.decode())
        self.check(self.run_cudaenv("status", "-n", "e"), 2)
        for method in ("pin", "check", "attach"):
            words = ["--here"] if method == "pin" else []
            ran = self.run_cudaenv(method, "-n", "e", environment=lab)
            self.assertNotIn(b"no environment named", ran.stderr, words)

    def test_two_tools_that_mean_two_directories_are_an_error_that_lists_both(self):
        root = self.install_conda()
        ours, theirs = self.conda("conda/envs/e"), self.conda("mamba/envs/e")
        self.assertEqual(self.status("-n", "e")["environment"]["prefix"], str(ours))
        self.environment["MAMBA_ROOT_PREFIX"] = str(self.root / "mamba")
        for command in ("status", "check", "pin", "attach"):
            ran = self.check(self.run_cudaenv(command, "-n", "e"), 2)
            self.assertIn(str(ours), ran.stderr.decode())
            self.assertIn(str(theirs), ran.stderr.decode())
        self.assertEqual(self.status("-n", "base")["environment"]["prefix"], str(root))

    def test_a_broken_condarc_is_said_and_what_is_elsewhere_is_found(self):
        self.install_conda()
        prefix = self.conda("conda/envs/e")
        (self.home / ".condarc").write_text("channels: [a\n")
        found = self.status("-n", "e")
        self.assertEqual(found["environment"]["prefix"], str(prefix))
        self.assertIn(".condarc: ignored: line 2: ", "\n".join(found["notes"]))
        ran = self.check(self.run_cudaenv("run", "-n", "e", "true"))
        self.assertIn(".condarc: ignored: line 2: ", ran.stderr.decode())

    def test_files_of_condas_that_others_can_write_are_said_and_do_not_count(self):
        root = self.install_conda()
        ours, theirs = self.conda("conda/envs/e"), self.conda("theirs/e")
        condarc = self.home / ".condarc"
        condarc.write_text(f"envs_dirs:\n  - {theirs.parent}\n")
        self.assertEqual(self.status("-n", "e")["environment"]["prefix"], str(theirs))
        condarc.chmod(0o666)
        found = self.status("-n", "e")
        self.assertEqual(found["environment"]["prefix"], str(ours))
        self.assertIn(f"{condarc} is ignored: it is writable by everyone", "\n".join(found["notes"]))
        registered = self.home / ".conda/environments.txt"
        registered.parent.mkdir()
        registered.write_text(f"{self.conda('far/away')}\n")
        self.assertEqual(self.status("-n", "away")["environment"]["name"], "away")
        registered.chmod(0o666)
        self.check(self.run_cudaenv("status", "-n", "away"), 2)
        if os.geteuid() != 0:
            return
        condarc.unlink()
        shared = root / ".condarc"
        shared.write_text(f"envs_dirs:\n  - {theirs.parent}\n")
        os.chown(shared, 4321, 4321)
        self.assertEqual(self.status("-n", "e")["environment"]["prefix"], str(ours))
        os.chown(root, 4321, 4321)  # who starts this conda runs what its owner has put there
        self.assertEqual(self.status("-n", "e")["environment"]["prefix"], str(theirs))

    def test_an_environment_is_called_what_it_is(self):
        root = self.install_conda()
        named = self.conda("conda/envs/e")
        venv = self.root / "v"
        venv.mkdir()
        (venv / "pyvenv.cfg").touch()
        for prefix, name, kind in ((root, "base", "conda"), (named, "e", "conda"), (venv, "v", "venv")):
            found = self.status("-p", str(prefix))["environment"]
            self.assertEqual((found["name"], found["kind"], found["active"]), (name, kind, False))
        found = self.status(environment={"CONDA_PREFIX": str(root), "CONDA_DEFAULT_ENV": "base",
                                         "PATH": f"{root}/bin:/usr/bin:/bin"})["environment"]
        self.assertEqual((found["name"], found["kind"], found["active"]), ("base", "conda", True))

    def test_a_cuda_that_does_not_exist_is_refused_with_the_nearest(self):
        for version, nearest in (("99", "13.5"), ("12.44", "12.9"), ("11.9", "11.8"), ("cu119", "11.8")):
            shown = {"cu119": "11.9"}.get(version, version)
            said = f"There is no CUDA {shown}. The nearest is {nearest}."
            for words in (["use", "--shell", "bash", version], ["pin", version], ["env", "--cuda", version]):
                ran = self.check(self.run_cudaenv(*words), 2, out="")
                self.assertIn(said, ran.stderr.decode())
            self.assertIn(said, self.check(self.run_cudaenv("run", "--cuda", version, "true"),
                                           125).stderr.decode())
        self.assertFalse((self.root / "cudaenv.toml").exists())
        for version in ("12.4", "11", "13.6", ">=12.40"):
            self.check(self.run_cudaenv("use", "--shell", "bash", version), 0)
        self.check(self.run_cudaenv("use", "--shell", "bash", "--clear"), 0)

    def test_a_pinned_cuda_that_does_not_exist_leads_to_the_nearest(self):
        (self.root / "cudaenv.toml").write_text('[pins]\ncuda = "12.44"\n')
        self.assertEqual(self.status()["next"], "cudaenv pin 12.9")
        self.assertEqual(self.status(environment={"CUDAENV_CUDA": "99"})["next"], "cudaenv use 13.5")

    def test_what_is_here_exists(self):
        host = json.loads(LAB.read_text())
        host["toolkits"][0]["version"] = "21.3.1"
        facts = self.root / "host.json"
        facts.write_text(json.dumps(host))
        self.check(self.run_cudaenv("pin", "21.3", "--host", str(facts)), 0)
        self.check(self.run_cudaenv("pin", "21.4", "--host", str(facts)), 2)

    def test_the_next_step_makes_sense_here(self):
        self.assertRegex(self.status()["next"], r"^cudaenv pin \d+\.\d+$")
        host = json.loads(LAB.read_text())
        host["gpus"] = []
        facts = self.root / "host.json"
        facts.write_text(json.dumps(host))
        self.assertNotIn("pin", self.status("--host", str(facts))["next"])
        prefix = self.conda("e")
        self.torch_in(prefix)
        active = {"CONDA_PREFIX": str(prefix), "PATH": f"{prefix}/bin:/usr/bin:/bin"}
        found = self.status(environment=active)
        self.assertEqual(found["cuda"]["version"], "11.3")
        self.assertEqual(found["next"], "cudaenv init bash")
        hooked = self.status(environment={**active, "__cudaenv_found_home": ""})
        self.assertNotRegex(hooked["next"], "^cudaenv (init|pin)")
        self.assertEqual(self.status("-p", str(prefix))["next"], f"cudaenv run -p {prefix} COMMAND")

    def test_a_framework_without_cuda_leads_to_no_pin(self):
        prefix = self.conda("e")
        self.torch_in(prefix)
        version = next(prefix.glob("lib/python3*/site-packages/torch/version.py"))
        version.write_text("__version__ = '2.8.0+cpu'\ncuda = None\n")
        for record in prefix.glob("lib/python3*/site-packages/torch-*.dist-info"):
            record.rename(record.with_name("torch-2.8.0+cpu.dist-info"))
        active = {"CONDA_PREFIX": str(prefix), "PATH": f"{prefix}/bin:/usr/bin:/bin"}
        self.assertNotIn("pin", self.status(environment=active)["next"])

    def test_status_knows_that_the_hook_is_active_and_commands_do_not_see_how(self):
        for shell, words in (("bash", ["--norc"]), ("zsh", ["-f"]), ("fish", ["--no-config"]), ("tcsh", ["-f"]),
                             ("xonsh", ["--no-rc"])):
            if not shutil.which(shell):
                continue
            hook = f"'{PROGRAMS['cudaenv']}' hook {shell}"
            load = {"fish": f"{hook} | source", "tcsh": f"eval `{hook}`",
                    "xonsh": f"execx($({hook}))"}.get(shell, f'eval "$({hook})"')
            show = self.root / "show"
            show.write_text('#!/bin/sh\necho "${__cudaenv_found_home-unset}"\n')
            show.chmod(0o755)
            script = self.root / "script"
            script.write_text(f"{load}\ncudaenv run {show}\ncudaenv status --json\n")
            ran = subprocess.run([shell, *words, script], capture_output=True,
                                 env={**self.environment, "CUDAENV_HOST": str(LAB)}, cwd=self.root, timeout=60)
            first, rest = ran.stdout.decode().split("\n", 1)
            self.assertEqual(first, "unset", ran.stderr.decode())
            self.assertNotIn("init", json.loads(rest)["next"])

    def test_what_sudo_resets_is_noted(self):
        prefix = self.conda("e")
        self.torch_in(prefix)
        facts, toolkit = self.lab_with_its_toolkit()
        active = {"CONDA_PREFIX": str(prefix), "PATH": f"{prefix}/bin:/usr/bin:/bin", "CUDAENV_HOST": str(facts)}
        ran = self.check(self.run_cudaenv("env", "--json", environment=active))
        changed = {change["name"]: change["value"] for change in json.loads(ran.stdout)["changes"]}
        self.assertIn(f"{toolkit}/bin", changed["PATH"])
        kept = {**active, **changed}
        self.assertNotIn("sudo", str(self.status("--host", str(facts), environment=kept)["notes"]))
        kept["PATH"] = "/usr/bin:/bin"
        self.assertIn(f"PATH no longer has {toolkit}/bin", str(self.status("--host", str(facts), environment=kept)["notes"]))


if __name__ == "__main__":
    run_tests()
