#!/usr/bin/env python3
"""`cudaenv probe` over drivers that work, refuse, lie, hang and die: each has its own code, cause,
fix and verdict, comes within the deadline, and leaves no process behind."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import drivers
from support import H200, PROGRAMS, SECOND, WAIT, ProbeTest, run_tests

QUICK_DEADLINE = 20  # seconds, as docs/probe.md has it


class VerdictTest(ProbeTest):
    def setUp(self):
        super().setUp()
        self.environment.update({"CUDAENV_NO_DAEMON": "1", "SHELL": "/bin/bash",
                                 "CUDAENV_DAEMON": PROGRAMS["cudaenvd"],
                                 "CONDA_PREFIX": str(self.root / "apex")})

    def install_environment(self, cuda="13.0"):
        """A conda environment with that CUDA's runtime, which is the stand-in's."""
        prefix = self.root / "apex"
        (prefix / "conda-meta").mkdir(parents=True, exist_ok=True)
        (prefix / "conda-meta/history").touch()
        major = cuda.split(".")[0]
        soname = "libcudart.so.11.0" if major == "11" else f"libcudart.so.{major}"
        for name, files in (("cuda-version", []), ("cuda-cudart", [f"lib/{soname}"])):
            for old in (prefix / "conda-meta").glob(f"{name}-*.json"):
                old.unlink()
            (prefix / f"conda-meta/{name}-{cuda}-0.json").write_text(json.dumps(
                {"name": name, "version": cuda, "build": "0", "build_number": 0, "depends": [],
                 "channel": "conda-forge", "subdir": "linux-64", "files": files}))
        return self.install_runtime(soname.removeprefix("libcudart.so."), at="apex/lib")

    def install_torch(self, version, cuda):
        """A wheel's torch in that environment, as far as its facts are read."""
        torch = self.root / "apex/lib/python3.12/site-packages/torch"
        torch.mkdir(parents=True, exist_ok=True)
        (torch / "version.py").write_text(
            f"__version__ = '{version}'\ndebug = False\ncuda: Optional[str] = '{cuda}'\n")

    def machine(self, text="", devices=H200, driver="13.0", cuda="13.0"):
        """A driver that gives CUDA `driver`, and an environment of CUDA `cuda`."""
        def number(version):
            major, minor = version.split(".")
            return int(major) * 1000 + int(minor) * 10
        self.scenario(f"version {number(driver)}\nruntime {number(cuda)}\n{text}", devices)
        self.install_environment(cuda)
        self.search(self.install_driver())

    def command(self, *words):
        return [PROGRAMS["cudaenv"], "probe", "--json", *words]

    def probe(self, *words, timeout=WAIT, **more):
        ran = subprocess.run(self.command(*words), capture_output=True, env=self.environment,
                             cwd=self.root, stdin=subprocess.DEVNULL, timeout=timeout,
                             preexec_fn=self.before_it_starts(), **more)
        self.assertNotIn(b"stand-in CUDA:", ran.stderr)
        try:
            answer = json.loads(ran.stdout)
        except ValueError:
            self.fail(f"no JSON: {ran.stdout!r} {ran.stderr!r}")
        self.assertEqual(self.left_behind(), [], "processes of the probe are still there")
        self.assertEqual(ran.returncode, 0 if answer["verdict"] in ("ok", "warns") else 1)
        for step in answer["steps"]:
            # Whatever is wrong says why and what to do, in lines that a terminal can show.
            if step["status"] in ("fails", "warns"):
                self.assertTrue(step["code"] and step["cause"] and step["fix"]["text"], step)
            self.assertNotIn("\n", step["detail"] + (step["cause"] or ""))
        return answer

    def step(self, answer, name, gpu=None):
        found = [step for step in answer["steps"]
                 if step["name"] == name and (gpu is None or step["gpu"] == gpu)]
        self.assertEqual(len(found), 1, f"steps {name}: {json.dumps(answer, indent=1)}")
        return found[0]

    def check(self, answer, verdict, name, status="fails", code=None, words="", gpu=None):
        step = self.step(answer, name, gpu)
        self.assertEqual((step["status"], step["code"], answer["verdict"]),
                         (status, code, verdict), json.dumps(answer, indent=1))
        told = " ".join([step["detail"], step["cause"] or "", (step["fix"] or {}).get("text", ""),
                         (step["fix"] or {}).get("command") or ""])
        for word in words.split(","):
            self.assertIn(word, told)
        if status == "fails":
            # The rungs above it that are of the same GPU, or of all, were not found right.
            order = ["library", "driver", "gpu", "runtime", "memory", "kernel"]
            for above in answer["steps"]:
                if above["name"] in order and order.index(above["name"]) > order.index(name) \
                        and gpu is None:
                    self.assertEqual(above["status"], "skipped", above)
        return step


