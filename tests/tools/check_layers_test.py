"""tools/check_layers against small source trees: what it must let by and what it must refuse."""
import subprocess
import tempfile
import unittest
from pathlib import Path

CHECK = Path(__file__).resolve().parents[2] / "tools" / "check_layers"


def check(files):
    """Runs the check on a tree of {path under src: text}; returns (exit code, output)."""
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = Path(root, "src", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        Path(root, "src").mkdir(exist_ok=True)
        done = subprocess.run([CHECK, root], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout


class CheckLayers(unittest.TestCase):
    def passes(self, name, text):
        code, output = check({name: text})
        self.assertEqual(code, 0, output)

    def refuses(self, name, text, message):
        code, output = check({name: text})
        self.assertEqual(code, 1, output)
        self.assertIn(message, output)

    def test_own_room_and_lower_rooms(self):
        self.passes("op/add/add.cpp", '#include "op/add/add.h"\n#include "ir/call.h"\n#include <vector>\n')

    def test_higher_room(self):
        self.refuses("ir/call.cpp", 'int x;\n  #  include "op/add/add.h"\n', "ir/call.cpp:2: ")

    def test_room_of_the_same_level(self):
        self.refuses("program/run.cpp", '#include "roof/price.h"\n', "program/ (level 5) may not include roof/ (level 5)")

    def test_unknown_rooms(self):
        self.refuses("utils/all.h", "", "there is no room utils/")
        self.refuses("ir/call.cpp", '#include "utils/all.h"\n', "there is no room utils/")

    def test_include_without_a_room(self):
        self.refuses("ir/call.cpp", '#include "call.h"\n', 'as in "ir/call.h"')

    def test_file_outside_every_room(self):
        self.refuses("main.cpp", "", "a file outside every room")

    def test_unknown_kind_of_file(self):
        self.refuses("ir/call.hpp", "", "an unknown kind of source file")

    def test_an_empty_tree_is_no_pass(self):
        self.assertEqual(check({})[0], 1)

    def test_cuda_headers_and_names(self):
        self.passes("cuda/stream.cpp", "#include <cuda_runtime.h>\n")
        self.passes("op/add/cuda_sm90.cu", "#include <cuda_bf16.h>\n#include \"cuda/tma.h\"\n")
        self.refuses("op/add/add.cpp", "#include <cuda_runtime.h>\n", "CUDA headers belong to cuda/")
        self.refuses("base/thread_pool.h", "#include <cublasLt.h>\n", "CUDA headers belong to cuda/")
        self.refuses("op/add/cuda.cu", "", "says its architecture in its name")

    def test_heavy_headers_stay_behind_their_doors(self):
        self.passes("io/config.cpp", "#include <nlohmann/json.hpp>\n")
        self.refuses("io/config.h", "#include <nlohmann/json.hpp>\n", "JSON stays in .cpp files")
        self.refuses("engine/run.cpp", "#include <CLI/CLI.hpp>\n", "only the command line parses flags")
        self.refuses("model/load.cpp", "#include <curl/curl.h>\n", "only io fetches")
        self.refuses("op/add/kernel.h", "#include <immintrin.h>\n", "SIMD stays in")
        self.passes("op/add/kernel-inl.h", "#include <hwy/highway.h>\n")

    def test_tests_stay_in_tests(self):
        self.passes("ir/call_test.cpp", "#include <gtest/gtest.h>\n")
        self.refuses("ir/call.cpp", "#include <gtest/gtest.h>\n", "tests only")

    def test_clocks_and_entropy_come_from_outside(self):
        clock = "auto now = std::chrono::steady_clock::now();\n"
        self.passes("measure/timer.cpp", clock)
        self.passes("engine/run_test.cpp", clock)
        self.passes("engine/run.cpp", "// not steady_clock\n")
        self.refuses("engine/run.cpp", clock, "take the time through measure/")
        self.refuses("engine/sample.cpp", "std::random_device entropy;\n", "seeds come from outside")


if __name__ == "__main__":
    unittest.main()
