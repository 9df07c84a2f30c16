#!/usr/bin/env python3
"""`cudaenv probe` over drivers that work, refuse and lie: each has its own code, cause, fix and
verdict."""

import json
import os
import subprocess
from pathlib import Path

import drivers
from support import H200, PROGRAMS, SECOND, WAIT, run_tests
from verdict_support import VerdictTest


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
            self.assertIn("CUDA works on 1 of 2 GPUs", answer["summary"])

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

    def test_a_runtime_that_sees_another_driver_than_the_one_that_was_tried_is_reported(self):
        # The first who asks is the probe itself.
        self.machine("cuDriverGetVersion garbage 13010 call 2")
        self.check(self.probe(), "warns", "runtime", status="warns", code="CE323",
                   words="13.1,13.0,libcuda")

    def test_a_gpu_on_which_somebody_works_is_spared_what_is_heavy_and_reported_as_busy(self):
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

    def test_a_wrong_result_is_reported_loudly(self):
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


if __name__ == "__main__":
    run_tests()
