#!/usr/bin/env python3
"""The rungs of cuBLAS, cuDNN and NCCL over stand-ins that multiply, convolve and sum for real: right
answers, wrong ones, refusals, deaths, and what the rungs leave behind."""

import signal

from support import H200, SECOND, ProbeTest, run_tests

THIRD = 'device 2 "NVIDIA H200" cc 9.0 memory 150754820096\n'


class LibraryTest(ProbeTest):
    """`step` is the rung and the library's name."""

    step, number = "", 0

    def climb_with(self, text="", devices=H200):
        runtime = self.stand_in(text, devices)
        self.log.unlink(missing_ok=True)
        self.file = self.install_library(self.step, self.number)
        return self.climb(runtime, **{self.step: [self.file]})

    def rung(self, text="", devices=H200, gpu=None):
        ladder = self.climb_with(text, devices)
        self.assertEqual(ladder.status, 0, ladder)
        self.assertTrue(ladder.finished, ladder)
        # What was taken is given back, whatever happened.
        self.assertEqual([call for call in self.calls() if call.startswith("held ")][-1],
                         "held 0 bytes")
        rung = ladder.rung(self.step, gpu)
        self.assertEqual(rung["path"], str(self.file))
        return rung

    def check_ok(self, rung, version, *checks):
        self.assertEqual((rung["result"], rung["version"], rung["checks"]),
                         ("ok", version, list(checks)), rung)

    def check_wrong(self, rung, *words):
        self.assertEqual(rung["result"], "wrong", rung)
        self.assertNotIn("error", rung)
        for word in (*words, " is ", "should be"):
            self.assertIn(word, rung["message"])

    def check_failed(self, rung, call, error, name):
        self.assertEqual((rung["result"], rung["call"], rung["error"], rung["error_name"]),
                         ("failed", call, error, name), rung)

    def check_death(self, text, number, devices=H200, gpu=0):
        ladder = self.climb_with(text, devices)
        self.assertEqual(ladder.status, -number)
        self.assertEqual(ladder.open, [(self.step, gpu)])

    def balance(self, made, dropped):
        self.assertIn(made, self.calls())
        self.assertEqual(self.calls().count(made), self.calls().count(dropped))


class Cublas(LibraryTest):
    step, number = "cublas", 13

    def test_a_product_that_is_right_is_ok_in_both_precisions(self):
        self.check_ok(self.rung(), "13.1.0", "sgemm", "gemm-fp16")
        self.balance("cublasCreate", "cublasDestroy")

    def test_one_wrong_element_of_either_product_is_wrong(self):
        self.check_wrong(self.rung("cublasSgemm wrong"), "SGEMM")
        rung = self.rung("cublasGemmEx wrong")
        self.check_wrong(rung, "GEMM of FP16")
        self.assertEqual(rung["checks"], ["sgemm"])

    def test_a_product_that_was_never_written_is_wrong(self):
        self.check_wrong(self.rung("cublasSgemm unwritten"), "SGEMM: element 0 is -1")
        self.check_wrong(self.rung("cublasGemmEx unwritten"), "GEMM of FP16: element 0 is -1")

    def test_a_gpu_before_tensor_cores_is_not_asked_for_halves(self):
        rung = self.rung("cublasGemmEx wrong", 'device 0 "P100" cc 6.0 memory 8589934592\n')
        self.check_ok(rung, "13.1.0", "sgemm")

    def test_a_cublas_before_11_is_asked_as_it_knows_it(self):
        self.number = 10
        self.check_ok(self.rung("cublasGetVersion garbage 100203"), "10.2.3", "sgemm", "gemm-fp16")

    def test_what_it_refuses_has_its_name(self):
        for function, status, name in (("cublasCreate", 1, "CUBLAS_STATUS_NOT_INITIALIZED"),
                                       ("cublasCreate", 3, "CUBLAS_STATUS_ALLOC_FAILED"),
                                       ("cublasSgemm", 8, "CUBLAS_STATUS_ARCH_MISMATCH"),
                                       ("cublasSgemm", 13, "CUBLAS_STATUS_EXECUTION_FAILED"),
                                       ("cublasGemmEx", 15, "CUBLAS_STATUS_NOT_SUPPORTED")):
            with self.subTest(name):
                self.check_failed(self.rung(f"{function} {status}"), function, status, name)
                if function != "cublasCreate":
                    self.balance("cublasCreate", "cublasDestroy")

    def test_one_that_dies_leaves_its_rung_open(self):
        self.check_death("cublasCreate crash", signal.SIGSEGV)
        self.check_death("cublasSgemm abort", signal.SIGABRT)

    def test_each_gpu_has_its_own_answer(self):
        ladder = self.climb_with("cublasSgemm wrong gpu 1", H200 + SECOND)
        self.check_ok(ladder.rung("cublas", 0), "13.1.0", "sgemm", "gemm-fp16")
        self.check_wrong(ladder.rung("cublas", 1), "SGEMM")


