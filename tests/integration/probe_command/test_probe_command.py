#!/usr/bin/env python3
"""`cudaenv probe` from end to end: a stand-in driver and runtime, a venv made of files, the real
client, daemon and probe."""

import fcntl
import json
import os
import pty
import shutil
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "probe"))
from support import H200, PROGRAMS, SECOND, WAIT, ProbeTest, run_tests  # noqa: E402


class CommandTest(ProbeTest):
    def setUp(self):
        super().setUp()
        self.environment |= {"CUDAENV_NO_DAEMON": "1", "CUDAENV_DAEMON": PROGRAMS["cudaenvd"]}
        self.prefix = self.root / "home" / "code" / "apex" / ".venv"
        self.site = self.prefix / "lib" / "python3.11" / "site-packages"
        (self.site / "torch").mkdir(parents=True)
        (self.prefix / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
        (self.site / "torch" / "version.py").write_text(
            "__version__ = '2.11.0+cu130'\ncuda = '13.0'\n")
        (self.site / "torch-2.11.0+cu130.dist-info").mkdir()
        self.environment["VIRTUAL_ENV"] = str(self.prefix)

    def machine(self, text="", devices=H200):
        """A driver on LD_LIBRARY_PATH, and the venv's own runtime."""
        self.scenario(text, devices)
        self.search(self.install_driver())
        return self.install_runtime(13, self.site / "nvidia" / "cu13" / "lib")

    def cudaenv(self, *words, **variables):
        return subprocess.run([PROGRAMS["cudaenv"], *words], capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, cwd=self.root, timeout=WAIT,
                              env=self.environment | variables)

    def probe(self, *words, **variables):
        ran = self.cudaenv("probe", "--json", *words, **variables)
        self.assertEqual(ran.stderr, "")
        return json.loads(ran.stdout), ran.returncode

    def step(self, probe, name, gpu=None):
        found = [step for step in probe["steps"] if step["name"] == name and step["gpu"] == gpu]
        self.assertEqual(len(found), 1, probe["steps"])
        return found[0]

    def listening_daemon(self):
        del self.environment["CUDAENV_NO_DAEMON"]
        daemon = subprocess.Popen([PROGRAMS["cudaenvd"], "--daemon"], env={
            name: value for name, value in self.environment.items()
            if name not in ("LD_LIBRARY_PATH", "VIRTUAL_ENV")}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(daemon.stderr.close)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.terminate)
        socket = self.root / "run" / "cudaenv" / "daemon.socket"
        until = time.monotonic() + WAIT
        while not socket.exists():
            self.assertIsNone(daemon.poll(), "the daemon ended")
            self.assertLess(time.monotonic(), until)
            os.sched_yield()
        return daemon


class ProbeCommandTest(CommandTest):
    def test_a_chain_that_holds_is_ok_with_the_environments_own_runtime(self):
        runtime = self.machine()
        probe, status = self.probe()
        self.assertEqual((probe["verdict"], status), ("ok", 0), probe)
        self.assertEqual(probe["runtime_path"], str(runtime))
        self.assertEqual((probe["runtime"], probe["driver_cuda"]), ("13.0", "13.0"))
        self.assertEqual(probe["environment"], str(self.prefix))
        self.assertEqual(self.step(probe, "kernel", 0)["status"], "ok")
        self.assertEqual(probe["depth"], "quick")

    def test_a_runtime_that_is_too_new_breaks_there_and_says_what_to_do(self):
        self.machine("version 11040\ncudaGetDeviceCount 35\ncudaSetDevice 35\ncudaMalloc 35\n")
        probe, status = self.probe()
        self.assertEqual((probe["verdict"], status), ("fails", 1), probe)
        broken = self.step(probe, "runtime")
        self.assertEqual(broken["status"], "fails")
        self.assertRegex(broken["code"], "^CE3[0-9][0-9]$")
        self.assertTrue(broken["cause"])
        self.assertTrue(broken["fix"]["text"])
        self.assertEqual(self.probe("--allow-missing")[1], 1)

    def test_no_gpu_and_no_driver_are_status_1_and_0_where_that_is_allowed(self):
        self.machine("cuInit 100\n")
        probe, status = self.probe()
        self.assertEqual((probe["verdict"], status), ("no-gpu", 1))
        self.assertEqual(self.probe("--allow-missing")[1], 0)

    @unittest.skipIf(any(os.path.exists(f"/usr/lib/{place}libcuda.so.1")
                         for place in ("", "x86_64-linux-gnu/", "aarch64-linux-gnu/")),
                     "this machine has a driver")
    def test_a_machine_without_a_driver_says_so_in_one_line(self):
        probe, status = self.probe()
        self.assertEqual((probe["verdict"], status), ("no-driver", 1))
        self.assertEqual(self.probe("--allow-missing")[1], 0)
        shown = self.cudaenv("probe")
        self.assertEqual(shown.returncode, 1)
        self.assertRegex(shown.stdout, r"(?m)^verdict +no-driver: ")
        self.assertRegex(shown.stdout, r"(?m)^  fix +\S")

    def test_several_gpus_are_numbered_and_each_is_climbed(self):
        self.machine(devices=H200 + SECOND)
        probe, status = self.probe("--all-gpus", CUDA_VISIBLE_DEVICES="")
        self.assertEqual(status, 0, probe)
        self.assertEqual([s["gpu"] for s in probe["steps"] if s["name"] == "kernel"], [0, 1])
        shown = self.cudaenv("probe").stdout
        self.assertRegex(shown, r"(?m)^kernel 0 +\S")
        self.assertRegex(shown, r"(?m)^kernel 1 +\S")

    def test_a_listening_daemon_answers_with_the_shells_own_variables(self):
        self.machine("cuInit 100\n")
        self.listening_daemon()
        # With --verbose it would be said if a child had answered.
        probe, status = self.probe("--verbose")
        self.assertEqual((probe["verdict"], status), ("no-gpu", 1))

    def test_of_another_machine_nothing_that_was_probed_here_is_reported(self):
        self.machine("cuLaunchKernel fault 700\n")
        self.assertEqual(self.probe()[0]["verdict"], "fails")
        here = json.loads(self.cudaenv("env", "--json").stdout)
        self.assertIn("! probe fails", here["line"])
        there = json.loads(self.cudaenv("env", "--json", "--driver", "580.159.04").stdout)
        self.assertNotIn("probe", there["line"] or "")

    def test_status_and_the_quiet_line_tell_a_bad_verdict_until_something_changes(self):
        runtime = self.machine("cuLaunchKernel fault 700\n")
        self.assertIsNone(json.loads(self.cudaenv("status", "--json").stdout)["probe"])
        probe, status = self.probe()
        self.assertEqual((probe["verdict"], status), ("fails", 1), probe)
        kept = json.loads(self.cudaenv("status", "--json").stdout)["probe"]
        self.assertEqual((kept["verdict"], kept["step"]), ("fails", "kernel"))
        self.assertRegex(self.cudaenv("status").stdout, r"(?m)^probe +fails at kernel \(CE")
        line = json.loads(self.cudaenv("env", "--json").stdout)["line"]
        self.assertIn("! probe fails at kernel (CE", line)
        # Nothing of that asked the driver.
        calls = self.calls()
        self.cudaenv("status")
        self.cudaenv("prompt", "bash")
        self.assertEqual(self.calls(), calls)

        os.utime(runtime, (1, 1))
        self.assertIsNone(json.loads(self.cudaenv("status", "--json").stdout)["probe"])
        self.assertNotIn("probe", json.loads(self.cudaenv("env", "--json").stdout)["line"])

    def test_what_the_full_probe_found_is_reported_until_a_full_one_goes_well(self):
        self.machine("cuLaunchKernel wrong ptx\n")
        probe = self.probe("--full")[0]
        self.assertEqual(probe["verdict"], "fails")
        if self.step(probe, "kernel", 0)["status"] == "fails":
            self.skipTest("built without nvcc: the kernel rung is PTX as well")
        probe = self.probe()[0]
        self.assertEqual(probe["verdict"], "ok", probe)
        kept = json.loads(self.cudaenv("status", "--json").stdout)["probe"]
        self.assertEqual((kept["verdict"], kept["depth"], kept["step"]), ("fails", "full", "ptx"))
        self.assertRegex(self.cudaenv("status").stdout,
                         r"(?m)^probe +fails at ptx \(CE\d+\), --full, just now: ")
        self.assertRegex(json.loads(self.cudaenv("env", "--json").stdout)["line"],
                         r"! probe fails at ptx \(CE\d+\): cudaenv probe --full$")
        # With another variable of the driver's it is another question.
        self.assertIsNone(json.loads(
            self.cudaenv("status", "--json", CUDA_FORCE_PTX_JIT="0").stdout)["probe"])
        self.machine()
        self.probe("--full")
        self.assertNotIn("fails at ptx", self.cudaenv("status").stdout)

    def test_a_good_verdict_is_reported_by_status_and_silent_at_the_prompt(self):
        self.machine()
        self.assertEqual(self.probe()[1], 0)
        self.assertRegex(self.cudaenv("status").stdout, r"(?m)^probe +ok, just now$")
        self.assertNotIn("probe", json.loads(self.cudaenv("env", "--json").stdout)["line"])

    def nvcc(self):
        found = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        if not os.path.exists(found) or not shutil.which("g++"):
            self.skipTest("no nvcc with a g++ here: install a CUDA toolkit, or conda's cuda-nvcc")
        return os.path.realpath(found)

    def test_what_nvcc_builds_is_a_rung_and_its_failure_is_status_1_even_without_a_gpu(self):
        self.environment["PATH"] = os.path.dirname(self.nvcc()) + ":" + self.environment["PATH"]
        del self.environment["VIRTUAL_ENV"]
        self.machine("cuInit 100\n")
        probe, status = self.probe("--build", "--allow-missing")
        built = self.step(probe, "build")
        self.assertEqual((built["status"], status), ("skipped", 0), built)
        self.assertIn("compiles and links; not run: no GPU", built["detail"])

        probe, status = self.probe("--build", "--allow-missing",
                                   NVCC_APPEND_FLAGS="--no-such-option-of-nvcc")
        built = self.step(probe, "build")
        self.assertEqual((built["status"], status), ("fails", 1), built)
        self.assertIn("no-such-option-of-nvcc", built["detail"])

    def test_usage_errors_are_status_2(self):
        self.assertEqual(self.cudaenv("probe", "--watsh").returncode, 2)
        self.assertEqual(self.cudaenv("probe", "-p", "/nowhere").returncode, 2)
        refused = self.cudaenv("probe", "--watch", "--full")
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertIn("--watch cannot be combined with --full", refused.stderr)


class WatchTest(CommandTest):
    """`cudaenv probe --watch`, off a terminal."""

    def nvml(self, mode):
        place = self.root / "nvml"
        place.mkdir()
        shutil.copy2(PROGRAMS["nvml"], place / "libnvidia-ml.so.1")
        (place / "nvml-mode").write_text(mode + "\n")
        self.search(place)

    def test_with_json_it_is_a_line_every_two_seconds_until_a_signal(self):
        self.nvml("two-gpus")
        with subprocess.Popen([PROGRAMS["cudaenv"], "probe", "--watch", "--json"], text=True,
                              stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, cwd=self.root,
                              env=self.environment) as watch:
            for _ in range(2):
                usage = json.loads(watch.stdout.readline())
                self.assertEqual((usage["schema"], len(usage["gpus"]), usage["findings"]),
                                 ("cudaenv.usage/1", 2, []))
            watch.terminate()
            watch.stdout.read()
        self.assertEqual(watch.returncode, 0)

    def test_without_a_terminal_it_is_shown_once(self):
        self.nvml("two-gpus")
        shown = self.cudaenv("probe", "--watch")
        self.assertEqual((shown.returncode, shown.stdout.count("\ngpu ")), (0, 2), shown)

    def test_a_library_and_a_module_of_two_versions_have_cause_and_fix(self):
        self.nvml("mismatch")
        ran = self.cudaenv("probe", "--watch", "--json")
        self.assertEqual(ran.returncode, 1)
        [finding] = json.loads(ran.stdout)["findings"]
        self.assertRegex(finding["code"], "^CE30[56]$")
        self.assertIn("the same version", finding["cause"])
        self.assertTrue(finding["fix"]["text"])


# A kernel module of 580.95.05 and a libcuda of the version that is named first; then the command.
A_DRIVER = """set -e
mount -t tmpfs none /proc/driver
mkdir /proc/driver/nvidia
echo 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Thu' >/proc/driver/nvidia/version
mount -t tmpfs none /run
mkdir -p /run/opengl-driver/lib
: >"/run/opengl-driver/lib/libcuda.so.$1"
ln -s "libcuda.so.$1" /run/opengl-driver/lib/libcuda.so.1
shift
exec "$@"
"""


@unittest.skipUnless(subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/proc/driver"],
                                    capture_output=True, check=False).returncode == 0,
                     "no mount namespaces here: run as root, or where user namespaces are allowed")