class Verdicts(VerdictTest):
    def test_a_chain_that_holds_is_ok(self):
        self.machine()
        answer = self.probe()
        self.assertEqual(answer["verdict"], "ok", answer)
        self.assertEqual({step["status"] for step in answer["steps"]}, {"ok"})
        self.assertEqual((answer["driver_cuda"], answer["runtime"]), ("13.0", "13.0"))
        self.assertEqual(answer["runtime_path"], str(self.root / "apex/lib/libcudart.so.13"))
        self.assertEqual(answer["environment"], str(self.root / "apex"))

    def test_35_the_driver_is_below_the_runtimes_family(self):
        self.machine(driver="11.4", cuda="12.4")
        self.check(self.probe(), "fails", "runtime", code="CE322", words="11.4,12.4,525.60.13")

    def test_35_of_a_real_runtime(self):
        self.machine(driver="11.4", cuda="12.4")
        try:
            real = drivers.runtime("12.4")
        except drivers.Unavailable as reason:
            self.skipTest(f"no libcudart 12.4: {reason}")
        file = self.root / "apex/lib/libcudart.so.12"
        file.unlink()
        file.symlink_to(real)
        answer = self.probe()
        self.check(answer, "fails", "runtime", code="CE322", words="11.4,12.4,525.60.13")
        self.assertEqual(answer["runtime"], "12.4")

    def test_a_runtime_of_a_later_minor_runs_with_a_warning_and_its_ptx_does_not(self):
        self.machine("ptx 8.2", driver="12.2", cuda="12.4")
        self.check(self.probe(), "warns", "runtime", "warns", "CE325", "12.2,12.4,550.54.14")
        answer = self.probe("--full", timeout=180)  # with whatever else is on this machine
        for name in ("memory", "kernel", "ptx"):
            self.assertEqual(self.step(answer, name)["status"], "ok")
        newest = self.step(answer, "ptx-runtime")
        self.assertEqual((newest["status"], newest["code"]), ("warns", "CE325"))
        self.assertIn("222", newest["detail"])

    def test_222_at_the_kernel_is_no_matter_of_a_minor_version(self):
        self.machine("cuModuleLoadDataEx 222")
        self.check(self.probe(), "fails", "kernel", code="CE330", words="222")

    def test_36_the_driver_lacks_a_call_of_a_later_minor(self):
        self.machine("cudaMalloc 36", driver="12.2", cuda="12.4")
        self.check(self.probe(), "fails", "memory", code="CE324", words="36,newer driver,12.2")

    def test_what_cuinit_refuses_has_its_own_code(self):
        for error, verdict, code, words in (
                (101, "no-gpu", "CE312", "101"),
                (802, "driver-broken", "CE313", "802,fabricmanager"),
                (804, "driver-broken", "CE307", "804,compat"),
                (803, "driver-broken", "CE306", "803,580.159.04"),
                (999, "driver-broken", "CE314", "999"),
                (34, ("no-driver", "driver-broken"), "CE303", "34,stub"),
                (4711, "driver-broken", "CE314", "4711")):
            with self.subTest(error):
                self.machine(f"cuInit {error}")
                answer = self.probe()
                if isinstance(verdict, tuple):
                    self.assertIn(answer["verdict"], verdict)
                    verdict = answer["verdict"]
                self.check(answer, verdict, "driver", code=code, words=words)
                self.assertIsNone(answer["driver_cuda"])

    def test_803_from_a_compat_directory_on_the_library_path_names_the_directory(self):
        self.machine("cuInit 803")
        compat = self.install_driver("575.57.08", at="cuda-12.9/compat")
        self.search("/usr/lib/none", compat, self.root / "driver")
        step = self.check(self.probe(), "driver-broken", "driver", code="CE304",
                          words=f"803,575.57.08,compat,{compat}")
        # What is pasted keeps the rest of the path and leaves out this one.
        self.assertIn("/usr/lib/none", step["fix"]["command"])
        self.assertNotIn(str(compat), step["fix"]["command"])

    def test_no_code_for_the_gpu_is_209_and_says_which_cuda_has_it(self):
        for devices, cuda, code in (
                (H200, "13.0", "CE328"),
                ('device 0 "Quadro P4000" cc 6.1 memory 8589934592\n', "13.0", "CE327"),
                ('device 0 "NVIDIA B200" cc 10.0 memory 8589934592\n', "12.4", "CE326")):
            with self.subTest(code):
                self.machine("cuModuleLoadDataEx 209", devices, cuda=cuda)
                self.check(self.probe(), "fails", "kernel", code=code, words="209")

    def test_a_cuda_that_has_dropped_the_gpu_fails_though_the_probes_own_code_runs(self):
        volta = 'device 0 "Tesla V100-SXM2-16GB" cc 7.0 memory 17179869184\n'
        self.machine(devices=volta, driver="13.0", cuda="13.0")
        answer = self.probe()
        step = self.check(answer, "fails", "kernel", code="CE327",
                          words="CUDA 13.0,sm_75 and newer,sm_70,12.x,cudaenv pin 12.9")
        self.assertEqual(self.step(answer, "runtime")["status"], "ok")
        self.assertIn("the probe's PTX" if "PTX" in step["detail"] else "the probe's machine code",
                      step["detail"])
        with self.subTest("the last CUDA that has code for it"):
            self.machine(devices=volta, driver="13.0", cuda="12.9")
            self.assertEqual(self.probe()["verdict"], "ok")
        with self.subTest("of two GPUs the other is served"):
            self.machine(devices=H200 + volta.replace("device 0", "device 1"))
            answer = self.probe()
            self.check(answer, "fails", "kernel", code="CE327", gpu=1)
            self.assertEqual(self.step(answer, "kernel", 0)["status"], "ok")
            self.assertIn("1 of 2 GPUs are served", answer["summary"])

    def test_a_cuda_older_than_the_gpu_is_a_warning_while_its_ptx_may_serve(self):
        blackwell = 'device 0 "NVIDIA B200" cc 10.0 memory 17179869184\n'
        self.machine(devices=blackwell, driver="12.8", cuda="11.8")
        self.check(self.probe(), "warns", "kernel", status="warns", code="CE326",
                   words="CUDA 11.8,sm_100,newer than,PTX,209,cudaenv pin 12.8")
        with self.subTest("the first CUDA that knows it"):
            self.machine(devices=blackwell, driver="12.8", cuda="12.8")
            self.assertEqual(self.probe()["verdict"], "ok")

    def test_a_torch_without_code_for_the_gpu_fails_and_one_that_has_it_does_not(self):
        volta = 'device 0 "Tesla V100-SXM2-16GB" cc 7.0 memory 17179869184\n'
        for version, cuda, code in (("2.11.0+cu128", "12.8", "CE329"),
                                    ("2.11.0+cu126", "12.6", None)):
            with self.subTest(version):
                self.machine(devices=volta, driver="13.0", cuda=cuda)
                self.install_torch(version, cuda)
                answer = self.probe()
                step = self.step(answer, "kernel")
                self.assertEqual((step["code"], answer["verdict"]),
                                 (code, "fails" if code else "ok"), answer)
                if code:
                    self.assertIn(f"torch {version} has no code for sm_70", step["detail"])
                    self.assertIn("--gpu 7.0", step["fix"]["command"])

    def test_a_kernel_that_faults_is_the_gpus_or_the_drivers_fault(self):
        for error, code, words in ((700, "CE334", "compute-sanitizer"), (719, "CE390", "heat"),
                                   (715, "CE391", "damaged")):
            with self.subTest(error):
                self.machine(f"cuLaunchKernel fault {error}")
                self.check(self.probe(), "fails", "kernel", code=code, words=f"{error},{words}")

    def test_a_runtime_that_sees_another_driver_than_the_one_that_was_tried_is_told(self):
        # The first who asks is the probe itself.
        self.machine("cuDriverGetVersion garbage 13010 call 2")
        self.check(self.probe(), "warns", "runtime", status="warns", code="CE323",
                   words="13.1,13.0,libcuda")

    def test_a_gpu_on_which_somebody_works_is_spared_what_is_heavy_and_told_as_busy(self):
        uuid = " uuid " + "0123456789abcdef" * 2 + "\n"
        runtime = self.stand_in(devices=H200.strip() + uuid)
        self.search(self.environment["LD_LIBRARY_PATH"], Path(PROGRAMS["nvml"]).parent)
        for nvml, is_busy in (("two-gpus", False), ("occupied", True)):
            with self.subTest(nvml):
                self.environment["FAKE_NVML"] = nvml
                ladder = self.climb(runtime)
                self.assertEqual(ladder.rung("kernel")["result"], "ok")
                self.assertEqual(ladder.rung("gpu").get("message"),
                                 "busy: 2 processes compute on it" if is_busy else None)
                for step in ("cublas", "cudnn"):
                    self.assertEqual(ladder.rung(step)["message"].startswith("busy, 2 processes"),
                                     is_busy, ladder)
                self.assertFalse(ladder.rung("nvrtc")["message"].startswith("busy"), ladder)

    def test_an_instance_of_mig_is_climbed_and_named_as_one(self):
        devices = ('device 0 "NVIDIA A100-SXM4-40GB MIG 1g.5gb" cc 8.0 memory 5100273664 uuid '
                   + "0123456789abcdef" * 2 + "\n")
        gpu = self.climb(self.stand_in(devices=devices)).rung("gpu", 0)
        self.assertEqual((gpu["mig"], gpu["uuid"]),
                         (True, "MIG-01234567-89ab-cdef-0123-456789abcdef"))
        self.machine(devices=devices)
        answer = self.probe()
        self.check(answer, "ok", "gpu", status="ok", words="MIG 1g.5gb,a MIG instance", gpu=0)
        self.check(answer, "ok", "kernel", status="ok", gpu=0)

    def test_a_probe_whose_asker_is_gone_by_then_tries_nothing(self):
        self.stand_in()
        for parent, status in ((os.getpid(), 0), (1 << 22, 2)):
            with self.subTest(parent):
                ran = subprocess.run([PROGRAMS["probe"], "--ladder", json.dumps({"parent": parent})],
                                     capture_output=True, env=self.environment, timeout=WAIT)
                self.assertEqual(ran.returncode, status, ran.stderr)
                self.assertEqual(bool(ran.stdout), status == 0)

    def test_a_wrong_result_is_told_loudly(self):
        self.machine("cuLaunchKernel wrong")
        self.check(self.probe(), "fails", "kernel", code="CE336", words="WRONG RESULT,H200")

    def test_a_full_gpu_is_busy(self):
        self.machine("cuMemAlloc 2", H200.strip() + " free 3145728\n")
        self.check(self.probe(), "busy", "memory", code="CE317", words="nvidia-smi")

    def test_an_exclusive_gpu_that_somebody_holds_is_busy(self):
        self.machine("cuDevicePrimaryCtxRetain 46", H200.strip() + " mode 3\n")
        self.check(self.probe(), "busy", "memory", code="CE316", words="exclusive")

    def test_a_prohibited_gpu_is_busy_and_left_alone(self):
        self.machine(devices=H200.strip() + " mode 2\n")
        self.check(self.probe(), "busy", "gpu", code="CE316", words="prohibited",
                   gpu=0)
        self.assertNotIn("cuMemAlloc", self.calls())

    def test_of_two_gpus_the_one_that_fails_is_named(self):
        self.machine("cuModuleLoadDataEx 209 gpu 1", H200 + SECOND)
        answer = self.probe()
        self.check(answer, "fails", "kernel", code="CE328", gpu=1)
        self.assertEqual(self.step(answer, "kernel", 0)["status"], "ok")
        self.assertIn("gpu 1", answer["summary"])

    def test_of_two_gpus_one_that_is_full_is_a_warning(self):
        self.machine("cuMemAlloc 2 gpu 0", H200 + SECOND)
        answer = self.probe()
        self.check(answer, "warns", "memory", code="CE317", gpu=0)
        self.assertEqual(self.step(answer, "kernel", 1)["status"], "ok")

    def test_every_gpu_hidden_is_said_so(self):
        self.machine()
        self.environment["CUDA_VISIBLE_DEVICES"] = ""
        self.check(self.probe(), "no-gpu", "driver", code="CE308", words="CUDA_VISIBLE_DEVICES")
        with self.subTest("all of them on demand"):
            self.assertEqual(self.probe("--all-gpus")["verdict"], "ok")

    def test_mig_without_an_instance_is_known_from_nvml(self):
        # The stand-in NVML has two GPUs; the second is in MIG mode.
        self.machine("cuInit 100")
        self.search(self.root / "driver", Path(PROGRAMS["nvml"]).parent)
        self.environment["CUDA_VISIBLE_DEVICES"] = "1"
        self.check(self.probe(), "no-gpu", "driver", code="CE318", words="MIG is on")
        with self.subTest("a GPU without MIG would be shown"):
            del self.environment["CUDA_VISIBLE_DEVICES"]
            self.assertNotEqual(self.step(self.probe(), "driver")["code"], "CE318")

    def test_versions_that_are_none_are_a_driver_that_makes_no_sense(self):
        for said in ("garbage 0", "garbage -1", "garbage 2147483647", "unwritten"):
            with self.subTest(said):
                self.machine(f"cuDriverGetVersion {said}")
                answer = self.probe()
                step = self.step(answer, "driver")
                self.assertEqual((step["status"], step["code"], answer["verdict"]),
                                 ("fails", "CE315", "driver-broken"), answer)
                self.assertIsNone(answer["driver_cuda"])

    def test_a_number_of_gpus_that_cannot_be_is_never_ok(self):
        for said in ("garbage -1", "garbage 2147483647", "unwritten", "garbage 0"):
            with self.subTest(said):
                self.machine(f"cuDeviceGetCount {said}")
                answer = self.probe()
                self.assertIn(answer["verdict"], ("driver-broken", "no-gpu"), answer)
                self.assertTrue([step for step in answer["steps"] if step["code"]], answer)

    def test_a_gpu_without_a_name_is_a_gpu(self):
        for said in ("unwritten", "garbage 255"):
            with self.subTest(said):
                self.machine(f"cuDeviceGetName {said}")
                answer = self.probe()
                self.assertEqual(answer["verdict"], "ok", answer)
                self.assertIn("sm_90", self.step(answer, "gpu")["detail"])

    def test_the_text_for_people_names_the_code_and_the_fix(self):
        self.machine("cuInit 802")
        ran = subprocess.run([PROGRAMS["cudaenv"], "probe"], capture_output=True, text=True,
                             env=self.environment, cwd=self.root, timeout=WAIT)
        self.assertEqual(ran.returncode, 1)
        for word in ("CE313", "fabricmanager", "driver-broken"):
            self.assertIn(word, ran.stdout)


