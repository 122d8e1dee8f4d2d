#!/usr/bin/env bash
# demo.sh - compile a trained vision transformer for two ranks and run it.
#
# `make demo` builds first. PICTURE=FILE looks at your own picture. All files go
# to build/demo; the exit code says whether the outputs equal ONNX Runtime's.
set -euo pipefail
cd "$(dirname "$0")/../.."

model=.deps/models/vit_s_focus.onnx
out=build/demo
python=.venv/bin/python

# Open MPI: as root too, and on fewer cores than ranks.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1

run() { echo "\$ $*" >&2 && "$@"; }

cmake/setup.sh model
mkdir -p $out
$python tools/demo/picture.py make $out "${PICTURE:-}"

echo
echo "1. Compile the model for two ranks that share every layer (tensor parallel)"
run build/bin/cleave compile $model -o $out/vit --tp 2 --bind batch_size=1

echo
echo "2. Run the two ranks: native executables, no Python, no ONNX"
run mpirun -n 2 --bind-to none $out/vit/launch --input $out/input.npz \
  --output $out/output.npz --warmup 5 --repeat 30 --json >$out/report.json
tail -n 1 $out/report.json

echo
echo "3. The same model and input in ONNX Runtime"
$python tools/demo/picture.py compare $out $model

cat <<EOF

Look at $out/attention.png: the picture, and the same one, lit where the model finds it important.
Next:
  build/bin/cleave inspect $out/vit                        what each rank holds and sends
  build/bin/cleave compile $model -o $out/vit2 --pp 2 --bind batch_size=1     two pipeline stages,
  build/bin/cleave run $out/vit2 --input $out/input.npz --repeat 10           and run them
  PICTURE=my.jpg make demo                                 another picture
EOF
