#!/usr/bin/env python3
"""`cudaenv check --fix` on environments of real pip, uv and py-rattler.

usage: test_fix.py --cudaenv FILE --cudaenvd FILE
"""

import base64
import fcntl
import hashlib
import json
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
import unittest

from repair_support import (NOBODY, PLACEHOLDER, SITE, Conda, Home, conda_python_package, done, envs, fix,
                            not_as_recorded, quiet, run_tests, tree)

BINARY = b"\x7fELF\0" + PLACEHOLDER.encode() + b"/lib:" + PLACEHOLDER.encode() + b"/x\0tail\0\0"
ODD = {"alpha/a,b.py": "comma = 1\n", 'alpha/say "hi".txt': "hi\n", "alpha/gr\u00fc\u00df.py": "x = 1\n",
       "alpha/empty.py": ""}


def conda_alpha():
    package = conda_python_package("alpha", "1.0", {"alpha/__init__.py": "# conda's\n", "alpha/old.py": "old = 1\n",
                                                    **ODD})
    package["placeholder"] = PLACEHOLDER
    package["files"].update({
        "bin/alpha": f"#!{PLACEHOLDER}/bin/python\nprint(1)\n",
        "lib/libalpha.so.1": {"base64": base64.b64encode(BINARY).decode()},
        "lib/libalpha.so": {"link": "libalpha.so.1"},
        f"{SITE}/alpha/where.py": f"PREFIX = '{PLACEHOLDER}'\n"})
    return package


def wheel_alpha(home, version):
    home.wheel("alpha", version, {"alpha/__init__.py": "# wheel's\n", "alpha/new.py": "new = 1\n",
                                  "alpha/where.py": "PREFIX = None\n", "alpha/a,b.py": "comma = 2\n",
                                  "alpha-data/part.txt": "x\n"})


