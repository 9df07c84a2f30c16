#!/usr/bin/env python3
"""Which files the ladder's libraries come from: what the loader takes, what it refuses, what it
passes over, and what would not outlive being opened."""

import os
import signal
import subprocess
from pathlib import Path

from support import H200, PROGRAMS, WAIT, ProbeTest, run_tests


class Libraries(ProbeTest):
    """What may lie where the driver's library is looked for."""

    def check_not_loaded(self, ladder):
        rung = ladder.rung("library")
        self.assertEqual(rung["result"], "failed", ladder)
        self.assertTrue(rung["message"])
        self.assertTrue(ladder.finished)
        self.assertEqual([line["step"] for line in ladder.ends if line["result"] == "ok"], [])
        return rung["message"]

    def test_without_a_library_the_loaders_words_are_reported(self):
        self.scenario("")
        ladder = self.climb(self.install_runtime())
        if ladder.rung("library")["result"] == "ok":
            self.skipTest("this machine has a driver's library")
        self.assertIn("libcuda.so.1", self.check_not_loaded(ladder))

    def machine_without_a_driver(self):
        ran = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True)
        if "libcuda.so.1" in ran.stdout:
            self.skipTest("this machine's own driver would be found behind it")

    def test_a_text_file_is_no_library(self):
        self.machine_without_a_driver()
        place = self.root / "bad"
        place.mkdir()
        (place / "libcuda.so.1").write_text("this is no library\n")
        self.search(place)
        self.scenario("")
        self.assertIn("libcuda.so.1", self.check_not_loaded(self.climb(self.install_runtime())))

    def test_a_directory_is_no_library(self):
        self.machine_without_a_driver()
        (self.root / "bad/libcuda.so.1").mkdir(parents=True)
        self.search(self.root / "bad")
        self.scenario("")
        self.check_not_loaded(self.climb(self.install_runtime()))

    def test_a_library_that_lacks_every_function_is_reported(self):
        place = self.root / "bad"
        place.mkdir()
        subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", place / "libcuda.so.1"],
                       input=b"int nothing;\n", check=True, timeout=WAIT)
        self.search(place)
        self.scenario("")
        ladder = self.climb(self.install_runtime())
        self.assertTrue(ladder.finished)
        first = [line for line in ladder.ends if line["result"] == "failed"][0]
        self.assertIn(first["step"], ("library", "driver"))
        self.assertTrue(first["message"])

    def test_a_library_that_dies_while_it_is_loaded_leaves_the_library_open(self):
        place = self.root / "bad"
        place.mkdir()
        subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", place / "libcuda.so.1"],
                       input=b"#include <stdlib.h>\n"
                             b"__attribute__((constructor)) static void dies(void) { abort(); }\n",
                       check=True, timeout=WAIT)
        self.search(place)
        self.scenario("")
        ladder = self.climb(self.install_runtime())
        self.assertEqual(ladder.status, -signal.SIGABRT)
        self.assertEqual(ladder.open, [("library", None)])
        self.assertEqual(ladder.opened["path"], str(place / "libcuda.so.1"))

    def test_a_library_that_only_its_linker_name_finds_is_reported_as_that(self):
        self.machine_without_a_driver()
        self.scenario("")
        place = self.install_driver()
        (place / "libcuda.so.1").rename(place / "libcuda.so")
        self.search(place)
        ladder = self.climb(self.install_runtime())
        self.assertEqual(ladder.rung("library")["found_by"], "linker-name", ladder)
        # The runtime has it from the probe, by its soname.
        self.assertEqual(ladder.rung("runtime")["result"], "ok", ladder)
        self.assertIn("loader", ladder.rung("runtime")["message"])

    def test_links_to_the_library_are_followed_and_its_version_is_in_its_name(self):
        self.scenario("cuInit 803")
        compat = self.install_driver("575.57.08", at="cuda/compat")
        self.search(compat, self.install_driver())
        ladder = self.climb(self.install_runtime())
        self.assertEqual(ladder.rung("library")["path"], str(compat / "libcuda.so.575.57.08"))
        self.assertEqual(ladder.rung("driver")["error"], 803)

    def refused(self, file, reason=None):
        """The message of a driver's library that the loader refuses and names, or the reason names."""
        self.scenario("")
        rung = self.climb(self.install_runtime()).rung("library")
        self.assertEqual((rung["result"], rung["call"], rung["path"]),
                         ("failed", "dlopen", str(file)), rung)
        if reason:
            self.assertEqual((rung["reason"], rung["broken"]), (reason, str(file)), rung)
        else:
            self.assertIn(str(file), rung["message"])
        self.assertNotIn("found_by", rung)
        return rung["message"]

    def bad_place(self):
        (self.root / "bad").mkdir()
        self.search(self.root / "bad", self.install_driver())
        return self.root / "bad/libcuda.so.1"

    def test_a_file_that_ends_the_search_is_named_though_a_good_one_lies_behind(self):
        file = self.bad_place()
        for content, words in ((b"", "file too short"),
                               (b"no library\n" * 99, "invalid ELF header")):
            with self.subTest(words):
                file.write_bytes(content)
                self.assertIn(words, self.refused(file))
        with self.subTest("a directory"):
            file.unlink()
            file.mkdir()
            self.assertIn("Is a directory", self.refused(file))

    def test_a_link_to_nothing_is_passed_over_and_named(self):
        file = self.bad_place()
        file.symlink_to("/nowhere/libcuda.so.580.159.04")
        self.scenario("")
        rung = self.climb(self.install_runtime()).rung("library")
        self.assertEqual((rung["result"], rung["path"]),
                         ("ok", str(self.root / "driver/libcuda.so.580.159.04")))
        self.assertIn(f"{file} leads to nothing", rung["message"])

    def test_a_link_to_nothing_and_no_library_behind_it_is_no_missing_driver(self):
        self.machine_without_a_driver()
        file = self.bad_place()
        file.symlink_to("/nowhere/libcuda.so.580.159.04")
        self.search(file.parent)
        message = self.refused(file)
        self.assertIn("leads to nothing", message)
        self.assertIn("/nowhere/libcuda.so.580.159.04", message)
        self.assertNotIn("No such file", message)

    def test_a_link_that_goes_round_in_a_circle_is_named(self):
        self.machine_without_a_driver()
        file = self.bad_place()
        file.symlink_to("libcuda.so.1")
        self.search(file.parent)
        self.assertIn("leads to nothing", self.refused(file))

    def test_a_library_that_is_cut_short_is_reported_and_not_opened(self):
        file = self.bad_place()
        whole = (PROGRAMS["standin"] / "libcuda.so.1").read_bytes()
        file.write_bytes(whole[:len(whole) // 2])
        message = self.refused(file, "cut-short")
        self.assertRegex(message, f"^has {len(whole) // 2} bytes of at least [0-9]+$")

    def test_a_library_that_needs_one_that_is_not_there_is_the_one_that_is_named(self):
        file = self.bad_place()
        self.build(file, "libhelps.so", [])
        self.build(file, file.name, ["-L.", "-lhelps"])
        (file.parent / "libhelps.so").unlink()
        self.scenario("")
        rung = self.climb(self.install_runtime()).rung("library")
        self.assertEqual((rung["result"], rung["path"]), ("failed", str(file)), rung)
        self.assertIn("libhelps.so", rung["message"])

    def build(self, beside, name, options):
        subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", name, "-Wl,--no-as-needed",
                        *options], cwd=beside.parent, input=b"int nothing[20000] = {1};\n", check=True,
                       timeout=WAIT)

    def test_each_library_that_is_cut_short_is_reported_and_not_opened(self):
        self.stand_in()
        place = self.root / "libraries"
        place.mkdir()
        for step, number in (("cudart", 13), ("cublas", 13)):
            with self.subTest(step):
                file = place / f"lib{step}.so.{number}"
                self.build(file, file.name, [])
                whole = file.stat().st_size
                with open(file, "r+b") as opened:
                    opened.truncate(whole // 2)
                if step == "cudart":
                    ladder = self.climb(file)
                    rung = ladder.rung("runtime")
                else:
                    ladder = self.climb(self.install_runtime(), cublas=[file])
                    rung = ladder.rung(step)
                self.assertTrue(ladder.finished)
                self.assertEqual((rung["result"], rung["call"], rung["path"]),
                                 ("failed", "dlopen", str(file)), rung)
                self.assertEqual((rung["reason"], rung["broken"]), ("cut-short", str(file)), rung)
                self.assertIn(f"has {whole // 2} bytes", rung["message"])

    def test_one_that_is_cut_short_and_needed_kills_and_is_named_beside_who_needs_it(self):
        runtime = self.stand_in()
        file = self.root / "libraries/libcublas.so.13"
        file.parent.mkdir()
        self.build(file, "libcublasLt.so.13", [])
        self.build(file, file.name, ["-L.", "-l:libcublasLt.so.13", "-Wl,-rpath,$ORIGIN"])
        needed = file.parent / "libcublasLt.so.13"
        with open(needed, "r+b") as opened:
            opened.truncate(needed.stat().st_size // 2)
        self.environment["ASAN_OPTIONS"] = "handle_sigbus=0"  # a sanitizer would exit instead
        ladder = self.climb(runtime, cublas=[file])
        self.assertEqual((ladder.status, ladder.open), (-signal.SIGBUS, [("cublas", 0)]), ladder)
        self.assertEqual(ladder.opened["path"], str(file))
        self.assertEqual((ladder.opened["reason"], ladder.opened["broken"]), ("cut-short", str(needed)))


class Loaded(ProbeTest):
    """What of CUDA's was mapped when the ladder was at its end."""

    def test_what_was_loaded_is_reported_by_real_paths_and_of_cuda_only(self):
        uuid = "6c1d2b4e9f0a47c58e3d1a2b3c4d5e6f"
        runtime = self.stand_in(devices=f"{H200.strip()} uuid {uuid}\n")
        real = self.root / "elsewhere"
        real.mkdir()
        runtime.rename(real / "libcudart.so.13.0.96")
        runtime.symlink_to(real / "libcudart.so.13.0.96")
        nvml = Path(PROGRAMS["nvml"]).resolve()
        self.search(self.environment["LD_LIBRARY_PATH"], nvml.parent)
        self.environment["FAKE_NVML"] = "two-gpus"
        for depth in ("quick", "full"):
            with self.subTest(depth):
                loaded = self.climb(runtime, depth=depth).loaded
                self.assertEqual(loaded, sorted(loaded))
                # NVML is closed again on the way.
                self.assertEqual(set(loaded) - {str(nvml)},
                                 {str(self.root / "driver/libcuda.so.580.159.04"),
                                  str(real / "libcudart.so.13.0.96")})
                self.assertIn(str(nvml), loaded)

    def test_names_that_are_no_utf8_are_asked_for_and_reported_by_their_bytes(self):
        place = os.fsencode(self.root) + b"/caf\xe9"
        self.scenario("")
        self.install_driver(at=os.fsdecode(place))
        runtime = self.install_runtime(at=os.fsdecode(place))
        self.search(os.fsdecode(place))
        ladder = self.climb({"hex": os.fsencode(runtime).hex()})
        self.assertEqual(ladder.rung("runtime")["path"], {"hex": os.fsencode(runtime).hex()})
        self.assertEqual(ladder.loaded, sorted([{"hex": (place + name).hex()} for name in (
            b"/libcuda.so.580.159.04", b"/libcudart.so.13")], key=str))
        self.assertEqual(ladder.rung("kernel", 0)["result"], "ok")

    def test_what_a_library_needs_beside_itself_is_reported_as_loaded(self):
        runtime = self.stand_in()
        place = self.root / "libraries"
        place.mkdir()
        for name, needs in (("libhelps.so", []), ("libcublas.so.13", ["-L.", "-lhelps"])):
            subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", name, "-Wl,--no-as-needed",
                            *needs, "-Wl,-rpath," + str(place)], cwd=place,
                           input=b"int nothing;\n", check=True, timeout=WAIT)
        loaded = self.climb(runtime, cublas=[place / "libcublas.so.13"]).loaded
        self.assertIn(str(place / "libcublas.so.13"), loaded)
        self.assertIn(str(place / "libhelps.so"), loaded)

    def test_a_part_that_comes_from_another_directory_is_reported_by_the_file_that_was_mapped(self):
        runtime = self.stand_in("cudnnGetVersion garbage 91400\n")
        # cuDNN 9: libcudnn.so.9 has no code of its own and finds its parts by DT_RUNPATH.
        part = self.install_library("cudnn", 9, at="wheel").rename(self.root / "wheel/libcudnn_graph.so.9")
        subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", "libcudnn.so.9", "-Wl,--no-as-needed",
                        "-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN", "-L.", "-l:libcudnn_graph.so.9"],
                       cwd=part.parent, input=b"int nothing;\n", check=True, timeout=WAIT)
        whole = part.parent / "libcudnn.so.9"
        rung = self.climb(runtime, cudnn=[whole]).rung("cudnn", 0)
        self.assertEqual((rung["result"], rung["path"]), ("ok", str(whole)), rung)
        self.assertNotIn("part", rung)
        system = self.install_library("cudnn", 9, at="system").rename(
            self.root / "system/libcudnn_graph.so.9")
        self.search(self.environment["LD_LIBRARY_PATH"], system.parent)
        rung = self.climb(runtime, cudnn=[whole]).rung("cudnn", 0)
        self.assertEqual((rung["version"], rung["path"], rung["part"]),
                         ("9.14.0", str(whole), str(system)), rung)

    def test_a_preloaded_library_takes_the_place_of_the_environments_as_in_python(self):
        runtime = self.stand_in()
        wanted = self.install_library("cudnn", 9)
        code = self.install_library("cudnn", 9, at="preloaded").rename(self.root / "preloaded/libcode.so")
        subprocess.run(["cc", "-shared", "-x", "c", "-", "-o", "libcudnn.so.9", "-Wl,--no-as-needed",
                        "-Wl,-soname,libcudnn.so.9", "-Wl,-rpath,$ORIGIN", "-L.", "-l:libcode.so"],
                       cwd=code.parent, input=b"int nothing;\n", check=True, timeout=WAIT)
        self.assertEqual(self.climb(runtime, cudnn=[wanted]).rung("cudnn", 0)["path"], str(wanted))
        self.environment["LD_PRELOAD"] = str(code.parent / "libcudnn.so.9")
        self.environment["ASAN_OPTIONS"] = "verify_asan_link_order=0"  # a sanitizer asks to come first
        rung = self.climb(runtime, cudnn=[wanted]).rung("cudnn", 0)
        self.assertEqual((rung["result"], rung["path"]),
                         ("ok", self.environment["LD_PRELOAD"]), rung)


if __name__ == "__main__":
    run_tests()
