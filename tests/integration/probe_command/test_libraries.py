#!/usr/bin/env python3
"""`cudaenv probe --full` in a venv that brings cuBLAS, cuDNN and NCCL along: what their rungs say
reaches the verdict, with its code, its cause and what to do."""

import json

from test_probe_command import CommandTest
from support import H200, SECOND, run_tests

INSTANCE = ('device 0 "NVIDIA H200 MIG 1g.18gb" cc 9.0 memory 18253611008 '
            'uuid 6c1d2b4e9f0a47c58e3d1a2b3c4d5e6f\n')


class VerdictTest(CommandTest):
    def full(self, text="", devices=H200):
        self.machine(text, devices)
        nvidia = "lib/python3.11/site-packages/nvidia"
        place = self.prefix.relative_to(self.root) / nvidia
        self.install_library("cublas", 13, place / "cu13/lib")
        self.install_library("cudnn", 9, place / "cudnn/lib")
        self.install_library("nccl", 2, place / "nccl/lib")
        return self.probe("--full")

    def check(self, text, name, code, *words, devices=H200, verdict="fails", status="fails"):
        gpu = None if name == "nccl" else 0
        probe, ended = self.full(text, devices)
        step = self.step(probe, name, gpu)
        self.assertEqual((step["status"], step["code"]), (status, code), json.dumps(step, indent=1))
        self.assertEqual((probe["verdict"], ended), (verdict, 0 if verdict == "warns" else 1))
        shown = " ".join([step["detail"], step["cause"], json.dumps(step["fix"])])
        for word in words:
            self.assertIn(word, shown)


class LibraryVerdicts(VerdictTest):
    def test_libraries_that_compute_right_are_ok_with_their_versions(self):
        probe, status = self.full(devices=H200 + SECOND)
        self.assertEqual((probe["verdict"], status), ("ok", 0), probe)
        for name, gpu, version in (("cublas", 0, "13.1.0"), ("cublas", 1, "13.1.0"),
                                   ("cudnn", 0, "9.19.0"), ("nccl", None, "2.27.7")):
            step = self.step(probe, name, gpu)
            self.assertEqual(step["status"], "ok", step)
            self.assertIn(version, step["detail"])

    def test_a_wrong_product_convolution_and_sum_are_reported_loudly(self):
        for text, name, what in (("cublasSgemm wrong", "cublas", "SGEMM"),
                                 ("cublasGemmEx wrong", "cublas", "GEMM of FP16"),
                                 ("cudnnConvolutionForward wrong", "cudnn", "convolution"),
                                 ("ncclAllReduce wrong gpu 1", "nccl", "all-reduce, on GPU 1")):
            with self.subTest(text):
                self.check(text, name, "CE336", "WRONG RESULT", what, devices=H200 + SECOND)

    def test_a_cublas_that_does_not_start(self):
        self.check("cublasCreate 1", "cublas", "CE351", "CUBLAS_STATUS_NOT_INITIALIZED",
                   "two CUDA versions", "nvidia-smi")

    def test_a_cublas_without_code_for_the_gpu(self):
        self.check("cublasSgemm 8", "cublas", "CE352", "CUBLAS_STATUS_ARCH_MISMATCH", "H200")

    def test_a_cudnn_that_does_not_start(self):
        self.check("cudnnCreate 1001", "cudnn", "CE353", "CUDNN_STATUS_NOT_INITIALIZED",
                   "only one nvidia-cudnn")

    def test_a_cudnn_that_does_not_start_names_the_cuda_it_was_built_for(self):
        self.check("cudnnCreate 1001\ncudnnGetCudartVersion garbage 12080\n", "cudnn", "CE353",
                   "built for CUDA 12.8, the runtime is CUDA 13.0")

    def test_a_cudnn_for_another_cuda_that_works_all_the_same_is_a_warning(self):
        self.check("cudnnGetCudartVersion garbage 12080\n", "cudnn", "CE355",
                   "cuDNN 9.19.0 was built for CUDA 12.8, the runtime is CUDA 13.0",
                   "nvidia-cudnn-cu13", verdict="warns", status="warns")

    def test_parts_of_two_cudnns(self):
        for status, name in ((1002, "VERSION_MISMATCH"), (1008, "LOADING_FAILED")):
            with self.subTest(name):
                self.check(f"cudnnCreate {status}", "cudnn", "CE354",
                           f"CUDNN_STATUS_SUBLIBRARY_{name}", "come from two installations")

    def test_a_cudnn_that_ends_the_process_for_a_part_it_does_not_get(self):
        self.check('cudnnCreate abort say "Unable to load any of {libcudnn_ops.so.9.1.0, '
                   'libcudnn_ops.so.9}"', "cudnn", "CE381", "libcudnn_ops.so.9.1.0",
                   "--force-reinstall", verdict="crashed")

    def test_gpus_that_do_not_reach_each_other(self):
        self.check("ncclCommInitAll 2\nncclGetLastError 1", "nccl", "CE357", "ncclSystemError",
                   "NCCL_P2P_DISABLE=1", devices=H200 + SECOND)

    def test_a_library_that_crashes_is_named(self):
        self.check("cublasCreate crash", "cublas", "CE381", "SIGSEGV", verdict="crashed")


class Instances(VerdictTest):
    """A MIG instance: its name, its own UUID, and that it is one, through ladder and verdict."""

    def test_it_is_named_with_its_own_uuid_in_every_answer(self):
        self.machine(devices=INSTANCE)
        probe, status = self.probe()
        self.assertEqual((probe["verdict"], status), ("ok", 0), probe)
        detail = self.step(probe, "gpu", 0)["detail"]
        self.assertIn("NVIDIA H200 MIG 1g.18gb", detail)
        self.assertIn("a MIG instance", detail)
        self.assertIn("MIG 1g.18gb", self.cudaenv("probe").stdout)
        ladder = self.climb(self.install_runtime())
        gpu = ladder.rung("gpu", 0)
        self.assertEqual((gpu["mig"], gpu["uuid"]),
                         (True, "MIG-6c1d2b4e-9f0a-47c5-8e3d-1a2b3c4d5e6f"))

    def test_a_whole_gpu_is_none(self):
        self.machine()
        self.assertNotIn("MIG", json.dumps(self.probe()[0]))

    def test_what_breaks_on_it_names_the_instance(self):
        self.machine("cuLaunchKernel wrong", INSTANCE)
        probe, _ = self.probe()
        step = self.step(probe, "kernel", 0)
        self.assertEqual(step["code"], "CE336")
        self.assertIn("MIG 1g.18gb", step["detail"] + step["cause"])

    def test_the_machines_facts_have_it_as_one(self):
        self.machine(devices=INSTANCE)
        [gpu] = json.loads(self.cudaenv("host", "--probe", "--json").stdout)["gpus"]
        self.assertEqual((gpu["name"], gpu["mig"]), ("NVIDIA H200 MIG 1g.18gb", True))


if __name__ == "__main__":
    run_tests()
