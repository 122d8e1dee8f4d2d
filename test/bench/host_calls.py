"""host_calls.py MODELS [NAME...] - what the host of a CUDA program does in a step.

For each NAME.ts.static.keep.onnx of MODELS (default: vit and gpt2), on one rank and with
--tp 2, with and without a graph: the calls of the driver, cuBLASLt, cuDNN and NCCL that a rank
makes in a step, beside the number of ONNX nodes. Calls that wait for the end of the step are
left out. Counted behind dlsym, by a library that is compiled for it; the devices may be those of
test/cudaemu (LD_LIBRARY_PATH).
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

import onnx

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
WAITING = {"cuStreamQuery", "cuStreamSynchronize", "ncclCommGetAsyncError"}

# An entry point is replaced by code that counts and jumps on, whatever its parameters.
COUNTER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
%(counters)s
void *dlsym(void *handle, const char *name) {
  static void *(*find)(void *, const char *);
  if (!find)
    find = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
  void *found = find(handle, name);
%(choices)s
  return found;
}
__attribute__((destructor)) static void print(void) {
%(prints)s
}
"""
ONE = """unsigned long count_%(name)s; void *real_%(name)s; void jump_%(name)s(void);
__asm__(".globl jump_%(name)s\\njump_%(name)s: lock incq count_%(name)s(%%rip)\\njmp *real_%(name)s(%%rip)");"""
CHOICE = '  if (found && !strcmp(name, "%(name)s")) { real_%(name)s = found; return (void *)jump_%(name)s; }'
PRINT = '  if (count_%(name)s) fprintf(stderr, "calls of %(name)s: %%lu\\n", count_%(name)s);'


def make_counter(folder):
    names = set()
    for header in ["Driver", "BlasLt", "Cudnn", "Nccl"]:
        with open(f"{ROOT}/runtime/cuda/{header}.h") as file:
            names |= set(re.findall(r"X\([\w ]+\*?, (\w+),", file.read()))
    parts = {key: "\n".join(text % {"name": name} for name in sorted(names))
             for key, text in [("counters", ONE), ("choices", CHOICE), ("prints", PRINT)]}
    source, library = os.path.join(folder, "count.c"), os.path.join(folder, "count.so")
    with open(source, "w") as file:
        file.write(COUNTER % parts)
    subprocess.run(["clang-19", "-shared", "-fPIC", "-Wl,-Bsymbolic", "-o", library, source], check=True)
    return library


def count(counter, out, inputs, steps, flags):
    command = ["cleave", "run", out, "--loopback", "--input", inputs, "--repeat", str(steps), *flags]
    done = subprocess.run(command, env=os.environ | {"LD_PRELOAD": counter}, check=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return collections.Counter({name: int(calls) for name, calls in re.findall(r"calls of (\w+): (\d+)", done.stderr)})


def main(models, *names):
    with tempfile.TemporaryDirectory() as folder:
        counter, out = make_counter(folder), os.path.join(folder, "out")
        for name in names or ["vit", "gpt2"]:
            stem = os.path.join(models, name + ".ts.static.keep")
            nodes = len(onnx.load(stem + ".onnx", load_external_data=False).graph.node)
            print(f"{name}: {nodes} nodes")
            for ranks, plan in [(1, []), (2, ["--tp", "2"])]:
                subprocess.run(["cleave", "compile", stem + ".onnx", "-o", out, "--target", "cuda", "--arch", "sm_90", *plan], check=True)
                for flags in [["--no-graph"], []]:
                    # The first steps start libraries and capture the graph.
                    few, more = 3, 7
                    calls = count(counter, out, stem + ".inputs.npz", more, flags)
                    calls.subtract(count(counter, out, stem + ".inputs.npz", few, flags))
                    a_step = {call: total // ((more - few) * ranks) for call, total in sorted(calls.items())
                              if total > 0 and call not in WAITING}
                    print(f"  {' '.join([*plan, *flags]) or 'one rank'}: {sum(a_step.values())} calls:",
                          ", ".join(f"{number} {call}" for call, number in a_step.items()), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
