"""Exported models as CUDA programs, against ONNX Runtime's outputs.

cuda_models.py MODELS FOLDER NAME [FLAGS...]    compiles NAME for sm_80, sm_90 and sm_100
with the flags, fails when a kernel spills, runs it and compares; prints a line.
"""

import json
import subprocess
import sys

models, folder, name, *flags = sys.argv[1:]
stem = f"{models}/{name}.ts.static.keep"
subprocess.run(["cleave", "compile", stem + ".onnx", "-o", folder, "--target", "cuda", *flags], check=True)
with open(folder + "/manifest.json") as file:
    manifest = json.load(file)
for program in manifest["programs"]:
    binaries = program["device"]["binaries"]
    assert sorted(binaries) == ["sm_100", "sm_80", "sm_90"], sorted(binaries)
    for arch, kernels in binaries.items():
        for kernel in kernels:
            assert kernel["registers"] > 0, kernel
            assert kernel["spillBytes"] == 0, f"{arch}: {kernel} spills"
run = ["cleave", "run", folder, "--loopback", "--json", "--repeat", "2", "--input", stem + ".inputs.npz",
       "--compare", stem + ".expected.npz", "--tolerance", "1e-5"]
figures = json.loads(subprocess.run(run, check=True, stdout=subprocess.PIPE).stdout)
worst = max(figures["differences"].values())
launches = [program["device"]["launches"] for program in manifest["programs"]]
print(f"{name} {' '.join(flags)}: differs by {worst:.2g}; launches a step: {launches}")