class Libraries(VerdictTest):
    def check_library(self, verdict, code, words=""):
        return self.check(self.probe(), verdict, "library", code=code, words=words)

    def without_a_driver(self):
        ran = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True)
        if "libcuda.so.1" in ran.stdout:
            self.skipTest("this machine's own driver would be found behind it")

    def test_no_library_is_no_driver(self):
        self.without_a_driver()
        self.scenario("")
        self.install_environment()
        self.check_library("no-driver", "CE301", "libcuda.so.1")
        with self.subTest("which may be allowed"):
            ran = subprocess.run(self.command("--allow-missing"), capture_output=True,
                                 env=self.environment, cwd=self.root, timeout=WAIT)
            self.assertEqual(ran.returncode, 0)

    def test_a_libcuda_that_may_not_be_read_is_not_told_as_absent(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to have a file of another user's; run as root")
        self.without_a_driver()
        self.machine()
        nobody = 65534
        for place, _, files in os.walk(self.root):
            os.chown(place, nobody, nobody)
            for file in files:
                os.chown(Path(place) / file, nobody, nobody, follow_symlinks=False)
        file = self.root / "driver/libcuda.so.1"
        os.chown(file, 0, 0)
        file.chmod(0o640)
        as_nobody = {"user": nobody, "group": nobody, "extra_groups": []}
        try:
            subprocess.run([PROGRAMS["cudaenv"], "--version"], check=True, capture_output=True,
                           env=self.environment, cwd="/", timeout=WAIT, **as_nobody)
        except (OSError, subprocess.CalledProcessError) as reason:
            self.skipTest(f"another user may not run the programs of this build: {reason}")
        answer = self.probe(**as_nobody)
        self.check(answer, "driver-broken", "library", code="CE302",
                   words=f"may not read libcuda.so.1,{file} is there,it is root's,mode 0640,"
                         f"chmod a+r {file}")

    def test_what_is_no_library_is_a_broken_driver(self):
        self.without_a_driver()
        self.scenario("")
        self.install_environment()
        for what in ("text", "empty", "directory", "nothing in it"):
            with self.subTest(what):
                file = self.root / what.replace(" ", "-") / "libcuda.so.1"
                file.parent.mkdir()
                if what == "directory":
                    file.mkdir()
                elif what == "nothing in it":
                    subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", file],
                                   input=b"int nothing;\n", check=True, timeout=WAIT)
                else:
                    file.write_text("no library\n" if what == "text" else "")
                self.search(file.parent)
                # It hides the driver: where it lies, and what takes it out.
                self.check_library("driver-broken", "CE302", "unset LD_LIBRARY_PATH"
                                   if what != "nothing in it" else "lacks a function")
        for what, link in (("dangling", "libcuda.so.1.1"), ("circle", "libcuda.so.1")):
            with self.subTest(what):
                file = self.root / what / "libcuda.so.1"
                file.parent.mkdir()
                file.symlink_to(link)
                self.search(file.parent)
                self.check_library("driver-broken", "CE302", f"{file},unset LD_LIBRARY_PATH")
                with self.subTest("which is not allowed to be missing"):
                    ran = subprocess.run(self.command("--allow-missing"), capture_output=True,
                                         env=self.environment, cwd=self.root, timeout=WAIT)
                    self.assertEqual(ran.returncode, 1)
        with self.subTest("cut short"):
            whole = self.install_driver()
            file = self.root / "short/libcuda.so.1"
            file.parent.mkdir()
            file.write_bytes((Path(whole) / "libcuda.so.1").read_bytes()[:8192])
            self.search(file.parent)
            self.check_library("driver-broken", "CE302",
                               f"{file} has 8192 bytes of at least,unset LD_LIBRARY_PATH")

    def test_a_library_that_dies_while_it_is_loaded_is_a_crash_at_the_library(self):
        self.scenario("")
        self.install_environment()
        file = self.root / "driver/libcuda.so.1"
        file.parent.mkdir()
        subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", file], check=True, timeout=WAIT,
                       input=b"#include <stdlib.h>\n"
                             b"__attribute__((constructor)) static void dies(void) { abort(); }\n")
        self.search(file.parent)
        self.check_library("crashed", "CE381", "SIGABRT")

    def test_a_stubs_directory_is_recognised_and_named(self):
        try:
            stubs = drivers.stubs()
        except drivers.Unavailable as reason:
            self.skipTest(str(reason))
        self.scenario("")
        self.install_environment()
        place = self.root / "cuda/lib64/stubs"
        place.mkdir(parents=True)
        for name in ("libcuda.so", "libcuda.so.1"):
            (place / name).symlink_to(stubs / "libcuda.so")
        self.search(place)
        answer = self.probe()
        self.assertIn(answer["verdict"], ("no-driver", "driver-broken"))
        self.check(answer, answer["verdict"], "driver", code="CE303", words=f"stub,{place}")
        self.assertIsNone(answer["driver_cuda"])  # never 0.0
        self.assertNotIn("0.0", json.dumps(answer["steps"][1]["detail"]))

    def test_real_drivers_without_a_gpu_are_no_gpu(self):
        if drivers.has_gpu():
            self.skipTest("this machine has a GPU; this is for one that has none")
        self.scenario("")
        self.makes_no_devices = True
        in_container = self.is_a_container()
        for branch in drivers.DRIVERS:
            with self.subTest(branch):
                try:
                    self.search(drivers.driver(branch))
                except drivers.Unavailable as reason:
                    self.skipTest(f"no libcuda {branch}: {reason}")
                self.install_environment("12.4")
                for named, code in ((None, "CE309" if in_container else "CE311"),
                                    ("podman", "CE309")):
                    self.environment.pop("container", None)
                    if named:
                        self.environment["container"] = named  # as systemd and podman have it
                    answer = self.probe()
                    self.assertEqual(answer["verdict"], "no-gpu", answer)
                    step = self.step(answer, "driver")
                    self.assertEqual((step["status"], step["code"]), ("fails", code), step)

    def is_a_container(self):
        """As `cudaenv host` tells it, which its own tests hold to be right."""
        ran = subprocess.run([PROGRAMS["cudaenv"], "host", "--json"], capture_output=True,
                             env=self.environment, cwd=self.root, timeout=WAIT, check=True)
        return bool(json.loads(ran.stdout)["platform"]["container"])


