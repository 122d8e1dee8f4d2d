# lit.cfg.py - a suite with one test of each outcome, for check.test.

import lit.formats

config.name = "planted"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".test"]
config.test_exec_root = lit_config.params["build"]
