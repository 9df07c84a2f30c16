"""What a file of tests reports to ctest."""

import sys
import unittest


def run_tests_of_main(words):
    """Runs the tests of the program; `words` are for unittest. Status 77 where every test was
    skipped, with the reasons."""
    program = unittest.main(module="__main__", argv=[sys.argv[0], *words], exit=False, verbosity=1)
    result = program.result
    for _, reason in result.skipped:
        print("skipped:", reason)
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(77 if result.skipped and len(result.skipped) == result.testsRun else 0)