class Crashes(VerdictTest):
    PLACES = [("cuInit", "driver"), ("cuDeviceGetName", "gpu"), ("cudaGetDeviceCount", "runtime"),
              ("cuMemAlloc", "memory"), ("cuModuleLoadDataEx", "kernel"),
              ("cuLaunchKernel", "kernel")]

    def test_a_crash_is_told_with_its_step_and_signal(self):
        for function, name in self.PLACES:
            for action, signal_name in (("crash", "SIGSEGV"), ("abort", "SIGABRT")):
                with self.subTest(f"{function} {action}"):
                    self.machine(f"{function} {action}")
                    self.check(self.probe(), "crashed", name, code="CE381", words=signal_name)

    def test_the_last_words_before_a_crash_are_its_cause_in_text_and_json(self):
        words = "Could not load library libcuda_part.so.9. Error: " + "ä" * 60
        self.machine(f'cuLaunchKernel abort say "{words}"')
        step = self.check(self.probe(), "crashed", "kernel", code="CE381", words="SIGABRT")
        self.assertIn(f"its last words: {words}", step["cause"])
        ran = subprocess.run([PROGRAMS["cudaenv"], "probe"], capture_output=True, text=True,
                             env=self.environment, cwd=self.root, timeout=WAIT)
        self.assertIn("libcuda_part.so.9", " ".join(ran.stdout.split()))

    def test_what_is_said_of_a_secret_place_has_no_secret(self):
        self.machine('cuLaunchKernel exit say "no licence: https://me:pw4711@host.test/a?k=pw4711"')
        step = self.check(self.probe(), "crashed", "kernel", code="CE383")
        self.assertIn("https://***@host.test/a?***", step["cause"])
        self.assertNotIn("pw4711", json.dumps(step))

    def test_a_driver_that_ends_the_process_gave_no_whole_answer(self):
        for function, name in self.PLACES:
            with self.subTest(function):
                self.machine(f"{function} exit")
                self.check(self.probe(), "crashed", name, code="CE383")


