//===- Abi.h - C ABI between generated programs and the runtime -----------===//
//
// What a generated program (programs/*.so) calls, and what it exports. Plain C:
// no LLVM, no C++ types. Generated code is straight-line, so errors are sticky:
// once an operation has failed, every later call on the same context returns at
// once and the runtime reports the first failure after the step.
//
// All counts are in elements unless the name says bytes. Buffers are dense and
// row-major unless strides are given. A program has no mutable globals: all it
// needs comes in by `CleaveStep`, so several ranks may be threads of a process.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_ABI_H
#define CLEAVE_RUNTIME_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CLEAVE_ABI_VERSION = 3, CLEAVE_MAX_RANK = 8, CLEAVE_MAX_POST_OPS = 6 };

/// Element types. The order is part of the format.
enum CleaveDtype {
  CLEAVE_F32 = 0,
  CLEAVE_F64 = 1,
  CLEAVE_F16 = 2,
  CLEAVE_BF16 = 3,
  CLEAVE_I8 = 4,
  CLEAVE_U8 = 5,
  CLEAVE_I16 = 6,
  CLEAVE_I32 = 7,
  CLEAVE_I64 = 8,
  CLEAVE_BOOL = 9,
  CLEAVE_U16 = 10,
  CLEAVE_U32 = 11,
  CLEAVE_U64 = 12,
};

/// Combining functions of reductions, as in MPI and NCCL.
enum CleaveReduction {
  CLEAVE_SUM = 0,
  CLEAVE_MAX = 1,
  CLEAVE_MIN = 2,
  CLEAVE_PROD = 3
};

/// One rank's execution context; opaque to generated code.
typedef struct CleaveContext CleaveContext;

/// Base addresses of one step. `state[i]`, `inputs[i]`, `outputs[i]` follow the
/// order of the program's tables; `coords[a]` is this rank's index along mesh
/// axis `a` of the program's axis table. All of these are where kernels read
/// and write them; on a CPU `coords` and `hostCoords` are the same.
typedef struct CleaveStep {
  void *arena;
  void *const *inputs;
  void *const *outputs;
  void *const *state;
  const int64_t *coords;
  const int64_t *hostCoords; ///< the coordinates, where the step reads them
  const void *constants;     ///< CleaveDeviceCode::constants on the device
} CleaveStep;

/// A range function: does items [begin, end) of its iteration space. `args` are
/// the addresses of its operands and results; `scratch` is this thread's own
/// memory (null when it has none).
typedef void (*CleaveKernelFn)(void *const *args, int64_t begin, int64_t end,
                               void *scratch);

/// Runs `fn` over [0, extent) on the rank's threads, at least `grain` items a
/// call. Thread t gets `scratch + t * scratchBytes` (64-byte aligned); when
/// `scratch` is null and scratchBytes is not 0, the runtime supplies each
/// thread with scratchBytes of its own (64-byte aligned): what generated code
/// relies on.
void cleaveParallelFor(CleaveContext *, CleaveKernelFn fn, void *const *args,
                       int64_t extent, int64_t grain, void *scratch,
                       int64_t scratchBytes);

//===-- Devices -------------------------------------------------------------//
// A program for a device brings its code along. Its step starts kernels, in
// order; addresses are the device's.

/// A launch: blocks of a one-dimensional grid, and threads of a block.
typedef struct CleaveLaunchDesc {
  int32_t kernel;   ///< number in CleaveDeviceCode::kernels
  int32_t argCount; ///< addresses
  int32_t grid, block;
  /// Number of the error cell, an i64 whose address follows the arguments: a
  /// step in which it was set fails. -1: the kernel cannot fail.
  int32_t cell;
} CleaveLaunchDesc;

/// `failMessage`: what a set cell means; null where there is none.
void cleaveLaunch(CleaveContext *, const CleaveLaunchDesc *, void *const *args,
                  const char *op, const char *failMessage);
/// Stores a value, known now, where kernels read it.
void cleaveStoreIndex(CleaveContext *, void *to, int64_t value);

/// One form of the code: a cubin, or PTX text that ends in 0.
typedef struct CleaveDeviceImage {
  int32_t arch; ///< 90: compute capability 9.0
  int32_t isBinary;
  int64_t bytes;
  const void *data;
} CleaveDeviceImage;

typedef struct CleaveDeviceCode {
  int32_t kernelCount, imageCount, cellCount;
  const char *const *kernels; ///< names
  const CleaveDeviceImage *images;
  const void *constants; ///< what kernels read, to be copied to the device
  int64_t constantBytes;
} CleaveDeviceCode;

//===-- Library operations --------------------------------------------------//
// `slot` numbers the call site: the runtime makes the library's primitive at
// the first call and keeps it. Descriptors are constants of the program.

/// What follows a product or convolution, in order, on its fp32 accumulator.
enum CleavePostOpKind {
  CLEAVE_POST_ADD = 0, ///< + operand (broadcast where its dim is 1)
  CLEAVE_POST_MUL = 1, ///< * operand
  CLEAVE_POST_GELU_ERF = 2,
  CLEAVE_POST_GELU_TANH = 3,
  CLEAVE_POST_RELU = 4,
  CLEAVE_POST_SIGMOID = 5,
  CLEAVE_POST_TANH = 6,
  CLEAVE_POST_SILU = 7,
};

/// A dense-or-strided tensor view. `strides` in elements.
typedef struct CleaveTensorDesc {
  int32_t dtype;
  int32_t rank;
  int64_t dims[CLEAVE_MAX_RANK];
  int64_t strides[CLEAVE_MAX_RANK];
} CleaveTensorDesc;