@unittest.skipIf(any(os.path.exists(f"/usr/lib{place}/libcuda.so.1") for place in
                     ("", "64", "/x86_64-linux-gnu", "/aarch64-linux-gnu")),
                 "this machine has a driver")
class UpgradeTest(CommandTest):
    def prompt(self, library):
        """What the shell is to run, and what is said at its terminal."""
        terminal, side = pty.openpty()
        self.addCleanup(os.close, terminal)
        ran = subprocess.run(["unshare", "-rm", "sh", "-c", A_DRIVER, "sh", library,
                              PROGRAMS["cudaenv"], "prompt", "bash", "--say",
                              # As after a command: longer than a loaded machine's prompt may take.
                              "--was", ""], stdin=side, stderr=side,
                             stdout=subprocess.PIPE, text=True, env=self.environment, timeout=WAIT,
                             check=True)
        os.write(side, b"<end>")
        os.close(side)
        said = b""
        while b"<end>" not in said:
            said += os.read(terminal, 4096)
        return ran.stdout, said.decode()

    def test_watch_tells_both_versions_and_the_way_out_where_nvml_does_not_start(self):
        place = self.root / "nvml"
        place.mkdir()
        shutil.copy2(PROGRAMS["nvml"], place / "libnvidia-ml.so.1")
        (place / "nvml-mode").write_text("mismatch\n")
        self.search(place)
        ran = subprocess.run(["unshare", "-rm", "sh", "-c", A_DRIVER, "sh", "590.44.01",
                              PROGRAMS["cudaenv"], "probe", "--watch"], capture_output=True,
                             text=True, env=self.environment, timeout=WAIT)
        self.assertEqual(ran.returncode, 1, ran)
        said = " ".join(ran.stdout.split())
        self.assertIn("CE305 error the driver's library is 590.44.01, the loaded kernel module "
                      "580.95.05", said)
        self.assertIn("cause the driver was upgraded and the old kernel module is still loaded",
                      said)
        self.assertIn("reboot, or reload the module", said)
        self.assertIn("sudo reboot", said)

    def test_a_driver_that_was_upgraded_is_missed_by_the_prompt_and_reported_once(self):
        del self.environment["VIRTUAL_ENV"]
        watched = ""
        until = time.monotonic() + WAIT
        # What was written just now is not watched yet: it is asked for again.
        while "/run/opengl-driver/lib/libcuda.so.580.95.05" not in watched:
            self.assertLess(time.monotonic(), until, watched)
            watched, said = self.prompt("580.95.05")
            self.assertEqual(said, "<end>")
        self.assertIn("its library is 590.44.01, the loaded kernel module 580.95.05",
                      self.prompt("590.44.01")[1])
        self.assertEqual(self.prompt("590.44.01")[1], "<end>")