class Hangs(VerdictTest):
    def start(self, function, *words, **more):
        """A probe that hangs in that function; returns once it does."""
        self.machine(f'{function} hang say "nothing"')
        child = subprocess.Popen(self.command(*words), stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, env=self.environment, cwd=self.root,
                                 start_new_session=True, **more)
        self.wait_until(lambda: "hangs" in self.calls() or child.poll() is not None)
        self.assertIsNone(child.poll(), "it ended instead of hanging")
        return child

    def wait_until(self, holds, seconds=WAIT):
        """For what the system has no event for that a test could wait on."""
        until = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), until, "it does not happen")
            time.sleep(0.02)

    def parent_of(self, process):
        with open(f"/proc/{process}/stat", encoding="ascii") as stat:
            return int(stat.read().rpartition(")")[2].split()[1])

    def check_timeout(self, child, name):
        begun = time.monotonic()
        out, err = child.communicate(timeout=QUICK_DEADLINE + WAIT)
        self.assertLess(time.monotonic() - begun, QUICK_DEADLINE + 10)
        answer = json.loads(out)
        step = self.check(answer, "timeout", name, code="CE380")
        self.assertTrue(step["cause"].endswith("its last words: nothing"), step)
        self.assertEqual(child.returncode, 1, err)
        self.assertEqual(self.left_behind(), [])

    def test_a_driver_that_never_returns_from_cuinit_is_given_up_in_time(self):
        self.check_timeout(self.start("cuInit"), "driver")

    def test_a_kernel_that_never_ends_is_given_up_in_time(self):
        self.check_timeout(self.start("cuCtxSynchronize"), "kernel")

    def test_when_the_terminal_is_interrupted_nothing_stays(self):
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGKILL):
            with self.subTest(signal.Signals(number).name):
                self.log.unlink(missing_ok=True)
                child = self.start("cuInit")
                os.killpg(child.pid, number)  # as a terminal does: all of the foreground
                child.communicate(timeout=WAIT)
                self.wait_until(lambda: not self.left_behind(), seconds=10)

    def test_a_daemon_whose_probe_hangs_answers_everybody_else_and_takes_it_along(self):
        del self.environment["CUDAENV_NO_DAEMON"]
        daemon = subprocess.Popen([PROGRAMS["cudaenvd"], "--daemon"], env=self.environment,
                                  stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        self.wait_until(lambda: (self.root / "run/cudaenv/daemon.socket").exists())
        child = self.start("cuInit")
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        begun = time.monotonic()
        for _ in range(3):
            said = subprocess.run([PROGRAMS["cudaenv"], "status", "--json"], capture_output=True,
                                  env=self.environment, cwd=self.root, timeout=WAIT)
            self.assertEqual(said.returncode, 0, said.stderr)
        self.assertLess(time.monotonic() - begun, 10)
        self.assertIsNone(child.poll(), "the probe hangs still")
        self.assertEqual(self.parents_of_probes(daemon, child), [daemon.pid])
        # Nobody waits for it any more.
        child.kill()
        child.wait()
        self.wait_until(lambda: self.left_behind() == [daemon.pid])
        self.log.unlink()
        child = self.start("cuInit")
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        child.send_signal(signal.SIGSTOP)  # it would ask a daemon of its own
        self.assertEqual(self.parents_of_probes(daemon, child), [daemon.pid])
        daemon.kill()
        daemon.wait()
        self.wait_until(lambda: self.left_behind() == [child.pid])

    def parents_of_probes(self, *others):
        pids = [other.pid for other in others]
        return [self.parent_of(process) for process in self.left_behind() if process not in pids]


if __name__ == "__main__":
    run_tests()
