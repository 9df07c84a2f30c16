"""Environments that give one finding, or just not: what the tests of findings share."""

import json
import os
import subprocess

from environments import tools
from envs import PROGRAMS, HomeTest, Index, conda_python_package


def module(text):
    return f"{text}\n" * 10


def many(name, version, who):
    return {f"{name}/__init__.py": module(f"# {name} {version} {who}"), f"{name}/same.py": module("same = 1"),
            f"{name}/core.py": module(f"# core {version} {who}"), f"{name}/v{version[0]}.py": module(f"# {who}")}


class FindingsTest(HomeTest):
    reported = None  # the environment of the last finding, and the words of its check
    commands_need = ""  # a reason why this test's command cannot be carried out here

    @classmethod
    def conda_packages(cls):
        return [conda_python_package("other", "1.0", many("other", "1.0", "conda"))]

    def conda_env(self, *specs, text="env"):
        prefix = self.home.conda_env(self.name(text))
        self.conda.install(prefix, self.channel, *specs)
        return prefix

    def only(self, prefix, code, *words, severity=None, files=None, says=(), evidence=()):
        """The environment has this finding once, and no other."""
        findings = self.home.check(prefix, *words)["findings"]
        text = json.dumps(findings, indent=1, ensure_ascii=False)
        self.assertEqual([finding["code"] for finding in findings], [code], text)
        finding = findings[0]
        if os.environ.get("SHOW"):
            print(f"\n== {self._testMethodName}\n{self.home.run('check', '-p', prefix, *words).stdout.decode()}")
        if severity:
            self.assertEqual(finding["severity"], severity, text)
        if files is not None:
            self.assertEqual(sorted(finding["files"]), sorted(files), text)
        for word in says:
            self.assertIn(word, finding["title"], text)
        for word in evidence:
            self.assertIn(word, json.dumps(finding["evidence"], ensure_ascii=False), text)
        for line in [finding["title"], *(item["text"] for item in finding["evidence"])]:
            self.assertNotIn("\n", line)
        self.assertTrue(finding["fix"] and (finding["fix"]["command"] or finding["fix"]["text"]), text)
        self.reported = prefix, words
        return finding

    def tearDown(self):
        """The printed commands of what the test reported last, pasted into a shell, take it away and add nothing."""
        if not self.reported or self.commands_need:
            return
        (prefix, words), self.reported = self.reported, None
        before = self.home.check(prefix, *words)["findings"]
        commands = [finding["fix"]["command"] for finding in before
                    if finding["fix"]["command"] and finding["severity"] != "note"]
        commands = [command + " --yes" if command.startswith("cudaenv check --fix") else command for command in commands]
        if any(needed in command for command in commands
               for needed in ("conda install", "://", "cudaenv resolve", "cudaenv pin", "cudaenv attach")):
            return  # it needs what is not on this machine, or is the first of several steps
        if not commands:
            return
        self.home.uv(prefix, "install", "--no-deps", "pip==25.3")
        # In one shell, as they are printed.
        script = 'cudaenv() { "$CHECK" "$@"; }\n' + "".join(f"{command} || exit 99\n" for command in commands)
        with Index(self.home.root / "wheels") as index:
            done = subprocess.run(
                ["bash", "-c", script + 'echo; echo FINDINGS; exec "$CHECK" check -p "$PREFIX" --json "$@"', "bash", *map(str, words)],
                capture_output=True, text=True, timeout=300,
                env={**self.home.environment, "PATH": f"{tools()}:/usr/bin:/bin", "CHECK": PROGRAMS["cudaenv"],
                     "PREFIX": str(prefix), "PIP_INDEX_URL": index.url, "UV_DEFAULT_INDEX": index.url})
        said = script + done.stdout + done.stderr
        self.assertIn(done.returncode, (0, 1), said)
        left = json.loads(done.stdout.partition("\nFINDINGS\n")[2])["findings"]
        self.assertEqual([finding["title"] for finding in left], [], said)

    def silent(self, prefix, *words):
        findings = self.home.check(prefix, *words)["findings"]
        self.assertEqual(findings, [], json.dumps(findings, indent=1, ensure_ascii=False))

    def fixed(self, prefix, code):
        """--fix takes the finding away."""
        self.home.uv(prefix, "install", "pip==25.3")
        ran = self.home.run("check", code, "-p", prefix, "--fix", "--yes",
                            env={"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.home.root / "wheels")})
        said = ran.stdout.decode() + ran.stderr.decode()
        self.assertEqual(ran.returncode, 0, said)
        left = self.home.check(prefix)["findings"]
        self.assertEqual(left, [], said + json.dumps(left, indent=1, ensure_ascii=False))

    def built(self, name, wheel):
        source = self.home.root / self.name(f"source-{name}")
        source.mkdir()
        (source / "pyproject.toml").write_text(
            '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n')
        (source / "backend.py").write_text(
            f"import shutil\ndef build_wheel(directory, config_settings=None, metadata_directory=None):\n"
            f"    shutil.copy({str(wheel)!r}, directory)\n    return {wheel.name!r}\n")
        return source
