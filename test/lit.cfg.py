# lit.cfg.py - how lit finds and runs the tests.
#
# A test is a file with RUN lines: `lit test/ir` or `lit test/ir/dot.mlir` runs a
# part. `--param build=DIR` names another build tree than build/. What a RUN line
# may use: the tools of build/bin and of LLVM (FileCheck, not, split-file) by name,
#   %python   the interpreter of .venv      %root     the checkout
#   %build    the build tree
#   %mpirun   mpirun, ready to start more ranks than there are cores, also as root
#   %vit_s    the trained vision transformer of the demo  (REQUIRES: vit-s)
#   %fetched  the folder of models of packages    (REQUIRES: the name of the model)
#   %models   a folder of exported models, if there is one (REQUIRES: models)
#   %cudaemu  runs a command on the CUDA libraries that execute PTX on the CPU
#             (test/cudaemu; REQUIRES: cudaemu)
# REQUIRES: ptxas is for tests that assemble, with the ptxas of a CUDA toolkit.

import os
import re
import shutil
import subprocess

import lit.formats

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
build = os.path.abspath(lit_config.params.get("build", os.path.join(root, "build")))


def cached(name):
    """Returns the value that CMake found for `name`."""
    with open(os.path.join(build, "CMakeCache.txt")) as cache:
        return re.search(rf"^{name}:\w+=(.*)$", cache.read(), re.MULTILINE)[1]


config.name = "cleave"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".onnxtxt", ".test"]
config.excludes = ["inputs"]
config.test_source_root = os.path.join(root, "test")
config.test_exec_root = os.path.join(build, "test")

llvm_tools = os.path.normpath(os.path.join(cached("LLVM_DIR"), "../../../bin"))
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(build, "bin"), llvm_tools, os.environ["PATH"]]
)
for name in ["HOME", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]

# Open MPI: as root, more ranks than cores, idle ranks yield, shared memory only.
config.environment.update(
    OMPI_ALLOW_RUN_AS_ROOT="1",
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
    OMPI_MCA_rmaps_base_oversubscribe="1",
    OMPI_MCA_hwloc_base_binding_policy="none",
    OMPI_MCA_mpi_yield_when_idle="1",
    OMPI_MCA_btl_vader_single_copy_mechanism="none",
)

config.substitutions += [
    (r"%cleave-opt\b", "cleave-opt"),
    (r"%cleave-import\b", "cleave-import"),
    (r"%cleave\b", "cleave"),
    (r"%python\b", os.path.join(root, ".venv/bin/python")),
    (r"%mpirun\b", "mpirun"),
    (r"%root\b", root),
    (r"%build\b", build),
]

vit_s = os.path.join(root, ".deps/models/vit_s_focus.onnx")
if os.path.exists(vit_s):
    config.available_features.add("vit-s")
    config.substitutions.append((r"%vit_s\b", vit_s))

# Models of packages: REQUIRES: silero_vad, and so on; %fetched is their folder.
fetched = os.path.join(root, ".deps/models")
config.substitutions.append((r"%fetched\b", fetched))
for name in ["silero_vad", "ch_PP-OCRv4_det_infer", "ch_PP-OCRv4_rec_infer", "ch_ppocr_mobile_v2.0_cls_infer"]:
    if os.path.exists(os.path.join(fetched, name + ".onnx")):
        config.available_features.add(name)

models = os.environ.get("CLEAVE_TEST_MODELS", os.path.join(root, "../shared/models"))
if os.path.isdir(models):
    config.available_features.add("models")
    config.substitutions.append((r"%models\b", os.path.abspath(models)))


def runs(program):
    try:
        return subprocess.run([program, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


if runs(shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"):
    config.available_features.add("ptxas")
else:
    lit_config.note("no ptxas of a CUDA toolkit: tests that assemble are skipped")

emulated = os.path.join(build, "cudaemu")
if os.path.exists(os.path.join(emulated, "libcuda.so.1")):
    config.available_features.add("cudaemu")
    config.substitutions.append((r"%cudaemu\b", "env LD_LIBRARY_PATH=" + emulated))