typedef struct CleavePostOp {
  int32_t kind;
  CleaveTensorDesc operand; ///< rank 0 when the kind has no operand
} CleavePostOp;

/// c[..., m, n] = post(sum_k a[..., m, k] * b[..., k, n]); leading dims of a, b
/// and c agree or are 1 (broadcast). A bias is a post-operation of kind ADD.
typedef struct CleaveMatmulDesc {
  CleaveTensorDesc a, b, c;
  int32_t postOpCount;
  CleavePostOp postOps[CLEAVE_MAX_POST_OPS];
} CleaveMatmulDesc;

/// Convolution over NC[D]HW dense tensors, 1 to 3 spatial dims; weights are
/// [O, I/groups, k...] (transposed: [I, O/groups, k...]), as in ONNX.
typedef struct CleaveConvDesc {
  CleaveTensorDesc input, weight, output;
  int32_t transposed;
  int32_t spatialRank;
  int64_t groups;
  int64_t stride[3], dilation[3], padLow[3], padHigh[3];
  int32_t postOpCount;
  CleavePostOp postOps[CLEAVE_MAX_POST_OPS];
} CleaveConvDesc;

/// `post[i]` is the operand of post-operation i (ignored where it has none).
void cleaveMatmul(CleaveContext *, int32_t slot, const CleaveMatmulDesc *,
                  const void *a, const void *b, void *c,
                  const void *const *post);
void cleaveConv(CleaveContext *, int32_t slot, const CleaveConvDesc *,
                const void *input, const void *weight, void *output,
                const void *const *post);
/// Gradient of the weight of a convolution that is not transposed, which
/// `output` describes the gradient of the result of; no post-operations.
void cleaveConvWeightGrad(CleaveContext *, int32_t slot, const CleaveConvDesc *,
                          const void *input, const void *doutput,
                          void *dweight);

//===-- Collectives ---------------------------------------------------------//
// `group` indexes the manifest's groups; `op` is a string with the user's node
// name for messages and traces. `in` and `out` may be the same buffer where the
// sizes are equal. Tensors are seen as [outer, dim, inner]: gathers and
// scatters work along `dim`, `chunk` = local dim * inner elements (k = group
// size). Reductions combine in the order of the ranks in the group.

void cleaveAllReduce(CleaveContext *, int32_t group, const void *in, void *out,
                     int64_t count, int32_t dtype, int32_t reduction,
                     const char *op);
/// in [outer, chunk] on each rank -> out [outer, k, chunk].
void cleaveAllGather(CleaveContext *, int32_t group, const void *in, void *out,
                     int64_t outer, int64_t chunk, int32_t dtype,
                     const char *op);
/// in [outer, k, chunk] -> out [outer, chunk]: the part of this rank, reduced.
void cleaveReduceScatter(CleaveContext *, int32_t group, const void *in,
                         void *out, int64_t outer, int64_t chunk, int32_t dtype,
                         int32_t reduction, const char *op);
/// in [k, chunk] -> out [k, chunk]: part j goes to rank j of the group.
void cleaveAllToAll(CleaveContext *, int32_t group, const void *in, void *out,
                    int64_t chunk, int32_t dtype, const char *op);
/// From the rank with index `root` in the group to all others, in place.
void cleaveBroadcast(CleaveContext *, int32_t group, void *buffer,
                     int64_t count, int32_t dtype, int32_t root,
                     const char *op);

/// The group's next collective but broadcasts is only started where it is
/// called: its buffers belong to it until `cleaveFinish`. One at a time is
/// under way in a group; the next one completes it.
void cleaveDefer(CleaveContext *, int32_t group);
void cleaveFinish(CleaveContext *, int32_t group, const char *op);

/// Point to point. `route` indexes the manifest's routes: for each sending rank
/// the list of receivers, and the reverse; a rank without part in it does
/// nothing. A send returns when the buffer may be written again. `tag` tells
/// the messages of one pair of ranks apart.
void cleaveSend(CleaveContext *, int32_t route, const void *buffer,
                int64_t count, int32_t dtype, int32_t tag, const char *op);
void cleaveRecv(CleaveContext *, int32_t route, void *buffer, int64_t count,
                int32_t dtype, int32_t tag, const char *op);

//===-- Plain memory --------------------------------------------------------//

void cleaveCopy(CleaveContext *, void *to, const void *from, int64_t bytes);
void cleaveFill(CleaveContext *, void *to, int64_t bytes, int32_t byteValue);

/// Memory of the arena that `prepare` has filled: no step writes it.
void cleaveConstant(CleaveContext *, const void *begin, int64_t bytes);

/// Stops the step with a message that the user sees (ids out of range, ...).
void cleaveFail(CleaveContext *, const char *op, const char *message);

/// Marks the start of a traced operation: `name` is the user's node.
void cleaveTrace(CleaveContext *, const char *name, const char *category);

//===-- What a program exports ----------------------------------------------//

/// The one symbol of a program library: `extern const CleaveProgram
/// cleave_program`. Tables of tensors, groups and ranks are in manifest.json;
/// `identity` must equal the manifest's identity of this program.
typedef struct CleaveProgram {
  uint32_t abiVersion;
  int32_t slotCount;    ///< library operation slots
  int64_t arenaBytes;   ///< size of the arena, 64-byte aligned
  const char *identity; ///< hex digest of plan and code
  const char *name;
  void (*step)(CleaveContext *, const CleaveStep *);
  /// Runs once, before the first step, on the same arena and state, and fills
  /// the part of the arena that no step writes; null when there is none.
  void (*prepare)(CleaveContext *, const CleaveStep *);
  const CleaveDeviceCode *device; ///< null: the program is for CPUs
} CleaveProgram;

#ifdef __cplusplus
}
#endif
#endif
