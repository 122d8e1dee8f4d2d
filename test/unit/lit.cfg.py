# lit.cfg.py - runs each case of each GoogleTest program of build/test/unit.

import os

import lit.formats

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
build = os.path.abspath(lit_config.params.get("build", os.path.join(root, "build")))

config.name = "cleave-unit"
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.suffixes = []
config.test_source_root = os.path.join(build, "test/unit")
config.test_exec_root = config.test_source_root
