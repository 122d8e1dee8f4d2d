# Makefile - the commands of this project. `make help` lists them.
# Each says what it does, and skips what is done already.
#
# JOBS=N sets how many compilers run at once (default: all cores).

SHELL := /bin/bash
JOBS ?= $(shell nproc)
export JOBS
PYTHON := .venv/bin/python

.PHONY: help setup build demo test docs format tidy sanitize install clean

help: ## show this list
	@sed -nE 's/^([a-z]+):.*## (.*)/\1\t\2/p' Makefile | while IFS=$$'\t' read -r name what; do printf '  make %-9s %s\n' "$$name" "$$what"; done

setup: ## install what building needs (apt, .venv, the ONNX library); skips what is there
	@cmake/setup.sh

build/build.ninja:
	@echo "configure: build/"
	@mkdir -p build
	@cmake --preset default >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }

build: setup build/build.ninja ## build cleave, cleave-opt and the tests into build/
	@echo "build: build/bin/cleave and what belongs to it ($(JOBS) compilers at a time)"
	@cmake --build build -j $(JOBS)

demo: build ## compile a trained vision transformer for 2 ranks, run it, compare with ONNX Runtime
	@tools/demo/demo.sh

test: build ## run every test; the last line counts them
	@$(PYTHON) test/check.py --build build

docs: build ## write the reference of the dialect and the passes to build/docs/
	@cmake --build build --target docs
	@echo "docs: build/docs/dialect and build/docs/passes"

format: ## format the C++ files
	@git ls-files -z '*.h' '*.cpp' | xargs -0 clang-format-14 --style=file -i
	@echo "format: all C++ files are as clang-format writes them"

tidy: setup ## check the C++ files with clang-tidy (minutes)
	@$(PYTHON) tools/dev/tidy.py

sanitize: setup ## build with address and undefined-behaviour sanitizers into build/sanitize, run the tests that do not start processes (long)
	@mkdir -p build
	@[ -e build/sanitize/build.ninja ] || cmake --preset sanitize >build/sanitize.log 2>&1 || { cat build/sanitize.log; exit 1; }
	@cmake --build build/sanitize -j $(JOBS)
	@$(PYTHON) test/check.py --build build/sanitize $(addprefix test/,unit ir frontend passes run)

install: build ## install cleave, cleave-opt and the runtime under PREFIX (default /usr/local)
	@cmake --install build --prefix $(or $(PREFIX),/usr/local)

clean: ## remove build/; keeps .venv and the ONNX library
	@rm -rf build && echo "clean: removed build/"
