#!/usr/bin/env python3
"""Malformed records, names and files: `cudaenv check` and the prompt end in time, never crash, and
tell nothing that is not so.

usage: test_bad_input.py --cudaenv FILE --cudaenvd FILE
"""

import json
import os
import pty
import random
import select
import shutil
import socket
import subprocess
import sys
import threading
import time

import envs
from envs import SITE, Conda, HomeTest, conda_python_package, run_tests

NOBODY = 65534
GAVE_UP = b"at the next prompt"
WAIT = 60  # seconds for what is expected to happen at once; a loaded machine is slow
BYSTANDERS = {"bystander/__init__.py": "x = 1\n" * 20, "bystander/core.py": "y = 1\n" * 20}


class BadInput(HomeTest):
    has_real_wheels = False

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.home.wheel("victim", "1.0", {"victim/__init__.py": "v = 1\n" * 20, "victim/core.py": "c = 1\n" * 20,
                                         "victim/data.bin": "d" * 5000, "victim/more.py": "m = 1\n" * 20})
        cls.home.wheel("bystander", "1.0", BYSTANDERS)
        cls.model = cls.home.venv("model")
        cls.home.pip(cls.model, "install", "--quiet", "--no-deps", "victim", "bystander")
        cls.conda_model = cls.home.conda_env("conda-model")
        with Conda(cls.home.root) as conda:
            channel = conda.channel("channel", [
                conda_python_package("first", "1.0", {"first/__init__.py": "f = 1\n" * 20}),
                conda_python_package("second", "1.0", {"second/__init__.py": "s = 1\n" * 20})])
            conda.install(cls.conda_model, channel, "first", "second")

    def copy(self, model, text="env"):
        """An environment of its own, as if installed now."""
        prefix = self.home.root / f"{self._testMethodName[5:60]}-{text}"
        subprocess.run(["cp", "-a", model, prefix], check=True)
        self.site = prefix / SITE
        self.info = self.site / "victim-1.0.dist-info"
        return prefix

    def prompt(self, prefix):
        """`cudaenv prompt bash --say` on a terminal, with the environment active, as a shell asks it; without a
        daemon, which is the longest way. On a busy machine it may give up in time, and says so; wrong it is never."""
        environment = {**self.home.environment, "TERM": "xterm", "VIRTUAL_ENV": str(prefix),
                       "PATH": f"{prefix}/bin:/usr/bin:/bin"}
        if (prefix / "conda-meta").exists():
            environment.update(CONDA_PREFIX=str(prefix), CONDA_SHLVL="1")
            del environment["VIRTUAL_ENV"]
        end = time.monotonic() + WAIT
        said = GAVE_UP
        while GAVE_UP in said and time.monotonic() < end:
            main, side = pty.openpty()
            process = subprocess.Popen([envs.PROGRAMS["cudaenv"], "prompt", "bash", "--say"], env=environment,
                                       stdin=side, stdout=subprocess.PIPE, stderr=side, cwd=self.home.root)
            os.close(side)
            process.stdout.read()
            status = process.wait(timeout=120)
            process.stdout.close()
            said = b""
            while select.select([main], [], [], 0)[0]:
                try:
                    said += os.read(main, 4096)
                except OSError:
                    break
            os.close(main)
        self.assertNotIn(GAVE_UP, said)
        self.assertEqual(status, 0, said)

    def survives(self, prefix, statuses=(0, 1), allowed=(), **more):
        """Ends in order, finds nothing but `allowed`. Returns the findings."""
        ran = self.home.run("check", "-p", prefix, "--json", **more)
        said = ran.stdout.decode("utf-8") + ran.stderr.decode("utf-8", "replace")
        self.assertIn(ran.returncode, statuses, said[:3000])
        self.assertNotIn("terminate", ran.stderr.decode("utf-8", "replace"))
        if ran.returncode not in (0, 1):
            return []
        findings = json.loads(ran.stdout)["findings"]
        self.assertEqual([finding for finding in findings if finding["code"] not in allowed], [],
                         json.dumps(findings, indent=1)[:4000])
        people = self.home.run("check", "-p", prefix, **more)
        self.assertIn(people.returncode, statuses)
        self.assertFalse(set(people.stdout) & set(b"\x1b\x07\x08\0"), people.stdout[:2000])
        return findings

    def test_an_answer_that_is_longer_than_a_message_comes_whole(self):
        prefix = self.copy(self.model)
        for number in range(1500):
            info = self.site / f"a_distribution_whose_files_are_gone_{number}-1.0.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {info.name[:-14]}\nVersion: 1.0\n")
            (info / "RECORD").write_text(f"{info.name}/METADATA,,\n" + "".join(
                f"{info.name[:-14]}/module{i}.py,,\n" for i in range(4)))
        ran = self.home.run("check", "-p", prefix, "--json")
        self.assertEqual(ran.returncode, 1, ran.stderr)
        self.assertGreater(len(ran.stdout), 1 << 20)
        codes = [finding["code"] for finding in json.loads(ran.stdout)["findings"]]
        self.assertEqual(codes.count("CE107"), 1500)

    # RECORD

    def record(self, content, text="env", allowed=()):
        prefix = self.copy(self.model, text)
        (self.info / "RECORD").write_bytes(content)
        self.prompt(prefix)
        return self.survives(prefix, allowed=allowed)

    def whole(self):
        return (self.model / SITE / "victim-1.0.dist-info/RECORD").read_bytes()

    def test_a_record_of_rubbish(self):
        self.record(b"\0" * 65536, "zeroes")
        self.record(b"\xff\xfe" + self.whole().decode().encode("utf-16-le"), "utf-16")
        self.record(b"", "empty")
        self.record(b"\n\n\n,,\n,\n\"\n", "commas")
        self.record(self.whole().replace(b"\n", b"\r\n"), "carriage returns")
        self.record(b"\xef\xbb\xbf" + self.whole(), "byte order mark")

    def test_a_record_of_random_bytes(self):
        self.record(random.Random(7).randbytes(100_000))

    def test_a_record_whose_lines_lost_a_comma(self):
        self.record(self.whole().replace(b",sha256", b""))

    def test_a_record_that_is_cut_anywhere(self):
        whole = self.whole()
        prefix = self.copy(self.model)
        for at in range(0, len(whole), 41):
            (self.info / "RECORD").write_bytes(whole[:at])
            with self.subTest(at=at):
                self.survives(prefix)

    def test_a_record_with_half_lines_and_an_open_quote(self):
        self.record(self.whole().replace(b"sha256=", b"sha2"), "half hash")
        self.record(b'"victim/__init__.py,sha256=abc,12\n' + self.whole(), "quote")
        self.record(self.whole() + b"victim/co", "half line")
        self.record(self.whole().replace(b"sha256=", b"md5="), "another hash")
        self.record(b"".join(line.rpartition(b",")[0] + b",-5\n" for line in self.whole().splitlines()), "negative")
        self.record(b"".join(line.rpartition(b",")[0] + b",99999999999999999999999\n"
                             for line in self.whole().splitlines()), "huge sizes", allowed=())

    def test_a_record_with_lines_twice(self):
        self.record(self.whole() * 2, "twice")
        self.record(self.whole() * 500, "five hundred times")

    def test_a_record_whose_paths_lead_out(self):
        outside = self.home.root / "outside.txt"
        outside.write_text("not the environment's\n")
        wrong = "sha256=" + "A" * 43 + ",3\n"
        self.record(self.whole() + "".join(
            f"{path},{wrong}" for path in ("../../../../../../../../etc/passwd", "/etc/shadow", str(outside),
                                           "../../../../outside.txt", "../../../../../../../../../../dev/zero",
                                           "/proc/self/mem", "/proc/kmsg", ".", "..", "/", "", "victim/..")).encode(),
                    allowed=("CE109",))

    def test_what_a_record_names_outside_of_the_environment_is_nobodys_evidence(self):
        for path in ("../../../../../../../../../../etc/passwd", "/etc/passwd"):
            found = self.record(self.whole() + f"{path},sha256={'A' * 43},3\n".encode(), path.replace("/", "_"),
                                allowed=("CE109",))
            self.assertNotIn("/etc/passwd", json.dumps([item for finding in found for item in finding["files"]]))
            for finding in found:
                self.assertEqual(finding["repairs"], [])

    def test_a_record_of_fifty_megabytes(self):
        line = b"victim/never/there/%09d.py,sha256=" + b"A" * 43 + b",10\n"
        prefix = self.copy(self.model)
        with (self.info / "RECORD").open("wb") as file:
            file.write(self.whole())
            size = 0
            while size < 50_000_000:
                chunk = b"".join(line % (size + number) for number in range(5000))
                file.write(chunk)
                size += len(chunk)
        self.survives(prefix, allowed=("CE107", "CE109"))
        self.prompt(prefix)

    def test_a_record_of_one_line_of_fifty_megabytes(self):
        self.record(b"x" * 50_000_000)

    def test_a_record_that_is_no_file(self):
        for kind in ("directory", "fifo", "link to itself", "socket", "link to /dev/zero", "link to nothing"):
            with self.subTest(kind=kind):
                prefix = self.copy(self.model, kind.replace("/", "_"))
                path = self.info / "RECORD"
                path.unlink()
                self.become(path, kind)
                self.prompt(prefix)
                self.survives(prefix, allowed=("CE106",))

    def become(self, path, kind):
        if kind == "directory":
            path.mkdir()
        elif kind == "fifo":
            os.mkfifo(path)
        elif kind == "link to itself":
            path.symlink_to(path.name)
        elif kind == "socket":
            here = os.getcwd()
            os.chdir(path.parent)
            try:
                listener = socket.socket(socket.AF_UNIX)
                listener.bind(path.name)
                listener.close()
            finally:
                os.chdir(here)
        elif kind == "device":
            os.mknod(path, 0o666 | 0o020000, os.makedev(1, 5))  # /dev/zero
        elif kind.startswith("link to "):
            path.symlink_to({"link to /dev/zero": "/dev/zero", "link to nothing": "/nowhere/at/all"}[kind])

    def test_claimed_files_that_are_no_files(self):
        kinds = ["directory", "fifo", "link to itself", "socket", "link to /dev/zero", "link to nothing"]
        if os.getuid() == 0:
            kinds.append("device")
        for kind in kinds:
            with self.subTest(kind=kind):
                prefix = self.copy(self.model, kind.replace("/", "_"))
                path = self.site / "victim/core.py"
                path.unlink()
                self.become(path, kind)
                self.prompt(prefix)
                self.survives(prefix, allowed=("CE109",))

    def test_metadata_that_is_no_file(self):
        for name in ("METADATA", "WHEEL", "INSTALLER", "direct_url.json", "top_level.txt", "entry_points.txt"):
            for kind in ("directory", "fifo", "link to /dev/zero"):
                with self.subTest(name=name, kind=kind):
                    prefix = self.copy(self.model, f"{name}-{kind.replace('/', '_')}")
                    path = self.info / name
                    path.unlink(missing_ok=True)
                    self.become(path, kind)
                    self.survives(prefix, allowed=("CE106", "CE109"))
                    shutil.rmtree(prefix)

    # METADATA and what lies beside it

    def test_huge_and_odd_metadata(self):
        for text, content in (
                ("huge", b"Metadata-Version: 2.1\nName: victim\nVersion: 1.0\n\n" + b"text\n" * 8_000_000),
                ("headers", b"Name: victim\nVersion: 1.0\n" + b"Classifier: x\n" * 500_000 + b"\n"),
                ("requirements", b"Name: victim\nVersion: 1.0\n" + b"Requires-Dist: torch (>=1.0\n" * 50_000 + b"\n"),
                ("one line", b"Name: " + b"v" * 5_000_000 + b"\nVersion: 1.0\n\n"),
                ("binary", bytes(range(256)) * 4000), ("empty", b""), ("no name", b"Version: 1.0\n\n"),
                ("control", b"Name: \x1b[31mvictim\x07\nVersion: 1.0\x1b[0m\n\n"),
                ("latin", "Name: victim\nVersion: 1.0\nAuthor: Gr\u00f6\u00dfe\n\n".encode("latin-1")),
                ("other name", b"Name: somebody\nVersion: 9.9\n\n")):
            with self.subTest(text):
                prefix = self.copy(self.model, text)
                (self.info / "METADATA").write_bytes(content)
                self.prompt(prefix)
                self.survives(prefix, allowed=("CE106", "CE109"))
                shutil.rmtree(prefix)

    def named(self, number, name, version):
        """An environment whose victim has that name and version, and files that are gone."""
        prefix = self.copy(self.model, f"{number} $(touch {self.home.root}/pwned)".replace("/", "_"))
        (self.info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\n")
        shutil.rmtree(self.site / "victim")
        return prefix

    def test_what_a_shell_would_read_in_a_name_is_quoted(self):
        for number, (name, version) in enumerate((("victim", "1.0; touch PWNED"), ("victim", "$(touch PWNED)"),
                                                  ("vic'tim", "1.0"), ("victim", "1.0\x1b[31m"), ("v\t`touch PWNED`", "1"))):
            with self.subTest(name=name, version=version):
                prefix = self.named(number, name, version)
                for words in ([], ["--json"], ["--fix", "--yes"]):
                    ran = self.home.run("check", "-p", prefix, *words, cwd=self.home.root, env={"PIP_NO_INDEX": "1"})
                    self.assertIn(ran.returncode, (0, 1, 3), ran)
                    self.assertNotIn(b"\x1b", ran.stdout + ran.stderr)
                for finding in self.home.check(prefix)["findings"]:
                    if finding["fix"]["command"]:
                        subprocess.run(["sh", "-c", "true " + finding["fix"]["command"].replace("&&", "")],
                                       cwd=self.home.root, env={"PATH": "/usr/bin:/bin"}, check=True)
                self.assertEqual([path.name for path in self.home.root.rglob("PWNED*")], [])

    def test_a_name_that_is_none_makes_no_command(self):
        for number, (name, version) in enumerate((("-rfoo", "1.0"), ("--index-url=http://127.0.0.1:9", "1.0"),
                                                  ("victim @ http://127.0.0.1:9/y", "1.0"), ("victim", "-e/etc"))):
            prefix = self.named(number, name, version)
            for finding in self.home.check(prefix)["findings"]:
                self.assertEqual(finding["repairs"], [], name)
                self.assertNotIn("pip install", finding["fix"]["command"] or "", name)

    def test_a_direct_url_that_is_no_json(self):
        for number, content in enumerate((b"{", b"[]", b"null", b"\xff\xff", b'{"url": 5}', b'{"url": null, "dir_info": []}',
                                          b'{"url": "file:///\\ud800"}', b'{"url":' + b"[" * 100_000, b"{}" * 1000,
                                          b'{"url": "file:///nowhere/%00%zz", "dir_info": {"editable": "yes"}}')):
            with self.subTest(content=content[:40]):
                prefix = self.copy(self.model, str(number))
                (self.info / "direct_url.json").write_bytes(content)
                self.survives(prefix)

    def test_path_files_that_lead_anywhere(self):
        prefix = self.copy(self.model)
        for number, content in enumerate((b"/nowhere\n", b"\xff\xfe/x\n", b"/dev/zero\n", b"import os; os.abort()\n",
                                          b"x" * 2_000_000, b"../" * 5000 + b"\n", b"\0\n", b"/\n" * 100_000)):
            (self.site / f"odd{number}.pth").write_bytes(content)
            (self.site / f"__editable__.odd{number}-1.0.pth").write_bytes(content)
            (self.site / f"odd{number}.egg-link").write_bytes(content)
        self.prompt(prefix)
        self.survives(prefix)

    # Names

    def test_names_that_are_no_utf_8(self):
        prefix = self.copy(self.model)
        site = os.fsencode(self.site)
        for name in (b"gr\xf6\xdfe", b"\xff\xfe", b"a\xf0\x28\x8c\xbc", b"new\nline", b"\x1b[31mred", b"tab\there"):
            os.mkdir(site + b"/" + name)
            info = site + b"/" + name + b"-1.0.dist-info"
            os.mkdir(info)
            with open(site + b"/" + name + b"/file.py", "wb") as file:
                file.write(b"x\n")
            with open(info + b"/METADATA", "wb") as file:
                file.write(b"Name: " + name.replace(b"\n", b" ") + b"\nVersion: 1.0\n\n")
            with open(info + b"/INSTALLER", "wb") as file:
                file.write(b"pip\n")
            with open(info + b"/RECORD", "wb") as file:
                file.write(b'"' + name + b'/file.py",,\n"' + name + b'-1.0.dist-info/METADATA",,\n')
        self.prompt(prefix)
        self.survives(prefix)

    def test_a_changed_file_whose_name_is_no_utf_8_is_told_as_its_bytes(self):
        prefix = self.copy(self.model)
        name = os.fsencode(self.site) + b"/victim/gr\xf6\xdfe.py"
        with open(name, "wb") as file:
            file.write(b"x\n")
        with (self.info / "RECORD").open("ab") as file:
            file.write(b"victim/gr\xf6\xdfe.py,sha256=" + b"A" * 43 + b",2\n")
        found = self.survives(prefix, allowed=("CE109",))
        self.assertEqual(len(found), 1, found)

    def test_a_prefix_whose_name_is_no_utf_8(self):
        prefix = self.copy(self.model)
        other = os.fsencode(self.home.root) + b"/gr\xf6\xdfe \x1b[31m"
        os.rename(prefix, other)
        for words in ([], ["--json"]):
            ran = subprocess.run([os.fsencode(envs.PROGRAMS["cudaenv"]), b"check", b"-p", other, *map(str.encode, words)],
                                 env=self.home.environment, capture_output=True, timeout=60)
            self.assertEqual(ran.returncode, 0, ran)
            self.assertNotIn(b"\x1b[31m", ran.stdout)

    # Links and trees

    def test_loops_of_links(self):
        prefix = self.copy(self.model)
        (self.site / "loop").symlink_to("loop")
        (self.site / "around-1.0.dist-info").symlink_to("around-1.0.dist-info")
        (self.site / "up").symlink_to(prefix)
        (self.site / "victim/self").symlink_to(".")
        (prefix / "lib64x").symlink_to("lib")
        (self.site / "up.egg-info").symlink_to(self.site)
        with (self.info / "RECORD").open("a") as file:
            file.write("loop/file.py,,\nup/lib/x.py,,\nvictim/self/self/self/core.py,,\n")
        self.prompt(prefix)
        self.survives(prefix, allowed=("CE109",))  # up/lib/x.py is claimed, and not there

    def test_site_packages_that_is_a_loop_a_file_or_gone(self):
        for kind in ("link to itself", "fifo", "link to /dev/zero", "link to nothing", "file"):
            with self.subTest(kind=kind):
                prefix = self.copy(self.model, kind.replace("/", "_"))
                shutil.rmtree(self.site)
                if kind == "file":
                    self.site.write_text("x\n")
                else:
                    self.become(self.site, kind)
                self.prompt(prefix)
                self.survives(prefix, statuses=(0, 3))

    def test_a_tree_that_is_very_deep(self):
        prefix = self.copy(self.model)
        here = os.getcwd()
        self.addCleanup(subprocess.run, ["rm", "-rf", str(self.site / "d")], check=True)
        os.chdir(self.site)
        try:
            for _ in range(1500):
                os.mkdir("d")
                os.chdir("d")
        finally:
            os.chdir(here)
        with (self.info / "RECORD").open("a") as file:
            file.write("d/" * 1500 + "x.py,,\n" + "d/" * 3000 + "y.py,sha256=" + "A" * 43 + ",1\n")
        self.survives(prefix, allowed=("CE109",))

    # Files of others

    def test_what_may_not_be_read_is_no_finding(self):
        if os.getuid() != 0:
            self.skipTest("files can be given to another user by root alone")
        os.chmod(self.home.root, 0o755)
        self.addCleanup(os.chmod, self.home.root, 0o700)
        for path in ("victim/core.py", "victim", "victim-1.0.dist-info", "victim-1.0.dist-info/RECORD",
                     "victim-1.0.dist-info/METADATA", "victim-1.0.dist-info/INSTALLER", "."):
            with self.subTest(path=path):
                prefix = self.copy(self.model, path.replace("/", "_"))
                os.chmod(self.site / path, 0)
                state = self.home.root / "nobodys"
                shutil.rmtree(state, ignore_errors=True)
                state.mkdir()
                os.chown(state, NOBODY, NOBODY)
                program = self.home.root / "program"
                program.mkdir(exist_ok=True)
                for name in ("cudaenv", "cudaenvd"):
                    if not (program / name).exists():
                        shutil.copy(envs.PROGRAMS[name], program / name)
                environment = {**self.home.environment, "HOME": str(state), "CUDAENV_DAEMON": str(program / "cudaenvd"),
                               **{name: str(state) for name in ("CUDAENV_STATE_DIR", "CUDAENV_CACHE_DIR",
                                                                "XDG_RUNTIME_DIR")}}
                ran = subprocess.run([program / "cudaenv", "check", "-p", prefix, "--json"], env=environment,
                                     capture_output=True, timeout=60, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/")
                self.assertIn(ran.returncode, (0, 3), ran)
                if ran.returncode == 0:
                    self.assertEqual(json.loads(ran.stdout)["findings"], [])

    # conda's records

    def conda_records(self, content, text, allowed=()):
        prefix = self.copy(self.conda_model, text)
        record = next((prefix / "conda-meta").glob("first-*.json"))
        whole = record.read_bytes()
        record.write_bytes(content(whole) if callable(content) else content)
        self.prompt(prefix)
        return self.survives(prefix, allowed=("CE106", *allowed))  # that the record is damaged

    def test_conda_records_that_are_cut(self):
        prefix = self.copy(self.conda_model)
        record = next((prefix / "conda-meta").glob("first-*.json"))
        whole = record.read_bytes()
        for at in range(0, len(whole), max(1, len(whole) // 40)):
            record.write_bytes(whole[:at])
            with self.subTest(at=at):
                self.survives(prefix, allowed=("CE106",))

    def test_conda_records_of_other_types(self):
        document = json.loads(next((self.conda_model / "conda-meta").glob("first-*.json")).read_text())
        for key in ("name", "version", "build", "depends", "files", "paths_data", "channel", "link",
                    "extracted_package_dir", "constrains", "requested_spec"):
            for number, value in enumerate((None, 5, -1e308, True, [], {}, [None, 5, {}], {"paths": 5}, "\ud800x",
                                            {"paths": [None, 5, "x", {}, {"_path": 5}, {"_path": None}]}, "x" * 100_000)):
                with self.subTest(key=key, value=str(value)[:30]):
                    prefix = self.home.root / f"types-{key}-{number}"
                    subprocess.run(["cp", "-a", self.conda_model, prefix], check=True)
                    record = next((prefix / "conda-meta").glob("first-*.json"))
                    record.write_text(json.dumps({**document, key: value}))
                    findings = self.home.run("check", "-p", prefix, "--json")
                    self.assertIn(findings.returncode, (0, 1), findings.stderr)
                    self.assertLessEqual({finding["code"] for finding in json.loads(findings.stdout)["findings"]},
                                         {"CE106"})
                    shutil.rmtree(prefix)

    def test_conda_records_that_nest_too_deep_or_are_rubbish(self):
        self.conda_records(b"[" * 1_000_000, "deep arrays")
        self.conda_records(b'{"a":' * 200_000, "deep objects")
        self.conda_records(b"[" * 5000 + b"]" * 5000, "closed")
        self.conda_records(random.Random(3).randbytes(50_000), "random")
        self.conda_records(b"", "empty")
        self.conda_records(lambda whole: whole + whole, "twice")
        self.conda_records(lambda whole: b"\xef\xbb\xbf" + whole, "byte order mark")
        self.conda_records(lambda whole: whole.decode().encode("utf-16"), "utf-16")
        # It claims files of another name then, and they are not there.
        self.conda_records(lambda whole: whole.replace(b"first", b"f\xf6rst"), "latin",
                           allowed=("CE102", "CE106"))

    def test_conda_records_whose_paths_lead_out(self):
        def lead(whole):
            record = json.loads(whole)
            for path in ("../../../../../../etc/passwd", "/etc/passwd", "", ".", "..", "a/../../b", "bin//x"):
                record["paths_data"]["paths"].append({"_path": path, "path_type": "hardlink", "sha256": "00" * 32,
                                                    "sha256_in_prefix": "00" * 32, "size_in_bytes": 3})
            return json.dumps(record).encode()

        for finding in self.conda_records(lead, "out", allowed=("CE109",)):
            self.assertNotIn("passwd", json.dumps(finding["files"]))
            self.assertEqual(finding["repairs"], [])

    def test_a_conda_record_that_is_no_file(self):
        for kind in ("directory", "fifo", "link to itself", "link to /dev/zero"):
            with self.subTest(kind=kind):
                prefix = self.copy(self.conda_model, kind.replace("/", "_"))
                self.become(prefix / "conda-meta/odd-1.0-0.json", kind)
                self.prompt(prefix)
                self.survives(prefix)

    # What changes meanwhile

    def test_a_prefix_that_goes_while_it_is_read(self):
        for attempt in range(12):
            prefix = self.copy(self.model, str(attempt))
            process = subprocess.Popen([envs.PROGRAMS["cudaenv"], "check", "-p", prefix, "--json"],
                                       env=self.home.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            remover = threading.Thread(target=shutil.rmtree, args=(prefix,), kwargs={"ignore_errors": True})
            remover.start()
            out, err = process.communicate(timeout=60)
            remover.join()
            self.assertIn(process.returncode, (0, 1, 2, 3), (out, err))

    def test_a_prefix_that_is_none(self):
        for path in ("/dev/null", "/nowhere/at/all", "/proc/self", "/etc/passwd", "", "/dev"):
            with self.subTest(path=path):
                ran = self.home.run("check", "-p", path, "--json")
                self.assertIn(ran.returncode, (0, 2, 3), ran)


if __name__ == "__main__":
    run_tests(sys.argv)