class Cudnn(LibraryTest):
    step, number = "cudnn", 9

    def test_a_convolution_that_is_right_is_ok_with_the_cuda_it_was_built_for(self):
        rung = self.rung()
        self.check_ok(rung, "9.19.0", "convolution")
        self.assertEqual(rung["cuda"], "13.0")
        for what in ("", "TensorDescriptor", "FilterDescriptor", "ConvolutionDescriptor"):
            self.balance(f"cudnnCreate{what}", f"cudnnDestroy{what}")

    def test_one_wrong_pixel_is_wrong(self):
        self.check_wrong(self.rung("cudnnConvolutionForward wrong"), "convolution")
        self.check_wrong(self.rung("cudnnConvolutionForward unwritten"), "element 0 is -1")

    def test_an_older_one_for_another_cuda_tells_both_numbers(self):
        self.number = 8
        rung = self.rung("cudnnGetVersion garbage 8907\ncudnnGetCudartVersion garbage 12020")
        self.check_ok(rung, "8.9.7", "convolution")
        self.assertEqual(rung["cuda"], "12.2")

    def test_where_an_algorithm_is_not_supported_the_other_is_tried(self):
        for status in (9, 3000, 3004):
            with self.subTest(status):
                self.check_ok(self.rung(f"cudnnConvolutionForward {status}"), "9.19.0",
                              "convolution")
                self.assertIn("cudnnConvolutionForwardWithWorkspace", self.calls())
                self.check_wrong(self.rung(f"cudnnConvolutionForward {status}\n"
                                           "cudnnConvolutionForwardWithWorkspace wrong"))

    def test_no_other_algorithm_is_tried_where_none_can_help(self):
        rung = self.rung("cudnnConvolutionForward 3005")
        self.check_failed(rung, "cudnnConvolutionForward", 3005,
                          "CUDNN_STATUS_NOT_SUPPORTED_INCOMPATIBLE_CUDA_DRIVER")
        self.assertNotIn("cudnnConvolutionForwardWithWorkspace", self.calls())

    def test_a_workspace_out_of_all_proportion_is_not_allocated(self):
        rung = self.rung("cudnnGetConvolutionForwardWorkspaceSize garbage 2000000000")
        self.assertEqual((rung["result"], rung["error"]), ("failed", 9), rung)
        self.assertIn("2000000000 bytes", rung["message"])

    def test_what_it_refuses_has_its_name(self):
        for status, name in ((1001, "CUDNN_STATUS_NOT_INITIALIZED"),
                             (1, "CUDNN_STATUS_NOT_INITIALIZED"),
                             (1002, "CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH"),
                             (1008, "CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED")):
            with self.subTest(status):
                rung = self.rung(f"cudnnCreate {status}")
                self.check_failed(rung, "cudnnCreate", status, name)
                self.assertEqual("libcudnn_engines_precompiled.so.9" in rung.get("message", ""),
                                 status == 1008)
                self.assertEqual((rung["version"], rung["cuda"]), ("9.19.0", "13.0"))

    def test_one_that_dies_leaves_its_rung_open(self):
        self.check_death("cudnnCreate abort", signal.SIGABRT)
        self.check_death("cudnnConvolutionForward crash", signal.SIGSEGV)


class Nccl(LibraryTest):
    step, number = "nccl", 2
    GPUS = H200 + SECOND + THIRD

    def test_a_sum_over_the_gpus_is_compared_on_each(self):
        rung = self.rung(devices=self.GPUS)
        self.check_ok(rung, "2.27.7", "all-reduce")
        self.assertEqual(rung["devices"], 3)
        self.assertEqual(self.calls().count("ncclCommDestroy"), 3)
        self.assertNotIn("ncclCommAbort", self.calls())

    def test_one_wrong_element_on_one_gpu_is_wrong_and_names_it(self):
        for gpu in range(3):
            with self.subTest(gpu):
                rung = self.rung(f"ncclAllReduce wrong gpu {gpu}", self.GPUS)
                self.check_wrong(rung, f"on GPU {gpu}")
                rung = self.rung(f"ncclAllReduce unwritten gpu {gpu}", self.GPUS)
                self.check_wrong(rung, f"on GPU {gpu}: element 0 is -1")

    def test_one_gpu_has_nothing_to_exchange(self):
        rung = self.climb_with().rung("nccl")
        self.assertEqual((rung["result"], rung["message"]),
                         ("skipped", "one GPU: nothing to exchange"))
        self.assertNotIn("ncclCommInitAll", self.calls())

    def test_what_it_refuses_has_its_name_and_its_words(self):
        for function, result, name in (("ncclCommInitAll", 1, "ncclUnhandledCudaError"),
                                       ("ncclCommInitAll", 2, "ncclSystemError"),
                                       ("ncclGroupStart", 3, "ncclInternalError"),
                                       ("ncclAllReduce", 5, "ncclInvalidUsage"),
                                       ("ncclGroupEnd", 6, "ncclRemoteError")):
            with self.subTest(function):
                rung = self.rung(f"{function} {result}\nncclGetLastError 1", self.GPUS)
                self.check_failed(rung, function, result, name)
                self.assertIn("the last of its words", rung["message"])
                # To destroy would be to wait for what never ends.
                self.assertNotIn("ncclCommDestroy", self.calls())
                self.assertEqual(self.calls().count("ncclCommAbort"),
                                 0 if function == "ncclCommInitAll" else 3)

    def test_one_that_dies_leaves_its_rung_open(self):
        self.check_death("ncclCommInitAll crash", signal.SIGSEGV, self.GPUS, None)



if __name__ == "__main__":
    run_tests()
