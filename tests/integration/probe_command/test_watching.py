#!/usr/bin/env python3
"""`cudaenv probe --watch` on a terminal: what is drawn, drawn again, and that the terminal is then as
it was."""

import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import termios
import time

from test_probe_command import CommandTest
from support import PROGRAMS, WAIT, run_tests

PIECE = re.compile(rb"\x1b\[(\?)?([0-9;]*)([A-Za-z])|\x1b[^\[]|[^\x1b]+", re.DOTALL)


class Terminal:
    """As much of a terminal as the command needs; what else it is sent is an error."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.modes = {25, 7}  # a cursor that is shown; lines that are too long go on in the next
        self.clear()
        self.scrolled = self.drawn = 0

    def clear(self):
        self.lines, self.row, self.column = [""] * self.rows, 0, 0

    def text(self):
        return "\n".join(line.rstrip() for line in self.lines).rstrip()

    def down(self):
        self.row += 1
        if self.row == self.rows:
            self.row -= 1
            self.lines = self.lines[1:] + [""]
            self.scrolled += 1

    def take(self, data):
        for piece in PIECE.finditer(data):
            private, number, letter = piece.groups()
            if letter is None:
                assert not piece.group().startswith(b"\x1b"), piece
                self.write(piece.group().decode())
            elif private and letter in b"hl":
                mode = int(number)
                assert mode in (7, 25, 1049), piece
                (self.modes.add if letter == b"h" else self.modes.discard)(mode)
                if mode == 1049:
                    self.clear()  # the other screen; nothing was on the first
            elif letter == b"H":
                assert not number, piece
                self.row = self.column = 0
                self.drawn += 1
            elif letter == b"K":
                self.lines[self.row] = self.lines[self.row][:self.column]
            elif letter == b"J":
                self.lines[self.row] = self.lines[self.row][:self.column]
                self.lines[self.row + 1:] = [""] * (self.rows - self.row - 1)
            else:
                assert letter == b"m", piece

    def write(self, text):
        for character in text:
            if character == "\r":
                self.column = 0
            elif character == "\n":
                self.down()
            else:
                if self.column == self.columns:
                    if 7 in self.modes:
                        self.column = 0
                        self.down()
                    else:
                        self.column -= 1
                line = self.lines[self.row].ljust(self.column)
                self.lines[self.row] = line[:self.column] + character + line[self.column + 1:]
                self.column += 1


class WatchTest(CommandTest):
    def setUp(self):
        super().setUp()
        place = self.root / "nvml"
        place.mkdir()
        shutil.copy2(PROGRAMS["nvml"], place / "libnvidia-ml.so.1")
        self.mode = place / "nvml-mode"
        self.behaves("two-gpus")
        self.search(place)
        self.environment["TERM"] = "xterm-256color"

    def behaves(self, mode):
        new = self.mode.with_suffix(".new")
        new.write_text(mode + "\n")
        new.rename(self.mode)

    def resize(self, columns, rows):
        fcntl.ioctl(self.side, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

    def watch(self, columns=100, rows=30, **variables):
        """It, with the terminal as its own: Ctrl-C is a byte that is typed."""
        self.controller, self.side = pty.openpty()
        self.addCleanup(os.close, self.controller)
        self.addCleanup(os.close, self.side)
        self.resize(columns, rows)
        self.before = termios.tcgetattr(self.side)
        self.terminal = Terminal(columns, rows)

        def own_the_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
        child = subprocess.Popen([PROGRAMS["cudaenv"], "probe", "--watch"], stdin=self.side,
                                 stdout=self.side, stderr=self.side, cwd=self.root,
                                 env=self.environment | variables, preexec_fn=own_the_terminal)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def read_until(self, holds):
        until = time.monotonic() + WAIT
        while not holds():
            ready, _, _ = select.select([self.controller], [], [], until - time.monotonic())
            self.assertTrue(ready, f"it is not drawn; the screen is\n{self.terminal.text()}")
            self.terminal.take(os.read(self.controller, 65536))

    def take_the_rest(self):
        while select.select([self.controller], [], [], 0)[0]:
            self.terminal.take(os.read(self.controller, 65536))

    def ended(self, child):
        self.assertEqual(child.wait(timeout=WAIT), 0)
        self.take_the_rest()
        self.assertEqual(self.terminal.modes, {25, 7})
        self.assertEqual(self.terminal.text(), "")
        self.assertEqual(termios.tcgetattr(self.side), self.before)


class Drawing(WatchTest):
    def whole(self):
        return "Ctrl-C ends it" in self.terminal.text()

    def test_it_shows_the_gpus_on_the_other_screen_without_a_cursor(self):
        child = self.watch()
        self.read_until(self.whole)
        self.assertIn(1049, self.terminal.modes)
        self.assertNotIn(25, self.terminal.modes)
        for words in ("470.199.02", "gpu 0", "RTX 3090", "gpu 1", "A100-PCIE-40GB"):
            self.assertIn(words, self.terminal.text())
        os.write(self.controller, b"\x03")
        self.ended(child)

    def test_it_is_drawn_again_over_what_was_there(self):
        self.watch()
        self.read_until(self.whole)
        self.assertNotIn("4711", self.terminal.text())
        idle = self.terminal.text()
        self.behaves("occupied")
        self.read_until(lambda: "4712" in self.terminal.text() and self.whole())
        self.assertIn("4711", self.terminal.text())
        self.behaves("two-gpus")
        drawn = self.terminal.drawn
        self.read_until(lambda: self.terminal.drawn >= drawn + 2 and self.whole())
        self.assertEqual(self.terminal.text(), idle)  # nothing of the longer one stays
        self.assertEqual(self.terminal.scrolled, 0)

    def test_it_fits_terminals_that_are_narrow_or_low(self):
        for columns, rows in ((40, 30), (24, 30), (100, 4), (20, 3)):
            with self.subTest(columns=columns, rows=rows):
                self.behaves("occupied")
                child = self.watch(columns, rows)
                self.read_until(lambda: self.terminal.drawn >= 2)
                self.assertEqual(self.terminal.scrolled, 0)
                self.assertIn("driver", self.terminal.lines[0])
                os.write(self.controller, b"\x03")
                self.ended(child)

    def test_it_takes_a_new_width_with_the_next_look(self):
        self.watch(100, 30)
        self.read_until(self.whole)
        lines = self.terminal.text().count("\n")
        self.resize(40, 30)
        self.terminal.columns = 40
        drawn = self.terminal.drawn
        self.read_until(lambda: self.terminal.drawn >= drawn + 2 and self.whole())
        self.assertGreater(self.terminal.text().count("\n"), lines)
        self.assertEqual(self.terminal.scrolled, 0)

    def test_a_driver_that_breaks_meanwhile_is_reported_there(self):
        self.watch()
        self.read_until(self.whole)
        self.behaves("mismatch")
        self.read_until(lambda: re.search("CE30[56]", self.terminal.text()))


class Ending(WatchTest):
    def test_each_way_to_end_it_leaves_the_terminal_as_it_was(self):
        for how in (b"\x03", signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(how):
                child = self.watch()
                self.read_until(lambda: "Ctrl-C ends it" in self.terminal.text())
                if isinstance(how, bytes):
                    os.write(self.controller, how)
                else:
                    child.send_signal(how)
                self.ended(child)

    def test_where_nvml_does_not_start_the_other_screen_is_never_opened(self):
        self.behaves("mismatch")
        child = self.watch()
        self.assertEqual(child.wait(timeout=WAIT), 1)
        self.take_the_rest()
        self.assertEqual(self.terminal.modes, {25, 7})
        self.assertRegex(self.terminal.text(), "CE30[56]")


if __name__ == "__main__":
    run_tests()
