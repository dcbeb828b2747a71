#!/usr/bin/env python3
"""Runs the Python tests (*_test.py) of a folder and ends with "N passed, N failed": tests/run_unittests.py FOLDER"""
import sys
import unittest


class Counted(unittest.TextTestResult):
    """Counts a test as failed once, however many of its subtests fail."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.failed = set()

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.failed.add(test.id())

    def addError(self, test, err):
        super().addError(test, err)
        self.failed.add(test.id())

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            self.failed.add(test.id())


def main():
    suite = unittest.defaultTestLoader.discover(sys.argv[1], pattern="*_test.py")
    result = unittest.TextTestRunner(resultclass=Counted).run(suite)
    failed = len(result.failed)
    passed = result.testsRun - failed - len(result.skipped)
    if passed + failed == 0:
        print(f"no tests in {sys.argv[1]}")
        failed = 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
