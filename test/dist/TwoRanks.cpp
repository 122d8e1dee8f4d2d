//===- TwoRanks.cpp - a program written by hand, for two ranks ------------===//
//
// What the compiler would write for y = x W + b with x [5, 7] cut along its
// columns over two ranks: 4 columns, and 3 with one of padding. Each rank makes
// a partial product; an all-reduce adds them. Rank 0 also sends its coordinate
// to rank 1 and gets 100 back; `seen` [2] is cut over the ranks and holds what
// each has received. `steps` counts the runs of each rank.
//
//===----------------------------------------------------------------------===//

#include "runtime/Abi.h"

static const CleaveMatmulDesc Product = {{CLEAVE_F32, 2, {5, 4}, {4, 1}},
                                         {CLEAVE_F32, 2, {4, 6}, {6, 1}},
                                         {CLEAVE_F32, 2, {5, 6}, {6, 1}},
                                         0,
                                         {}};

/// y[i] += b[i mod 6], by rows.
static void addBias(void *const *args, int64_t begin, int64_t end, void *) {
  auto *y = static_cast<float *>(args[0]);
  const auto *bias = static_cast<const float *>(args[1]);
  for (int64_t row = begin; row < end; ++row)
    for (int64_t i = 0; i < 6; ++i)
      y[row * 6 + i] += bias[i];
}

static void step(CleaveContext *context, const CleaveStep *step) {
  auto *partial = static_cast<float *>(step->arena);
  cleaveTrace(context, "MatMul", "matmul");
  cleaveMatmul(context, 0, &Product, step->inputs[0], step->state[0], partial,
               nullptr);
  cleaveAllReduce(context, 0, partial, step->outputs[0], 30, CLEAVE_F32,
                  CLEAVE_SUM, "MatMul");
  cleaveTrace(context, "Add", "elementwise");
  void *args[] = {step->outputs[0], step->state[1]};
  cleaveParallelFor(context, addBias, args, 5, 1, nullptr, 0);

  cleaveTrace(context, "Exchange", "communication");
  int64_t rank = step->coords[0];
  float mine = rank == 0 ? 7.f : 100.f;
  auto *seen = static_cast<float *>(step->outputs[1]);
  cleaveSend(context, rank == 0 ? 0 : 1, &mine, 1, CLEAVE_F32, 3, "Exchange");
  cleaveRecv(context, rank == 0 ? 1 : 0, seen, 1, CLEAVE_F32, 3, "Exchange");

  auto *steps = static_cast<float *>(step->state[2]);
  steps[0] += 1;
  cleaveCopy(context, step->outputs[2], steps, sizeof(float));
  if (static_cast<const float *>(step->inputs[0])[0] < 0)
    cleaveFail(context, "Gather", "id -1 is out of range, there are 5 rows");
}

extern "C" const CleaveProgram cleave_program = {CLEAVE_ABI_VERSION,
                                                 1,
                                                 30 * sizeof(float),
                                                 "two-ranks-1",
                                                 "two ranks",
                                                 step,
                                                 nullptr,
                                                 nullptr};
