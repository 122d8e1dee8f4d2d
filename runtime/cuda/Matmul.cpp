//===- Matmul.cpp - products by cuBLASLt ----------------------------------===//
//
// The library's matrices are column-major: a row-major matrix is its transpose
// there, so that c = a b is asked for as c^T = b^T a^T, and the library's first
// operand is our b. Batch dims that do not join to one become a loop of calls.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Matmul.h"

#include "runtime/library/MatmulShape.h"
#include "runtime/support/Dtype.h"

#include <algorithm>
#include <type_traits>

namespace cleave::rt::cuda {

BlasLt::BlasLt()
    : library({"libcublasLt.so.13", "libcublasLt.so.12"}, "computes products") {
  CLEAVE_BLASLT_ENTRIES(CLEAVE_FIND_ENTRY)
}

void BlasLt::check(Status status, const char *call) const {
  if (status != StatusDone)
    fail(ExitDevice, "cuBLASLt: {} failed: {}", call,
         cublasLtGetStatusString(status));
}

const BlasLt &blasLt() {
  static const BlasLt loaded;
  return loaded;
}

namespace {
/// A matrix as the library sees it: `rows` x `columns`, column-major, and
/// whether it is to be transposed.
struct Layout {
  int64_t rows, columns, leading;
  bool transposed;
};
} // namespace

static int libraryType(int32_t dtype) {
  switch (dtype) {
  case CLEAVE_F32:
    return TypeF32;
  case CLEAVE_F16:
    return TypeF16;
  case CLEAVE_BF16:
    return TypeBf16;
  default:
    fail(ExitPlan, "cuBLASLt: no products of {}", dtypeInfo(dtype).name);
  }
}

/// A row-major matrix of rows x columns with these strides, seen as its
/// transpose. `what` names it in the message.
static Layout describe(const MatrixStrides &strides, int64_t rows,
                       int64_t columns, const char *what) {
  if (strides.column == 1 || columns == 1)
    return {columns, rows, std::max(strides.row, columns), false};
  if (strides.row == 1 || rows == 1)
    return {rows, columns, std::max(strides.column, rows), true};
  fail(ExitPlan, "cuBLASLt: {} has strides {} and {}; one of them must be 1",
       what, strides.row, strides.column);
}

//===-- One call site -----------------------------------------------------===//

class Matmul {
public:
  /// The addresses of the first call; those of later ones are aligned as well.
  Matmul(BlasHandle handle, const CleaveMatmulDesc &desc, bool tf32,
         size_t workspaceBytes, const void *a, const void *b, const void *c,
         const void *const *post);

  void run(BlasHandle handle, const void *a, const void *b, void *c,
           const void *const *post, void *workspace, StreamHandle stream);

private:
  void readShape(const CleaveMatmulDesc &desc);
  void readPost(const CleaveMatmulDesc &desc);
  BlasLayout makeLayout(const Layout &layout, int32_t dtype,
                        const MatrixStrides &strides);
  /// Calls `body` with the offsets, in elements, of each call's matrices.
  template <typename Body> void forCalls(Body &&body) const;

  MatmulShape shape;
  bool isSwapped = false; ///< the result is column-major: a and b trade places
  int inner = -1;         ///< batch dim that a call does; -1: none
  int bias = -1, addend = -1; ///< numbers of post-operations
  int32_t epilogue = EpilogueNone;
  size_t elementBytes[4] = {}; ///< of a, b, c, addend

