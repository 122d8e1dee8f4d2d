//===- FuzzImport.cpp - import models that nobody wrote -------------------===//
//
// usage: fuzz-import CORPUS -max_total_time=600      seeds: test/fuzz/seeds.py
//
// A libFuzzer program. Whatever the bytes are, the import ends in a module that
// is valid, or in a diagnostic.
//
//===----------------------------------------------------------------------===//

#include "frontend/Import.h"
#include "test/fuzz/MutateModel.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

using namespace cleave;
using namespace mlir;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/// A file of this process, in memory where there is such a folder.
static std::string getModelFile() {
  const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  return std::string(folder) + "/cleave-fuzz-" + std::to_string(getpid()) +
         ".onnx";
}

static void writeFile(const std::string &path, const uint8_t *data,
                      size_t size) {
  std::FILE *file = std::fopen(path.c_str(), "wb");
  if (!file || std::fwrite(data, 1, size, file) != size ||
      std::fclose(file) != 0)
    std::abort();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::string path = getModelFile();
  writeFile(path, data, size);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  bool hasError = false;
  context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
    hasError |= diagnostic.getSeverity() == DiagnosticSeverity::Error;
  });
  FailureOr<OwningOpRef<ModuleOp>> module = importModel(context, path);
  if (failed(module) ? !hasError : failed(verify(**module)))
    std::abort();
  return 0;
}

/// Half of the changes are to the model, half to its bytes.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t most, unsigned seed) {
  onnx::ModelProto model;
  if (seed % 2 == 0 || !model.ParseFromArray(data, static_cast<int>(size)))
    return LLVMFuzzerMutate(data, size, most);
  for (unsigned i = 0; i <= seed / 2 % 4; ++i)
    mutateModel(model, seed + i);
  std::string bytes;
  if (!model.SerializeToString(&bytes) || bytes.size() > most)
    return LLVMFuzzerMutate(data, size, most);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}