class Fixing(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.home = self.enterContext(Home())

    def conda_environment(self, conda, name="env", packages=None):
        channel = conda.channel(f"channel-{name}", packages or [conda_alpha()])
        prefix = self.home.conda_env(name)
        conda.install(prefix, channel, "alpha")
        self.assertEqual(not_as_recorded(prefix), [])
        return prefix

    def test_a_wheel_over_conda_goes_and_every_file_of_conda_is_as_recorded_again(self):
        with Conda(self.home.root) as conda:
            for installer in ("pip", "uv"):
                for version in ("1.0", "2.0"):
                    with self.subTest(installer=installer, version=version):
                        prefix = self.conda_environment(conda, f"{installer}-{version}")
                        before = tree(prefix)
                        wheel_alpha(self.home, version)
                        if installer == "pip":
                            self.home.pip(prefix, "install", "--quiet", "--no-deps", "--force-reinstall",
                                          f"alpha=={version}")
                        else:
                            self.home.uv(prefix, "install", "--no-deps", "--reinstall", f"alpha=={version}")
                        self.assertNotEqual(not_as_recorded(prefix), [])
                        report = fix(self.home, prefix)
                        self.assertTrue(report["steps"])
                        self.assertTrue(all(step["done"] for step in report["steps"]), report["steps"])
                        self.assertEqual(report["left"], [])
                        self.assertEqual(not_as_recorded(prefix), [])
                        after = tree(prefix)
                        after.pop(".lock", None)  # uv's own
                        self.assertEqual(after, before)
                        self.assertEqual(self.home.codes(prefix), [])

    def test_files_that_were_taken_away_come_back_with_the_prefix_in_them(self):
        with Conda(self.home.root) as conda:
            prefix = self.conda_environment(conda)
            before = tree(prefix)
            for path in ("bin/alpha", "lib/libalpha.so.1", "lib/libalpha.so", f"{SITE}/alpha/where.py"):
                (prefix / path).unlink()
            shutil.rmtree(prefix / SITE / "alpha")
            fix(self.home, prefix)
            self.assertEqual(tree(prefix), before)
            self.assertIn(str(prefix), (prefix / SITE / "alpha/where.py").read_text())

    def test_a_package_for_every_python_comes_back_where_this_python_has_it(self):
        info = "site-packages/alpha-1.0.dist-info"
        package = {"name": "alpha", "version": "1.0", "build": "0", "depends": ["python"], "noarch": True,
                   "placeholder": PLACEHOLDER, "files": {
                       "site-packages/alpha/__init__.py": "# conda's\n", "site-packages/alpha/part.py": "x = 1\n",
                       f"{info}/METADATA": "Metadata-Version: 2.1\nName: alpha\nVersion: 1.0\n\n",
                       f"{info}/INSTALLER": "conda\n", f"{info}/RECORD": f"alpha/__init__.py,,\n{info[14:]}/RECORD,,\n",
                       "python-scripts/alpha": f"#!{PLACEHOLDER}/bin/python\nprint(1)\n"}}
        python = {"name": "python", "version": "3.11.7", "build": "0", "files": {"share/python/x": "x\n"}}
        with Conda(self.home.root) as conda:
            if SITE != "lib/python3.11/site-packages":
                self.skipTest("the environments' Python is another one")
            prefix = self.conda_environment(conda, packages=[package, python])
            before = tree(prefix)
            self.assertIn("bin/alpha", before)
            shutil.rmtree(prefix / SITE / "alpha")
            (prefix / "bin/alpha").unlink()
            fix(self.home, prefix)
            self.assertEqual(tree(prefix), before)

    def test_a_command_that_an_installer_made_is_made_again(self):
        """As after `pip install --upgrade pip` over conda's: bin/alpha imports what only the wheel had."""
        package = conda_python_package("alpha", "1.0", {"alpha/__init__.py": "", "alpha/old.py": "def main(): print(1.0)\n"},
                                       ["python"])
        package.update(noarch=True, entry_points=["alpha = alpha.old:main"], files={
            path.replace(f"{SITE}/", "site-packages/"): text for path, text in package["files"].items()})
        python = {"name": "python", "version": "3.11.7", "build": "0", "files": {"share/python/x": "x\n"}}
        self.home.wheel("alpha", "2.0", {
            "alpha/__init__.py": "", "alpha/new.py": "def main(): print(2.0)\n",
            "alpha-2.0.dist-info/entry_points.txt": "[console_scripts]\nalpha = alpha.new:main\n"})
        if SITE != "lib/python3.11/site-packages":
            self.skipTest("the environments' Python is another one")
        for writer in ("rattler", "conda"):
            with self.subTest(writer=writer), Conda(self.home.root) as conda:
                prefix = self.conda_environment(conda, f"env-{writer}", packages=[package, python])
                if writer == "conda":  # its records have the paths as the package has them
                    record = prefix / "conda-meta/alpha-1.0-0.json"
                    report = json.loads(record.read_text())
                    for path in report["paths_data"]["paths"]:
                        path["_path"] = path["_path"].replace(f"{SITE}/", "site-packages/")
                    record.write_text(json.dumps(report, indent=2))
                self.assertEqual(self.home.codes(prefix), [])
                command = [prefix / "bin/alpha"]
                self.assertEqual(quiet(command), "1.0\n")
                self.home.pip(prefix, "install", "--quiet", "--no-deps", "alpha==2.0")
                self.assertEqual(quiet(command), "2.0\n")
                self.assertEqual(self.home.codes(prefix), ["CE102"])
                fix(self.home, prefix)
                self.assertEqual(quiet(command), "1.0\n")
                self.assertEqual(self.home.codes(prefix), [])
                mask = os.umask(0)
                os.umask(mask)
                self.assertEqual(command[0].stat().st_mode & 0o777, 0o777 & ~mask)
                # Without the list of commands it cannot be made, and that is no success.
                for listed in (self.home.root / "cache").glob("**/alpha-1.0-0/info/link.json"):
                    listed.unlink()
                self.home.pip(prefix, "install", "--quiet", "--no-deps", "alpha==2.0")
                command[0].unlink()
                report = fix(self.home, prefix, status=3)
                self.assertTrue(any("bin/alpha" in (step["error"] or "") for step in report["steps"]), report["steps"])

    def environment_with_leftover(self):
        prefix = self.home.venv("env", pip=True)
        site = prefix / SITE
        (site / "~lpha-1.0.dist-info").mkdir()
        (site / "~lpha-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: alpha\nVersion: 1.0\n")
        self.home.wheel("alpha", "1.0", {"alpha.py": ""})
        self.home.pip(prefix, "install", "--quiet", "alpha==1.0")
        return prefix

    def is_busy(self, prefix, process, name):
        before = tree(prefix)
        report = fix(self.home, prefix, status=3)
        self.assertEqual(report["code"], "installer-at-work")
        self.assertIn(f"(process {process.pid})", report["message"])
        self.assertEqual(tree(prefix), before)
        [finding] = self.home.check(prefix)["findings"]
        self.assertEqual((finding["code"], finding["title"]), ("CE100", f"{name} is installing (process {process.pid})"))

    def test_while_an_installer_is_at_work_nothing_is_changed(self):
        prefix = self.environment_with_leftover()
        project = prefix.parent
        mounted = self.home.root / "elsewhere"
        mounted.mkdir()
        main = "from pip._internal.cli.main import main; main(['install', '--index-url', 'URL', 'beta'])"
        pip = ["-m", "pip", "install", "--index-url", "URL", "beta"]
        uv = [envs.tools() / "uv", "pip", "install", "--index-url", "URL", "beta"]
        namespace = ["unshare", "--user", "--map-root-user", "--mount"]
        commands = {
            "absolute": ("pip", [prefix / "bin/python", *pip], "/", {}),
            "relative": ("pip", ["env/bin/python", *pip], project, {}),
            "by PATH": ("pip", ["python", *pip], "/", {"PATH": f"{prefix}/bin:/usr/bin:/bin"}),
            "as code": ("pip", [prefix / "bin/python", "-c", main], "/", {}),
            "uv of a variable": ("uv", uv, "/", {"VIRTUAL_ENV": str(prefix)}),
            "uv here": ("uv", uv, prefix, {"VIRTUAL_ENV": "."}),
            "another mount namespace": ("pip", [
                *namespace, "sh", "-c",
                f"mount --bind {prefix} {mounted} && exec {mounted}/bin/python " + " ".join(pip)], "/", {})}
        if subprocess.run([*namespace, "mount", "--bind", prefix, mounted], capture_output=True).returncode != 0:
            del commands["another mount namespace"]
        for label, (name, words, directory, more) in commands.items():
            with self.subTest(label), socket.create_server(("127.0.0.1", 0)) as silent:
                silent.settimeout(60)
                index = f"http://127.0.0.1:{silent.getsockname()[1]}/simple/"
                environment = {**self.home.environment, **more}
                process = subprocess.Popen(
                    [str(word).replace("URL", index) for word in words], env=environment, cwd=directory,
                    executable=prefix / "bin/python" if words[0] == "python" else None,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    asking, _ = silent.accept()  # and will not be answered
                    with asking:
                        self.is_busy(prefix, process, name)
                finally:
                    process.kill()
                    process.wait()
        self.assertEqual(done(fix(self.home, prefix)), [("CE106", True)])

    def test_who_writes_among_the_packages_is_at_work_whatever_it_is_called(self):
        prefix = self.environment_with_leftover()
        pixi = self.home.root / "pixi"
        shutil.copy("/bin/sh", pixi)
        wait = "echo; sleep 60"
        for name, words, directory in (
                ("sh", ["/bin/sh", "-c", f"{wait}; : > /dev/null"], "/"), ("pixi", [pixi, "-c", wait, "add"], prefix.parent),
                (None, ["/bin/sh", "-c", wait, "add"], prefix)):
            with self.subTest(name), open(prefix / SITE / "written.py", "w") as written:
                process = subprocess.Popen(words, cwd=directory, stdout=subprocess.PIPE,
                                           pass_fds=[written.fileno()] if name == "sh" else [])
                written.close()
                try:
                    process.stdout.readline()
                    if name is None:  # a shell that has nothing to do with it
                        self.assertEqual(self.home.codes(prefix), ["CE106"])
                    else:
                        program = os.path.basename(os.readlink(f"/proc/{process.pid}/exe"))
                        self.is_busy(prefix, process, program)
                finally:
                    subprocess.run(["kill", "--", *self.children(process.pid), str(process.pid)])
                    process.stdout.close()
                    process.wait()

    def children(self, process):
        with open(f"/proc/{process}/task/{process}/children") as children:
            return children.read().split()

    def test_what_a_stopped_pip_has_not_written_yet_is_not_missing(self):
        for version in ("1.0", "2.0"):
            self.home.wheel("many", version, {f"many/m{number}.py": f"v = {version}\n" for number in range(3000)})
        prefix = self.home.venv("env", pip=True)
        self.home.pip(prefix, "install", "--quiet", "many==1.0")
        process = subprocess.Popen([prefix / "bin/python", "-m", "pip", "install", "--quiet", "--no-index", "--find-links",
                                    self.home.root / "wheels", "many==2.0"], env=self.home.environment)
        site = prefix / SITE
        while process.poll() is None and not (site / "~any").exists():
            pass
        while process.poll() is None and not (site / "many/m5.py").exists():
            pass
        process.send_signal(signal.SIGSTOP)
        try:
            self.assertIsNone(process.poll(), "pip ended before it could be stopped")
            self.assertFalse((site / "many-2.0.dist-info/RECORD").exists())
            self.is_busy(prefix, process, "pip")
        finally:
            process.send_signal(signal.SIGCONT)
        self.assertEqual(process.wait(), 0)
        self.assertEqual(self.home.codes(prefix), [])

    def test_without_the_package_in_a_cache_nothing_is_changed_and_the_way_out_is_told(self):
        with Conda(self.home.root) as conda:
            prefix = self.conda_environment(conda)
            wheel_alpha(self.home, "2.0")
            self.home.pip(prefix, "install", "--quiet", "--no-deps", "alpha==2.0")
            for extracted in (self.home.root / "cache").glob("**/alpha-1.0-0"):
                shutil.rmtree(extracted)
            before = tree(prefix)
            report = fix(self.home, prefix, status=3)
            self.assertEqual(tree(prefix), before)
            self.assertFalse(any(step["done"] for step in report["steps"]))
            ways = [step["way_out"] for step in report["steps"] if step["way_out"]]
            self.assertEqual(ways, [f"conda install -p {prefix} --force-reinstall alpha=1.0=0"])
            self.assertTrue(report["left"])

    def test_a_damaged_cache_is_not_believed(self):
        with Conda(self.home.root) as conda:
            prefix = self.conda_environment(conda)
            target = prefix / SITE / "alpha/old.py"
            target.unlink()  # it may be a second name of the file in the cache
            found = list((self.home.root / "cache").glob(f"**/alpha-1.0-0/{SITE}/alpha/old.py"))
            self.assertTrue(found)
            for file in found:
                file.write_text("old = 'damaged'\n")
            report = fix(self.home, prefix, status=3)
            self.assertFalse(target.exists())
            self.assertTrue(any(step["error"] for step in report["steps"]))

    def test_a_leftover_goes_and_what_its_links_lead_to_stays(self):
        prefix = self.home.venv("env")
        self.home.wheel("beta", "1.0", {"beta/__init__.py": "", "beta/x.py": "x = 1\n"})
        self.home.pip(prefix, "install", "--quiet", "beta")
        before = tree(prefix)
        outside = self.home.root / "precious"
        outside.mkdir()
        (outside / "file").write_text("mine\n")
        site = prefix / SITE
        shutil.copytree(site / "beta-1.0.dist-info", site / "~eta-1.0.dist-info")
        (site / "~eta").mkdir()
        (site / "~eta/link").symlink_to(outside)
        (site / "~eta/locked").mkdir()
        (site / "~eta/locked/x").write_text("")
        (site / "~eta/locked").chmod(0o500)
        subprocess.run(["mkdir", "-p", "/".join("d" * 1500)], cwd=site / "~eta", check=True)
        self.assertIn("CE106", self.home.codes(prefix))
        fix(self.home, prefix, "CE106")
        self.assertEqual(tree(prefix), before)
        self.assertEqual((outside / "file").read_text(), "mine\n")
        self.assertNotIn("CE106", self.home.codes(prefix))

    def test_what_a_record_claims_outside_of_the_environment_is_never_touched(self):
        prefix = self.home.venv("env")
        site = prefix / SITE
        self.home.wheel("beta", "2.0", {"beta/__init__.py": "two = 2\n"})
        self.home.pip(prefix, "install", "--quiet", "beta==2.0")
        precious = self.home.root / "precious"
        (precious / "inner").mkdir(parents=True)
        victims = [precious / "absolute", precious / "up", precious / "inner/linked"]
        for victim in victims:
            victim.write_text("mine\n")
        (site / "shared").symlink_to(precious / "inner")
        info = site / "beta-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: beta\nVersion: 1.0\n")
        (info / "INSTALLER").write_text("pip\n")
        (site / "beta_old.py").write_text("old = 1\n")
        up = os.path.relpath(precious / "up", site)
        (info / "RECORD").write_text(f"{precious}/absolute,,\n{up},,\nshared/linked,,\nbeta/__init__.py,,\n"
                                     "beta_old.py,,\nbeta-1.0.dist-info/RECORD,,\n")
        old = os.stat(info).st_mtime - 3600
        for path in (*info.iterdir(), info):
            os.utime(path, (old, old))
        report = fix(self.home, prefix, "CE105")
        self.assertEqual([victim.read_text() for victim in victims], ["mine\n"] * 3)
        self.assertFalse(info.exists())
        self.assertFalse((site / "beta_old.py").exists())
        self.assertEqual((site / "beta/__init__.py").read_text(), "two = 2\n")
        self.assertIn("3 files kept, outside", report["steps"][0]["note"])

    def test_files_of_two_versions_are_never_mixed_around_what_was_edited(self):
        """alpha/new.py is the wheel's alone, alpha/__init__.py conda's as well."""
        for edited in ("alpha/new.py", "alpha/__init__.py"):
            with self.subTest(edited), Conda(self.home.root) as conda:
                prefix = self.conda_environment(conda, edited[6:9])
                wheel_alpha(self.home, "2.0")
                self.home.pip(prefix, "install", "--quiet", "--no-deps", "alpha==2.0")
                (prefix / SITE / edited).write_text("mine = 1\n")
                before = tree(prefix)
                report = fix(self.home, prefix)
                self.assertEqual(report["steps"], [])
                self.assertEqual(tree(prefix), before)
                [replaced] = [left for left in report["left"] if left["code"] == "CE102"]
                self.assertIn(edited, replaced["fix"]["text"])
                self.assertIsNone(replaced["fix"]["command"])

    def test_what_is_worse_after_a_fix_is_undone_and_said(self):
        """This torchvision requires no torch by its metadata; that it was compiled for 2.5 shows afterwards."""
        torch = {version: {"torch/__init__.py": f"v = '{version}'\n", "torch/version.py": f"__version__ = '{version}'\n"}
                 for version in ("2.4.0", "2.5.1")}
        self.home.wheel("torch", "2.5.1", {**torch["2.5.1"], "torch/new.py": "x = 1\n"}, tag="py3-none-linux_x86_64")
        self.home.wheel("torchvision", "0.20.1", {"torchvision/__init__.py": "x = 1\n"}, tag="py3-none-linux_x86_64")
        with Conda(self.home.root) as conda:
            channel = conda.channel("channel", [conda_python_package("torch", "2.4.0", torch["2.4.0"])])
            prefix = self.home.conda_env("env")
            conda.install(prefix, channel, "torch")
            self.home.pip(prefix, "install", "--quiet", "torch==2.5.1", "torchvision")
            self.assertEqual(self.home.codes(prefix), ["CE102"])
            before = tree(prefix)
            report = fix(self.home, prefix, status=3)
            self.assertEqual(tree(prefix), before)
            self.assertEqual(done(report), [("CE102", False)] * 2)
            for step in report["steps"]:
                self.assertTrue(step["error"].startswith("undone: CE120 "), step)
            self.assertEqual([left["code"] for left in report["left"]], ["CE102"])
            self.assertEqual(self.home.codes(prefix), ["CE102"])

    def test_where_conda_built_a_package_is_no_source_of_ones_own(self):
        """pip leaves conda's direct_url.json where it installs the same version again."""
        package = conda_alpha()
        package["files"][f"{SITE}/alpha-1.0.dist-info/direct_url.json"] = json.dumps(
            {"url": "file:///home/conda/feedstock_root/build_artifacts/alpha_1700000000000/work", "dir_info": {}})
        with Conda(self.home.root) as conda:
            prefix = self.conda_environment(conda, packages=[package])
            before = tree(prefix)
            for version in ("1.0", "2.0"):
                wheel_alpha(self.home, version)
                self.home.pip(prefix, "install", "--quiet", "--no-deps", "--force-reinstall", f"alpha=={version}")
                [finding] = self.home.check(prefix)["findings"]
                self.assertEqual((finding["code"], len(finding["repairs"])), ("CE102", 2))
            fix(self.home, prefix)
            self.assertEqual(tree(prefix), before)

    def test_of_a_build_whose_files_are_all_overwritten_only_the_record_goes(self):
        built = "2.6.0a0+git1234567"
        for version in (built, "2.8.0"):
            self.home.wheel("torch", version, {"torch/__init__.py": f"v = '{version}'\n", "torch/version.py": version})
        prefix = self.home.venv("env")
        self.home.pip(prefix, "install", "--quiet", f"torch=={built}")
        lost = prefix / SITE / "torch/_own.so"
        for rest in (True, False):
            with self.subTest(rest=rest):
                self.home.pip(prefix, "install", "--quiet", "--upgrade", "--target", prefix / SITE, "torch==2.8.0")
                if rest:  # a file of the build that the wheel does not have
                    lost.write_bytes(b"own")
                    digest = base64.urlsafe_b64encode(hashlib.sha256(b"own").digest()).decode().rstrip("=")
                    with open(prefix / SITE / f"torch-{built}.dist-info/RECORD", "a") as record:
                        record.write(f"torch/_own.so,sha256={digest},3\n")
                else:
                    lost.unlink(missing_ok=True)
                found = {finding["code"]: finding for finding in self.home.check(prefix)["findings"]}
                # The first look is after the replacement, too: nothing was remembered.
                shutil.rmtree(self.home.root / "state")
                first = {finding["code"]: finding for finding in self.home.check(prefix)["findings"]}
                self.assertEqual(first, found)
                self.assertEqual(sorted(found), ["CE105"] if rest else ["CE104", "CE105"])
                finding = found["CE105"]
                self.assertIn(f"{built} (built here)", finding["title"])
                before = tree(prefix)
                if rest:
                    self.assertEqual((finding["repairs"], finding["fix"]["command"]), ([], None))
                    continue
                report = fix(self.home, prefix, status=1)
                self.assertEqual([left["code"] for left in report["left"]], ["CE104"])
                after = tree(prefix)
                self.assertEqual({path for path in before if path not in after},
                                 {path for path in before if path.startswith(f"{SITE}/torch-{built}.dist-info/")})
                self.assertEqual(quiet([prefix / "bin/python", "-c", "import torch; print(torch.v)"]), "2.8.0\n")

    def test_data_that_was_changed_since_is_left_and_told(self):
        with Conda(self.home.root) as conda:
            prefix = self.conda_environment(conda)
            wheel_alpha(self.home, "2.0")
            self.home.pip(prefix, "install", "--quiet", "--no-deps", "alpha==2.0")
            (prefix / SITE / "alpha-data/part.txt").write_text("mine\n")
            report = fix(self.home, prefix)
            self.assertEqual(not_as_recorded(prefix), [])
            self.assertEqual((prefix / SITE / "alpha-data/part.txt").read_text(), "mine\n")
            self.assertIn("alpha-data/part.txt", " ".join(step["note"] or "" for step in report["steps"]))

    def test_a_fix_that_would_break_what_requires_the_package_is_withheld_and_the_dependent_named(self):
        """Also where all depends on one package, and where two of conda's go back only together."""
        click = {version: {"click/__init__.py": f"from click.core import only_{version[0]}{version[2]}\n",
                           "click/core.py": f"only_{version[0]}{version[2]} = 1\n"} for version in ("8.1", "8.2")}
        pair = {version: {"pair/__init__.py": f"from click import only_{version[0]}{version[2]}\n"}
                for version in ("8.1", "8.2")}
        self.home.wheel("click", "8.2", click["8.2"])
        self.home.wheel("pair", "8.2", pair["8.2"], ["click>=8.2"])
        self.home.wheel("needy", "1.0", {"needy.py": "from click import only_82\n"}, ["click>=8.2"])
        with Conda(self.home.root) as conda:
            channel = conda.channel("channel", [conda_python_package("click", "8.1", click["8.1"]),
                                                conda_python_package("pair", "8.1", pair["8.1"], ["click <8.2"])])
            for condas, installed in ((["click"], ["needy"]), (["click", "pair"], ["pair", "needy"]),
                                      (["click", "pair"], ["pair"])):
                with self.subTest(installed):
                    prefix = self.home.conda_env("env-" + "-".join(installed))
                    conda.install(prefix, channel, *condas)
                    self.home.pip(prefix, "install", "--quiet", "--upgrade", *installed)
                    command = [prefix / "bin/python", "-c", "import click, " + ", ".join(installed)]
                    quiet(command)
                    before = tree(prefix)
                    report = fix(self.home, prefix)
                    quiet(command)
                    if "needy" in installed:
                        self.assertEqual(tree(prefix), before)
                        replaced = {left["subject"]: left for left in report["left"]}["click"]
                        self.assertEqual((replaced["code"], replaced["severity"], replaced["repairs"]),
                                         ("CE102", "warning", []))
                        self.assertIn("needy 1.0, which requires click>=8.2", replaced["fix"]["text"])
                    else:
                        self.assertEqual(report["left"], [])
                        self.assertEqual(not_as_recorded(prefix), [])

    def test_where_the_record_does_not_name_what_was_overwritten_nothing_is_changed(self):
        """The code would stay the wheel's while the metadata says conda's."""
        with Conda(self.home.root) as conda:
            prefix = self.conda_environment(conda)
            wheel_alpha(self.home, "2.0")
            self.home.pip(prefix, "install", "--quiet", "--no-deps", "alpha==2.0")
            record = prefix / SITE / "alpha-2.0.dist-info/RECORD"
            lines = record.read_text().splitlines(keepends=True)
            for text in ("", "".join(line for line in lines if not line.startswith("alpha/__init__")),
                         "".join(line.replace("sha256=", "sha256=A") if line.startswith("alpha/__init__") else line
                                 for line in lines)):
                with self.subTest(text):
                    record.write_text(text)
                    before = tree(prefix)
                    fix(self.home, prefix, status=3)
                    self.assertEqual(tree(prefix), before)

    def broken(self, pip=False):
        """An environment most of whose files of one wheel of an index are gone."""
        prefix = self.home.venv("env", pip=pip)
        self.home.wheel("gone", "1.0", {f"gone/m{number}.py": f"x = {number}\n" for number in range(20)})
        with envs.Index(self.home.root / "wheels") as index:
            self.home.environment["PIP_INDEX_URL"] = index.url
            envs.quiet([sys.executable, "-m", "pip", "--python", prefix / "bin/python", "install", "--quiet", "gone"],
                       env=self.home.environment)
        del self.home.environment["PIP_INDEX_URL"]
        before = tree(prefix)
        shutil.rmtree(prefix / SITE / "gone")
        self.assertEqual(self.home.codes(prefix), ["CE107"])
        return prefix, before

    def test_a_wheel_comes_again_by_the_environments_own_pip_with_the_users_settings(self):
        prefix, before = self.broken(pip=True)
        report = fix(self.home, prefix, env={"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.home.root / "wheels")})
        self.assertEqual(done(report), [("CE107", True)])
        self.assertEqual(report["steps"][0]["command"][0], f"{prefix}/bin/python")
        after = tree(prefix)
        self.assertEqual({path for path in before if before[path] != after.get(path)} -
                         {path for path in before if ".dist-info/" in path}, set())

    def test_an_environment_without_pip_asks_uv(self):
        prefix, before = self.broken()
        path = f"{envs.tools()}:{self.home.environment['PATH']}"
        with envs.Index(self.home.root / "wheels") as index:
            report = fix(self.home, prefix, env={"PATH": path, "UV_DEFAULT_INDEX": index.url})
        self.assertEqual(done(report), [("CE107", True)])
        self.assertTrue((prefix / SITE / "gone/m19.py").exists())

    def test_an_install_that_fails_is_status_3_and_tells_how_it_ended(self):
        prefix, _ = self.broken(pip=True)
        report = fix(self.home, prefix, status=3, env={"PIP_NO_INDEX": "1"})
        self.assertEqual(done(report), [("CE107", False)])
        self.assertIn("ended with status 1", report["steps"][0]["error"])
        self.assertEqual([left["code"] for left in report["left"]], ["CE107"])

    @unittest.skipUnless(os.geteuid() == 0, "needs files of several owners; run as root")
    def test_root_does_not_run_the_python_of_another_users_environment(self):
        prefix, _ = self.broken(pip=True)
        ran = self.home.root / "ran"
        (prefix / "bin/python").unlink()
        (prefix / "bin/python").write_text(f"#!/bin/sh\n: > '{ran}'\n")
        (prefix / "bin/python").chmod(0o755)
        os.chown(prefix, 4321, 4321)
        report = fix(self.home, prefix, status=3)
        self.assertEqual(done(report), [("CE107", False)])
        self.assertFalse(ran.exists())

    def test_without_pip_and_uv_there_is_nobody_who_installs(self):
        prefix, _ = self.broken()
        report = fix(self.home, prefix, status=3)
        self.assertIn("no pip", report["steps"][0]["error"])

    def leftover(self):
        prefix = self.home.venv("env")
        (prefix / SITE / "~umpy").mkdir()
        (prefix / SITE / "~umpy/x.py").write_text("x = 1\n")
        self.assertEqual(self.home.codes(prefix), ["CE106"])
        return prefix

    def test_without_a_terminal_nothing_is_done_unless_it_is_said(self):
        prefix = self.leftover()
        ran = self.home.run("check", "--fix", "-p", prefix, stdin=subprocess.DEVNULL)
        self.assertEqual(ran.returncode, 2)
        self.assertIn(b"-y", ran.stderr)
        self.assertTrue((prefix / SITE / "~umpy/x.py").exists())
        ran = self.home.run("check", "--fix", "--json", "-p", prefix, stdin=subprocess.DEVNULL)
        self.assertEqual(json.loads(ran.stdout)["code"], "not-asked")

    def answered(self, prefix, answer):
        main, terminal = pty.openpty()
        os.write(main, answer)
        try:
            return subprocess.run([envs.PROGRAMS["cudaenv"], "check", "--fix", "-p", prefix],
                                  env=self.home.environment, stdin=terminal, stderr=terminal, stdout=subprocess.PIPE,
                                  timeout=60)
        finally:
            os.close(terminal)
            os.close(main)

    def test_on_a_terminal_it_shows_the_steps_and_asks_once(self):
        prefix = self.leftover()
        for answer in (b"n\n", b"\n", b"\x04"):
            ran = self.answered(prefix, answer)
            self.assertEqual(ran.returncode, 1)
            self.assertIn("~umpy", ran.stdout.decode())
            self.assertTrue((prefix / SITE / "~umpy/x.py").exists(), answer)
        ran = self.answered(prefix, b"y\n")
        self.assertEqual(ran.returncode, 0)
        self.assertFalse((prefix / SITE / "~umpy").exists())

    def test_only_the_findings_that_are_named_are_fixed(self):
        prefix = self.leftover()
        report = fix(self.home, prefix, "CE102")
        self.assertEqual((report["steps"], report["left"]), ([], []))
        self.assertTrue((prefix / SITE / "~umpy/x.py").exists())

    def test_a_second_fix_of_the_environment_waits_for_nobody_and_does_nothing(self):
        prefix = self.leftover()
        staging = prefix / ".cudaenv-fix"
        staging.mkdir(mode=0o700)
        descriptor = os.open(staging, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        ran = self.home.run("check", "--fix", "-y", "--json", "-p", prefix)
        self.assertEqual(ran.returncode, 3)
        self.assertEqual(json.loads(ran.stdout)["code"], "busy")
        self.assertTrue((prefix / SITE / "~umpy/x.py").exists())
        (staging / "of an interrupted one").write_text("")
        os.close(descriptor)
        fix(self.home, prefix)
        self.assertFalse(staging.exists())
        self.assertFalse((prefix / SITE / "~umpy").exists())

    def test_somebody_elses_environment_is_refused_before_anything_is_done(self):
        if os.geteuid() != 0:
            self.skipTest("another user can only be tried as root")
        prefix = self.leftover()
        for name in ("home", "state", "cache", "run"):
            shutil.chown(self.home.root / name, NOBODY, NOBODY)
        self.home.root.chmod(0o755)
        programs = self.home.root / "programs"
        programs.mkdir(mode=0o755)
        for name in ("cudaenv", "cudaenvd"):
            shutil.copy(envs.PROGRAMS[name], programs / name)
        before = tree(prefix, compiled=True)
        ran = subprocess.run([programs / "cudaenv", "check", "--fix", "-y", "--json", "-p", prefix],
                             env={**self.home.environment, "CUDAENV_DAEMON": str(programs / "cudaenvd")},
                             capture_output=True, timeout=60, user=NOBODY, group=NOBODY, extra_groups=[],
                             cwd=self.home.root)
        self.assertEqual(ran.returncode, 3, ran.stdout.decode() + ran.stderr.decode())
        self.assertEqual(json.loads(ran.stdout)["code"], "not-writable")
        self.assertEqual(tree(prefix, compiled=True), before)


if __name__ == "__main__":
    run_tests(sys.argv)
