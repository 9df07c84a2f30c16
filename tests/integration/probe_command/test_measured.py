#!/usr/bin/env python3
"""What `cudaenv probe` measured is in the answers of `host`, `resolve` and `explain`: the stand-in
driver, the real client, daemon and probe."""

import json
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "probe"))
from support import H200, PROGRAMS, WAIT, ProbeTest, run_tests  # noqa: E402

# A kernel module of the 550 branch, which gives CUDA 12.4, for one command and its children.
MODULE_550 = ["unshare", "-rm", "sh", "-ec",
              "mount -t tmpfs none /sys/module; mkdir /sys/module/nvidia; "
              'echo 550.54.15 >/sys/module/nvidia/version; "$@"', "sh"]
MEASURED = "measured by cudaenv probe"


class MeasuredTest(ProbeTest):
    def setUp(self):
        super().setUp()
        self.environment |= {"CUDAENV_NO_DAEMON": "1", "CUDAENV_DAEMON": PROGRAMS["cudaenvd"]}
        self.around = []
        # A venv's own runtime: what this machine has of toolkits does not matter.
        prefix = self.root / "home" / "code" / "apex" / ".venv"
        self.site = prefix / "lib" / "python3.11" / "site-packages"
        (self.site / "torch").mkdir(parents=True)
        (prefix / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
        (self.site / "torch" / "version.py").write_text(
            "__version__ = '2.8.0+cu128'\ncuda = '12.8'\n")
        (self.site / "torch-2.8.0+cu128.dist-info").mkdir()
        self.environment["VIRTUAL_ENV"] = str(prefix)

    def machine(self, text="", driver="580.159.04"):
        """A driver on LD_LIBRARY_PATH, and the venv's runtime of CUDA 12.8."""
        self.scenario("runtime 12080\n" + text, H200)
        self.search(self.install_driver(driver))
        self.install_runtime(12, self.site / "nvidia" / "cuda_runtime" / "lib")

    def with_module_550(self):
        if subprocess.run([*MODULE_550, "true"], capture_output=True).returncode != 0:
            self.skipTest("/sys/module cannot be covered here: it needs user and mount namespaces "
                          "(sysctl kernel.unprivileged_userns_clone=1, or a privileged container)")
        self.around = MODULE_550

    def cudaenv(self, *words, **variables):
        return subprocess.run([*self.around, PROGRAMS["cudaenv"], *words], capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, cwd=self.root, timeout=WAIT,
                              env=self.environment | variables)

    def asked(self, *words, status=0, **variables):
        ran = self.cudaenv(*words, "--json", **variables)
        self.assertEqual(ran.returncode, status, ran)
        return json.loads(ran.stdout)

    def resolved(self, **variables):
        return self.asked("resolve", "torch==2.8.0", "--cuda", "12.9", "--offline", **variables)

    def codes(self, resolved):
        return [warning["code"] for warning in resolved["warnings"]]

    def test_a_driver_that_says_another_cuda_than_its_branch_is_believed(self):
        self.with_module_550()
        self.machine("version 12090\n", driver="550.54.15")
        before = self.resolved()
        self.assertEqual((before["driver"]["cuda"], before["driver"]["measured"]),
                         ("12.4", False))
        self.assertIn("CE202", self.codes(before))

        self.asked("probe")
        after = self.resolved()
        self.assertEqual(after["driver"], {"version": "550.54.15", "cuda": "12.9",
                                           "measured": True, "source": MEASURED})
        self.assertIn("driver 550.54.15 gives CUDA 12.9 (measured)", [one["text"] for one in after["runs"]])
        self.assertNotIn("CE202", self.codes(after))
        shown = self.cudaenv("explain", "torch==2.8.0", "--cuda", "12.9", "--offline").stdout
        self.assertIn("gives CUDA 12.9 (measured)", shown)
        self.assertRegex(self.cudaenv("host").stdout,
                         r"(?m)^driver +550\.54\.15.*gives CUDA 12\.9 \(measured\)  ")

    def test_what_was_measured_holds_for_this_shell_and_this_machine_alone(self):
        self.machine("version 12090\n")
        self.assertIsNone(self.resolved()["driver"])
        self.asked("probe")
        self.assertEqual(self.resolved()["driver"]["source"], MEASURED)
        # Another library path may lead to another driver, and a described machine is not this one.
        self.assertIsNone(self.resolved(LD_LIBRARY_PATH="")["driver"])
        described = self.asked("resolve", "torch==2.8.0", "--driver", "550.54.15", "--offline")
        self.assertEqual((described["driver"]["cuda"], described["driver"]["source"]),
                         ("12.4", "--driver"))
        # A driver that was replaced is a driver that was not asked.
        library = next((self.root / "driver").glob("libcuda.so.*.*"))
        with library.open("ab") as opened:
            opened.write(b"\0")
        self.assertIsNone(self.resolved()["driver"])

    def test_the_gpu_that_ran_a_kernel_is_the_gpu_that_is_resolved_for(self):
        self.machine()
        before = self.asked("host")
        if before["gpus"]:
            self.skipTest("this machine has a GPU of its own")
        self.asked("probe")
        host = self.asked("host")
        self.assertEqual([(gpu["name"], gpu["compute_capability"], gpu["source"])
                          for gpu in host["gpus"]], [("NVIDIA H200", "9.0", MEASURED)])
        self.assertIn({"text": "sm_90 in the build", "answer": "yes"}, self.resolved()["runs"])

    def test_a_failed_rung_is_a_warning_until_a_probe_goes_well(self):
        self.machine("version 12090\ncuLaunchKernel fault 700\n")
        self.asked("probe", status=1)
        resolved = self.resolved()
        found = [warning for warning in resolved["warnings"] if warning["code"] == "CE211"]
        self.assertEqual(len(found), 1, resolved["warnings"])
        self.assertRegex(found[0]["title"], r"^the probe failed at kernel \(CE3\d\d\): ")
        self.assertEqual(found[0]["fix"]["command"], "cudaenv probe")
        shown = self.cudaenv("resolve", "torch==2.8.0", "--cuda", "12.9", "--offline").stdout
        self.assertIn("(CE211)", shown)

        self.machine("version 12090\n")
        self.asked("probe")
        self.assertNotIn("CE211", self.codes(self.resolved()))

    def test_what_a_full_probe_found_is_taken_back_by_the_probe_that_its_warning_names(self):
        self.machine("version 12090\ncuLaunchKernel fault 700\n")
        self.asked("probe", "--full", status=1)
        self.assertEqual(self.asked("host")["measured"]["failed"][0]["step"], "kernel")
        found = [one for one in self.resolved()["warnings"] if one["code"] == "CE211"]
        self.assertEqual(found[0]["fix"]["command"], "cudaenv probe")
        self.machine("version 12090\n")
        self.asked("probe")
        self.assertNotIn("CE211", self.codes(self.resolved()))
        self.assertEqual(self.asked("host")["measured"]["failed"], [])

    def test_host_probe_measures_and_its_export_carries_it_to_another_machine(self):
        self.machine("version 12090\ncuLaunchKernel fault 700\n")
        facts = self.root / "lab.json"
        ran = self.cudaenv("host", "--probe", "--export", str(facts))
        self.assertEqual(ran.returncode, 0, ran)
        written = json.loads(facts.read_text())
        self.assertEqual((written["driver"]["cuda"], written["driver"]["measured"]),
                         ("12.9", True))
        self.assertEqual(written["measured"]["verdict"], "fails")
        self.assertEqual(written["measured"]["failed"][0]["step"], "kernel")
        # And it is kept, as the command's own.
        self.assertEqual(self.asked("host")["measured"], written["measured"])

        elsewhere = self.resolved(CUDAENV_HOST=str(facts), LD_LIBRARY_PATH="")
        self.assertEqual((elsewhere["driver"]["cuda"], elsewhere["driver"]["measured"]),
                         ("12.9", True))
        self.assertIn("CE211", self.codes(elsewhere))

    def test_host_probe_without_a_driver_says_so_and_is_no_failure(self):
        host = self.asked("host", "--probe")
        if host["driver"]:
            self.skipTest("this machine has a driver")
        self.assertEqual(host["measured"]["verdict"], "no-driver")
        self.assertEqual(host["measured"]["failed"], [])
        self.assertTrue(host["driver_absent"])
        self.assertIn("no-driver", self.cudaenv("host", "--probe").stdout)

    def test_host_probe_of_a_machine_that_is_described_is_a_usage_error(self):
        for words in (["--driver", "550.54.15"], ["--gpu", "9.0"], ["--host", "lab.json"]):
            ran = self.cudaenv("host", "--probe", *words)
            self.assertEqual(ran.returncode, 2, ran)
            self.assertIn("--probe measures this machine", ran.stderr)


if __name__ == "__main__":
    run_tests()