class BackgroundTest(CommandTest):
    """[probe] background: what the daemon does after a prompt was answered."""

    def setUp(self):
        super().setUp()
        self.machine()
        shutil.copy2(PROGRAMS["nvml"], self.root / "driver" / "libnvidia-ml.so.1")
        self.daemon = self.listening_daemon()

    def turn_on(self):
        config = self.root / "home" / ".config" / "cudaenv" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text("[probe]\nbackground = true\n")

    def another_environment(self, name="other"):
        other = self.root / "home" / "code" / name / ".venv"
        shutil.copytree(self.prefix, other, symlinks=True)
        return {"VIRTUAL_ENV": str(other)}

    def prompt(self, **variables):
        """As a shell asks: again at the next prompt where the machine was too busy for an answer."""
        until = time.monotonic() + WAIT
        while (ran := self.cudaenv("prompt", "bash", **variables)).returncode == 3:
            self.assertLess(time.monotonic(), until, ran.stderr)
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def kept(self, **variables):
        return json.loads(self.cudaenv("status", "--json", **variables).stdout)["probe"]

    def wait_until(self, holds):
        until = time.monotonic() + WAIT
        while not holds():
            self.assertIsNone(self.daemon.poll(), "the daemon ended")
            self.assertLess(time.monotonic(), until, "it does not happen")
            time.sleep(0.02)

    def test_a_verdict_comes_after_an_activation_and_only_where_that_is_wanted(self):
        self.prompt()
        self.turn_on()
        other = self.another_environment()
        self.prompt(**other)
        self.wait_until(lambda: self.kept(**other))
        self.assertEqual(self.kept(**other)["verdict"], "ok")
        self.assertIsNone(self.kept())  # asked for before the setting was there
        # It is known now: the next one does not ask.
        calls = self.calls()
        third = self.root / "home" / "code" / "third" / ".venv"
        shutil.copytree(self.prefix, third, symlinks=True)
        self.prompt(**other)
        self.prompt(VIRTUAL_ENV=str(third))
        self.wait_until(lambda: self.kept(VIRTUAL_ENV=str(third)))
        self.assertEqual(len(self.calls()), 2 * len(calls))

    def test_a_projects_file_cannot_ask_for_it(self):
        project = self.root / "project"
        project.mkdir()
        (project / "cudaenv.toml").write_text("[probe]\nbackground = true\n")
        set_there = subprocess.run(
            [PROGRAMS["cudaenv"], "config", "get", "probe.background", "--json"],
            capture_output=True, text=True, cwd=project, env=self.environment, timeout=WAIT)
        self.assertNotIn("true", set_there.stdout)
        self.assertIn("for the user's own config.toml", set_there.stdout + set_there.stderr)

    def test_two_shells_that_see_other_gpus_are_each_probed_once(self):
        self.turn_on()
        one, other = {"CUDA_VISIBLE_DEVICES": "0"}, {}
        self.prompt(**one)
        self.prompt(**other)  # within the second in which nothing is begun
        for shell in (one, other):
            self.wait_until(lambda shell=shell: self.kept(**shell))
        probe = len(self.calls()) // 2
        for name, shell in (("b", one), ("c", other), ("d", one)):
            self.prompt(**shell)
            later = self.another_environment(name)
            self.prompt(**later)
            self.wait_until(lambda later=later: self.kept(**later))  # looked at after the first
            self.assertTrue(self.kept(**one))
            self.assertTrue(self.kept(**other))
        self.assertEqual(len(self.calls()), (2 + 3) * probe)

    def check_left_alone(self, nvml):
        """One prompt while NVML says that, the next when all is idle."""
        self.turn_on()
        mode = self.root / "driver" / "nvml-mode"
        os.mkfifo(mode)
        self.prompt()
        opened = []

        def is_asked():
            try:
                opened.append(os.open(mode, os.O_WRONLY | os.O_NONBLOCK))
            except OSError:
                return False  # it has no reader yet
            return True
        self.wait_until(is_asked)
        os.write(opened[0], nvml + b"\n")
        os.close(opened[0])
        mode.unlink()
        other = self.another_environment()
        self.prompt(**other)
        self.wait_until(lambda: self.kept(**other))
        self.assertIsNone(self.kept())

    def test_a_busy_gpu_is_left_alone(self):
        self.check_left_alone(b"busy")

    def test_a_gpu_whose_processes_nvml_does_not_tell_is_left_alone(self):
        self.check_left_alone(b"secretive")

    def test_a_gpu_of_which_nvml_does_not_tell_how_much_it_works_is_left_alone(self):
        self.check_left_alone(b"unmeasured")

    def test_a_probe_that_crashed_is_not_run_again_when_its_verdict_is_gone(self):
        self.scenario("cuInit crash\n")
        self.turn_on()
        self.prompt()
        self.wait_until(self.kept)
        self.assertEqual(self.kept()["verdict"], "crashed")
        (self.root / "home" / ".cache" / "cudaenv" / "probes.json").unlink()
        self.prompt()
        other = self.another_environment()
        self.prompt(**other)
        self.wait_until(lambda: self.kept(**other))  # which is looked at after the first
        self.assertIsNone(self.kept())
        self.assertEqual(sum(call.startswith("cuInit") for call in self.calls()), 2)

    def test_a_cache_directory_that_answers_slowly_delays_no_prompt(self):
        self.turn_on()
        cache = self.root / "home" / ".cache" / "cudaenv"
        cache.mkdir(parents=True, mode=0o700)
        held = os.open(cache, os.O_RDONLY)
        self.addCleanup(os.close, held)
        fcntl.flock(held, fcntl.LOCK_EX)

        def waits_for_it():
            links = Path(f"/proc/{self.daemon.pid}/fd")
            for link in links.iterdir():
                try:
                    if link.readlink() == cache:
                        return True
                except OSError:
                    pass  # it was closed
            return False

        def answers_while_it_waits(first, second):
            self.prompt(**first)
            self.wait_until(waits_for_it)
            self.prompt(**second)
            return waits_for_it()
        # The daemon waits for two seconds and then writes all the same: on a loaded machine a
        # prompt that waits for nothing may take longer. One of these is not that unlucky.
        others = [self.another_environment(f"other{number}") for number in range(10)]
        self.assertTrue(any(answers_while_it_waits(others[at], others[at + 1])
                            for at in range(0, len(others), 2)), "each prompt waited for the store")
        self.prompt()
        fcntl.flock(held, fcntl.LOCK_UN)
        self.wait_until(self.kept)

    def test_a_driver_that_hangs_delays_neither_prompts_nor_the_daemons_end(self):
        self.scenario("cuInit hang\n")
        self.turn_on()
        self.prompt()
        self.wait_until(lambda: "hangs" in self.calls())
        self.prompt()
        self.assertIsNone(self.kept(), "the prompt waited for the probe")
        self.assertEqual(self.cudaenv("daemon", "stop").returncode, 0)
        self.daemon.wait(timeout=WAIT)
        self.assertEqual(self.daemon.returncode, 0)
        self.assertIsNone(self.kept(CUDAENV_NO_DAEMON="1"))


if __name__ == "__main__":
    run_tests()