  struct Handles {
    BlasMatmulDesc desc = nullptr;
    BlasLayout a = nullptr, b = nullptr, c = nullptr, addend = nullptr;
    ~Handles() {
      for (BlasLayout layout : {a, b, c, addend})
        if (layout)
          blasLt().cublasLtMatrixLayoutDestroy(layout);
      if (desc)
        blasLt().cublasLtMatmulDescDestroy(desc);
    }
  } handles;
  BlasHeuristicResult choice = {};
};

void Matmul::readShape(const CleaveMatmulDesc &desc) {
  shape = matmulShape(desc);
  foldBatch(shape);
  isSwapped = shape.n > 1 && shape.c.column != 1;
  if (isSwapped) {
    std::swap(shape.m, shape.n);
    std::swap(shape.a, shape.b);
    for (MatrixStrides *strides : {&shape.a, &shape.b, &shape.c})
      std::swap(strides->row, strides->column);
    for (MatrixStrides &strides : shape.post)
      std::swap(strides.row, strides.column);
  }
  for (size_t i = 0; i < shape.batch.size(); ++i)
    if (inner < 0 || shape.batch[i] > shape.batch[inner])
      inner = static_cast<int>(i);
}

/// A bias, an addend, then an activation: what code generation leaves here.
void Matmul::readPost(const CleaveMatmulDesc &desc) {
  int32_t parts = 0;
  for (int32_t i = 0; i < desc.postOpCount; ++i) {
    const MatrixStrides &strides = shape.post[i];
    bool isVector = strides.row == 0 &&
                    std::all_of(strides.batch.begin(), strides.batch.end(),
                                [](int64_t stride) { return stride == 0; });
    switch (desc.postOps[i].kind) {
    case CLEAVE_POST_ADD:
      if (isVector && strides.column == 1 && bias < 0) {
        bias = i;
        parts |= EpilogueBias;
      } else {
        addend = i;
      }
      break;
    case CLEAVE_POST_RELU:
      parts |= EpilogueRelu;
      break;
    case CLEAVE_POST_GELU_TANH:
      parts |= EpilogueGelu;
      break;
    default:
      fail(ExitPlan, "cuBLASLt: post-operation {} is none of a call's",
           desc.postOps[i].kind);
    }
  }
  if (parts)
    epilogue = parts;
}

BlasLayout Matmul::makeLayout(const Layout &layout, int32_t dtype,
                              const MatrixStrides &strides) {
  BlasLayout made = nullptr;
  CLEAVE_BLASLT(cublasLtMatrixLayoutCreate, &made, libraryType(dtype),
                layout.rows, layout.columns, layout.leading);
  if (inner < 0)
    return made;
  auto count = static_cast<int32_t>(shape.batch[inner]);
  int64_t offset = strides.batch[inner];
  CLEAVE_BLASLT(cublasLtMatrixLayoutSetAttribute, made, LayoutBatchCount,
                &count, sizeof(count));
  CLEAVE_BLASLT(cublasLtMatrixLayoutSetAttribute, made, LayoutBatchOffset,
                &offset, sizeof(offset));
  return made;
}

/// Bytes that an address is a multiple of; nobody asks for more than 16.
static uint32_t alignmentOf(const void *address) {
  constexpr uintptr_t Most = 16;
  auto bits = reinterpret_cast<uintptr_t>(address) | Most;
  return static_cast<uint32_t>(bits & -bits);
}

Matmul::Matmul(BlasHandle handle, const CleaveMatmulDesc &desc, bool tf32,
               size_t workspaceBytes, const void *aBase, const void *bBase,
               const void *cBase, const void *const *post) {
  readShape(desc);
  readPost(desc);
  Layout a = describe(shape.a, shape.m, shape.k, "the left operand");
  Layout b = describe(shape.b, shape.k, shape.n, "the right operand");
  Layout c = describe(shape.c, shape.m, shape.n, "the result");
  int32_t aType = desc.a.dtype, bType = desc.b.dtype;
  if (isSwapped)
    std::swap(aType, bType);
  elementBytes[0] = dtypeBytes(aType);
  elementBytes[1] = dtypeBytes(bType);
  elementBytes[2] = elementBytes[3] = dtypeBytes(desc.c.dtype);
  CLEAVE_BLASLT(cublasLtMatmulDescCreate, &handles.desc,
                tf32 ? ComputeTf32 : ComputeF32, TypeF32);
  auto set = [&](int attribute, auto value) {
    CLEAVE_BLASLT(cublasLtMatmulDescSetAttribute, handles.desc, attribute,
                  &value, sizeof(value));
  };
  set(DescTransA, static_cast<int32_t>(b.transposed));
  set(DescTransB, static_cast<int32_t>(a.transposed));
  set(DescEpilogue, epilogue);
  handles.a = makeLayout(a, aType, shape.a);
  handles.b = makeLayout(b, bType, shape.b);
  handles.c = makeLayout(c, desc.c.dtype, shape.c);
  if (addend >= 0) {
    const MatrixStrides &strides = shape.post[addend];
    Layout layout = describe(strides, shape.m, shape.n, "the addend");
    if (layout.transposed)
      fail(ExitPlan, "cuBLASLt: the addend has columns in memory, not rows");
    handles.addend = makeLayout(layout, desc.c.dtype, strides);
  }
  BlasPreference preference = nullptr;
  CLEAVE_BLASLT(cublasLtMatmulPreferenceCreate, &preference);
  blasLt().cublasLtMatmulPreferenceSetAttribute(
      preference, PreferenceMostWorkspace, &workspaceBytes,
      sizeof(workspaceBytes));
  if (isSwapped)
    std::swap(aBase, bBase);
  const void *bases[] = {bBase, aBase, addend < 0 ? cBase : post[addend],
                         cBase};
  for (int i = 0; i < 4; ++i) {
    uint32_t alignment = alignmentOf(bases[i]);
    blasLt().cublasLtMatmulPreferenceSetAttribute(
        preference, PreferenceAlignmentA + i, &alignment, sizeof(alignment));
  }
  int found = 0;
  Status status = blasLt().cublasLtMatmulAlgoGetHeuristic(
      handle, handles.desc, handles.b, handles.a,
      handles.addend ? handles.addend : handles.c, handles.c, preference, 1,
      &choice, &found);
  blasLt().cublasLtMatmulPreferenceDestroy(preference);
  blasLt().check(status, "cublasLtMatmulAlgoGetHeuristic");
  if (found == 0)
    fail(ExitDevice, "cuBLASLt knows no way to compute [{}, {}] x [{}, {}]",
         shape.m, shape.k, shape.k, shape.n);
}

template <typename Body> void Matmul::forCalls(Body &&body) const {
  int64_t calls = 1;
  for (size_t i = 0; i < shape.batch.size(); ++i)
    if (static_cast<int>(i) != inner)
      calls *= shape.batch[i];
  for (int64_t call = 0; call < calls; ++call) {
    auto offsetOf = [&](const MatrixStrides &strides) {
      int64_t rest = call, offset = 0;
      for (size_t i = shape.batch.size(); i-- > 0;) {
        if (static_cast<int>(i) == inner)
          continue;
        offset += rest % shape.batch[i] * strides.batch[i];
        rest /= shape.batch[i];
      }
      return offset;
    };
    body(offsetOf);
  }
}

template <typename Pointer>
static Pointer moved(Pointer pointer, int64_t elements, size_t elementBytes) {
  using Byte =
      std::conditional_t<std::is_const_v<std::remove_pointer_t<Pointer>>,
                         const std::byte, std::byte>;
  return static_cast<Byte *>(pointer) +
         elements * static_cast<int64_t>(elementBytes);
}

void Matmul::run(BlasHandle handle, const void *a, const void *b, void *c,
                 const void *const *post, void *workspace,
                 StreamHandle stream) {
  if (isSwapped)
    std::swap(a, b);
  if (bias >= 0)
    CLEAVE_BLASLT(cublasLtMatmulDescSetAttribute, handles.desc, DescBiasPointer,
                  &post[bias], sizeof(post[bias]));
  float alpha = 1, beta = addend >= 0 ? 1 : 0;
  forCalls([&](auto offsetOf) {
    void *out = moved(c, offsetOf(shape.c), elementBytes[2]);
    const void *added = addend < 0
                            ? out
                            : moved(post[addend], offsetOf(shape.post[addend]),
                                    elementBytes[3]);
    CLEAVE_BLASLT(cublasLtMatmul, handle, handles.desc, &alpha,
                  moved(b, offsetOf(shape.b), elementBytes[1]), handles.b,
                  moved(a, offsetOf(shape.a), elementBytes[0]), handles.a,
                  &beta, added, handles.addend ? handles.addend : handles.c,
                  out, handles.c, &choice.algorithm, workspace,
                  choice.workspaceSize, stream);
  });
}

//===-- All call sites ----------------------------------------------------===//

/// What the library's manual advises for its fastest algorithms.
static constexpr size_t WorkspaceBytes = size_t{32} << 20;

Products::Products(Memory &memory, int slotCount, bool tf32)
    : memory(memory), slots(slotCount), tf32(tf32) {}

Products::~Products() {
  slots.clear();
  if (handle)
    blasLt().cublasLtDestroy(handle);
}

void Products::run(int slot, const CleaveMatmulDesc &desc, const void *a,
                   const void *b, void *c, const void *const *post,
                   StreamHandle stream) {
  if (!handle) {
    CLEAVE_BLASLT(cublasLtCreate, &handle);
    workspace = memory.allocate(WorkspaceBytes, "the workspace of products");
  }
  std::unique_ptr<Matmul> &made = slots[slot];
  if (!made)
    made = std::make_unique<Matmul>(handle, desc, tf32, WorkspaceBytes, a, b, c,
                                    post);
  made->run(handle, a, b, c, post, workspace, stream);
}

} // namespace cleave::rt::cuda
