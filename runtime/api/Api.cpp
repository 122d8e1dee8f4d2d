//===- Api.cpp - the functions of cleave.h --------------------------------===//
//
// Exceptions end here: they become a code and the calling thread's last error.
//
//===----------------------------------------------------------------------===//

#include "runtime/api/Model.h"

#include <algorithm>

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

int cleaveRunBucket(CleaveModel *model, int32_t bucket,
                    const void *const *inputs, void *const *outputs) {
  return report([&] {
    if (!model)
      fail(ExitUsage, "cleaveRun: the model is null");
    model->run(bucket, inputs, outputs);
  });
}

int cleaveRun(CleaveModel *model, const void *const *inputs,
              void *const *outputs) {
  return cleaveRunBucket(model, 0, inputs, outputs);
}

int32_t cleaveBucketCount(const CleaveModel *model) {
  return model ? static_cast<int32_t>(model->getSignatures().size()) : 0;
}

static const CleaveModel::Signature *getSignature(const CleaveModel *model,
                                                  int32_t bucket) {
  return bucket >= 0 && bucket < cleaveBucketCount(model)
             ? &model->getSignatures()[bucket]
             : nullptr;
}

static const CleaveTensor *get(const std::vector<CleaveTensor> &tensors,
                               int32_t index) {
  bool isThere = index >= 0 && static_cast<size_t>(index) < tensors.size();
  return isThere ? &tensors[index] : nullptr;
}

const CleaveTensor *cleaveBucketInput(const CleaveModel *model, int32_t bucket,
                                      int32_t index) {
  const CleaveModel::Signature *own = getSignature(model, bucket);
  return own ? get(own->inputs, index) : nullptr;
}

const CleaveTensor *cleaveBucketOutput(const CleaveModel *model, int32_t bucket,
                                       int32_t index) {
  const CleaveModel::Signature *own = getSignature(model, bucket);
  return own ? get(own->outputs, index) : nullptr;
}

int32_t cleaveInputCount(const CleaveModel *model) {
  const CleaveModel::Signature *first = getSignature(model, 0);
  return first ? static_cast<int32_t>(first->inputs.size()) : 0;
}

int32_t cleaveOutputCount(const CleaveModel *model) {
  const CleaveModel::Signature *first = getSignature(model, 0);
  return first ? static_cast<int32_t>(first->outputs.size()) : 0;
}

const CleaveTensor *cleaveInput(const CleaveModel *model, int32_t index) {
  return cleaveBucketInput(model, 0, index);
}

const CleaveTensor *cleaveOutput(const CleaveModel *model, int32_t index) {
  return cleaveBucketOutput(model, 0, index);
}

/// Whether the inputs of a bucket have these sizes.
static bool hasShapes(const CleaveModel::Signature &signature,
                      const int64_t *const *shapes) {
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    const CleaveTensor &input = signature.inputs[i];
    if (input.rank &&
        (!shapes[i] ||
         !std::equal(input.shape, input.shape + input.rank, shapes[i])))
      return false;
  }
  return true;
}

int32_t cleaveFindBucket(const CleaveModel *model,
                         const int64_t *const *shapes) {
  for (int32_t i = 0; shapes && i < cleaveBucketCount(model); ++i)
    if (hasShapes(model->getSignatures()[i], shapes))
      return i;
  return -1;
}

int32_t cleaveWorld(const CleaveModel *model) {
  return model ? model->world() : 0;
}

int32_t cleaveRank(const CleaveModel *model) {
  return model ? model->rank() : 0;
}

const char *cleaveError(void) { return lastError.c_str(); }
