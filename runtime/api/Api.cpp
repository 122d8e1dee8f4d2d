//===- Api.cpp - the functions of cleave.h --------------------------------===//
//
// Exceptions end here: they become a code and the calling thread's last error.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Model.h"

using namespace cleave::rt;

static thread_local std::string lastError = "no call has failed";

/// Runs the body of a function that can fail.
template <typename Body> static int report(Body &&body) {
  std::optional<Failure> failure = catchFailure(body);
  if (!failure)
    return ExitDone;
  lastError = failure->what();
  return failure->code;
}

int cleaveOpen(const char *out, const CleaveOptions *options,
               CleaveModel **model) {
  return report([&] {
    if (!model)
      fail(ExitUsage, "cleaveOpen: the address for the model is null");
    *model = nullptr;
    if (!out)
      fail(ExitUsage, "cleaveOpen: the folder is null");
    *model = new CleaveModel(out, options ? *options : CleaveOptions{});
  });
}

void cleaveClose(CleaveModel *model) { delete model; }

int cleaveRun(CleaveModel *model, const void *const *inputs,
              void *const *outputs) {
  return report([&] {
    if (!model)
      fail(ExitUsage, "cleaveRun: the model is null");
    model->run(inputs, outputs);
  });
}

static const CleaveTensor *get(const std::vector<CleaveTensor> &tensors,
                               int32_t index) {
  bool isThere = index >= 0 && static_cast<size_t>(index) < tensors.size();
  return isThere ? &tensors[index] : nullptr;
}

int32_t cleaveInputCount(const CleaveModel *model) {
  return model ? static_cast<int32_t>(model->getInputs().size()) : 0;
}

int32_t cleaveOutputCount(const CleaveModel *model) {
  return model ? static_cast<int32_t>(model->getOutputs().size()) : 0;
}

const CleaveTensor *cleaveInput(const CleaveModel *model, int32_t index) {
  return model ? get(model->getInputs(), index) : nullptr;
}

const CleaveTensor *cleaveOutput(const CleaveModel *model, int32_t index) {
  return model ? get(model->getOutputs(), index) : nullptr;
}

int32_t cleaveWorld(const CleaveModel *model) {
  return model ? model->world() : 0;
}

int32_t cleaveRank(const CleaveModel *model) {
  return model ? model->rank() : 0;
}

const char *cleaveError(void) { return lastError.c_str(); }
