//===- cleave.h - run a compiled model inside a program of yours ----------===//
//
// The C interface of libcleave_program.so, for programs that keep a model open
// and run it many times. Both are in OUT, of the same build as the model:
//
//   cc main.c -I OUT/include -L OUT/lib -lcleave_program -Wl,-rpath,OUT/lib
//
// Where the ranks run:
//  * a model of one rank runs in this process;
//  * one of N ranks runs on threads of this process, when nothing launched it
//    as one of several, or when CleaveOptions::in_process says so;
//  * in a program that mpirun (or srun) started N times each process is a rank:
//    all of them open, run and close the model in the same order.
//
// Functions that can fail return 0 or an exit code of `cleave run` (2 usage, 5
// mismatch, 6 a peer lost or late, 7 memory); cleaveError says why.
//
// Threads: any thread may call any function. Runs of one model wait for each
// other, models are independent, and a model must not be in use when it is
// closed. Ranks have threads of their own, which block no signals and install
// no handlers.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_H
#define CLEAVE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// An open model.
typedef struct CleaveModel CleaveModel;

/// A whole tensor, as the model's file has it, dense and row-major. It lives as
/// long as the model.
typedef struct CleaveTensor {
  const char *name;
  const char *dtype; ///< f32 f64 f16 bf16 i8 u8 i16 i32 i64 bool
  int32_t rank;      ///< number of dims
  const int64_t *shape;
  size_t bytes;
} CleaveTensor;

/// Zeros mean the defaults.
typedef struct CleaveOptions {
  int32_t threads;      ///< of each rank; default: its share of the cores
  int32_t in_process;   ///< 1: all ranks are threads of this process
  double timeout;       ///< seconds that a rank waits for others; default: 300
  double start_timeout; ///< seconds that the others have to start; default: 300
} CleaveOptions;

/// Opens the folder OUT that `cleave compile` wrote; `options` may be null. On
/// failure *model is null.
int cleaveOpen(const char *out, const CleaveOptions *options,
               CleaveModel **model);

/// Closes a model; null is fine. The last one to close ends MPI, if a model had
/// started it: no model of several processes can be opened after that.
void cleaveClose(CleaveModel *model);

/// Inputs and outputs, in the model's order. Null when there is none of that
/// index. A model that is null has none, and 0 ranks. Of a model with several
/// buckets these are the first's.
int32_t cleaveInputCount(const CleaveModel *model);
int32_t cleaveOutputCount(const CleaveModel *model);
const CleaveTensor *cleaveInput(const CleaveModel *model, int32_t index);
const CleaveTensor *cleaveOutput(const CleaveModel *model, int32_t index);

/// Buckets: the sizes of inputs that the model was compiled for (`cleave
/// compile --bucket`); without that flag there is one, of index 0. All have
/// the same inputs and outputs but for their shapes, and all share the weights.
int32_t cleaveBucketCount(const CleaveModel *model);
const CleaveTensor *cleaveBucketInput(const CleaveModel *model, int32_t bucket,
                                      int32_t index);
const CleaveTensor *cleaveBucketOutput(const CleaveModel *model, int32_t bucket,
                                       int32_t index);
/// The bucket whose inputs have these sizes (`shapes[i]`: the dims of input i),
/// or -1.
int32_t cleaveFindBucket(const CleaveModel *model,
                         const int64_t *const *shapes);

/// Ranks of the model, and this process's: 0 when all are in this process.
int32_t cleaveWorld(const CleaveModel *model);
int32_t cleaveRank(const CleaveModel *model);

/// Runs the model once (a training program takes one step). `inputs` are the
/// addresses of whole inputs, in order; every process gives them all, and only
/// read them. `outputs` are written by rank 0; other processes may pass null.
///
/// After a failure of a model of several ranks it can only be closed: the ranks
/// are no longer in step. One of a single rank can be run again.
int cleaveRun(CleaveModel *model, const void *const *inputs,
              void *const *outputs);
/// The same with the inputs and outputs of a bucket; every process names the
/// same one.
int cleaveRunBucket(CleaveModel *model, int32_t bucket,
                    const void *const *inputs, void *const *outputs);

/// Why the last call of this thread that failed did so: one line, without a
/// full stop; valid until the next one that fails. Never null.
const char *cleaveError(void);

#ifdef __cplusplus
}
#endif
#endif
