//===- Matmul.cpp - run a matrix product ----------------------------------===//
//
// D = epilogue(alpha op(A) op(B) + beta C), batch after batch, with float sums.
// Matrices are taken into memory row after row, whatever their order.
//
//===----------------------------------------------------------------------===//

#include "cublaslt/Matmul.h"
#include "cublaslt/Epilogue.h"

#include <cmath>
#include <cstring>

using namespace cudaemu;
using namespace cublaslt;

bool cudaemu::elementOf(int type, Element &element) {
  switch (type) {
  case R32F:
    element = Element::F32;
    return true;
  case R64F:
    element = Element::F64;
    return true;
  case R16F:
    element = Element::F16;
    return true;
  case R16BF:
    element = Element::BF16;
    return true;
  default:
    return false;
  }
}

static Element elementOf(int type) {
  Element element = Element::F32;
  elementOf(type, element);
  return element;
}

static std::string problemOf(const char *name, const Layout &m) {
  Element element;
  std::string who = std::string("matrix ") + name + ": ";
  if (!elementOf(m.type, element))
    return who + "type " + std::to_string(m.type) + " is not supported";
  if (m.order != Columns && m.order != Rows)
    return who + "order " + std::to_string(m.order) + " is not supported";
  uint64_t least = m.order == Columns ? m.rows : m.cols;
  if (m.ld < static_cast<int64_t>(least))
    return who + "leading dimension " + std::to_string(m.ld) + ", needed are " +
           std::to_string(least);
  return "";
}

std::string cudaemu::problem(const Product &p) {
  for (auto [name, layout] :
       {std::pair{"A", &p.a}, {"B", &p.b}, {"C", &p.c}, {"D", &p.d}})
    if (std::string wrong = problemOf(name, *layout); !wrong.empty())
      return wrong;
  bool ta = p.matmul.transA != None, tb = p.matmul.transB != None;
  uint64_t m = ta ? p.a.cols : p.a.rows, k = ta ? p.a.rows : p.a.cols;
  uint64_t kb = tb ? p.b.cols : p.b.rows, n = tb ? p.b.rows : p.b.cols;
  auto shape = [](uint64_t r, uint64_t c) {
    return std::to_string(r) + " x " + std::to_string(c);
  };
  if (k != kb || p.d.rows != m || p.d.cols != n || p.c.rows != m ||
      p.c.cols != n)
    return "op(A) is " + shape(m, k) + ", op(B) " + shape(kb, n) + ", C " +
           shape(p.c.rows, p.c.cols) + ", D " + shape(p.d.rows, p.d.cols);
  if (p.a.type != p.b.type)
    return "A and B have different types";
  if (p.matmul.transC != None)
    return "op(C) is not supported";
  for (const Layout *other : {&p.b, &p.c, &p.d})
    if (other->batchCount != p.a.batchCount)
      return "the matrices have different numbers of batches";
  int compute = p.matmul.computeType;
  bool known = compute == Compute32F || compute == Compute32FPedantic ||
               compute == Compute32FFastTF32 || compute == Compute32FFast16F ||
               compute == Compute32FFast16BF;
  if (!known || p.matmul.scaleType != R32F)
    return "compute type " + std::to_string(compute) + " with scale type " +
           std::to_string(p.matmul.scaleType) + " is not supported";
  return problemOfEpilogue(p);
}

/// The matrix of a batch, row after row.
static std::vector<float> take(Context &context, const Work &work,
                               const Layout &layout, uint64_t address,
                               int batch) {
  Element element = elementOf(layout.type);
  size_t bytes = bytesOf(element), rows = layout.rows, cols = layout.cols;
  address += static_cast<uint64_t>(batch * layout.batchOffset) * bytes;
  std::vector<float> made(rows * cols);
  if (layout.order == Rows) {
    for (size_t r = 0; r < rows; ++r)
      load(context, work, address + r * layout.ld * bytes, element, cols,
           made.data() + r * cols);
    return made;
  }
  std::vector<float> column(rows);
  for (size_t c = 0; c < cols; ++c) {
    load(context, work, address + c * layout.ld * bytes, element, rows,
         column.data());
    for (size_t r = 0; r < rows; ++r)
      made[r * cols + c] = column[r];
  }
  return made;
}

static void put(Context &context, const Work &work, const Layout &layout,
                uint64_t address, int batch, const std::vector<float> &from) {
  Element element = elementOf(layout.type);
  size_t bytes = bytesOf(element), rows = layout.rows, cols = layout.cols;
  address += static_cast<uint64_t>(batch * layout.batchOffset) * bytes;
  if (layout.order == Rows) {
    for (size_t r = 0; r < rows; ++r)
      store(context, work, address + r * layout.ld * bytes, element, cols,
            from.data() + r * cols);
    return;
  }
  std::vector<float> column(rows);
  for (size_t c = 0; c < cols; ++c) {
    for (size_t r = 0; r < rows; ++r)
      column[r] = from[r * cols + c];
    store(context, work, address + c * layout.ld * bytes, element, rows,
          column.data());
  }
}

static std::vector<float> transposed(const std::vector<float> &from,
                                     size_t rows, size_t cols) {
  std::vector<float> made(from.size());
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < cols; ++c)
      made[c * rows + r] = from[r * cols + c];
  return made;
}

/// op(X), rounded to tf32 where that is the type to compute in.
static std::vector<float> operand(const Product &p, Context &context,
                                  const Work &work, bool isA, int batch) {
  const Layout &layout = isA ? p.a : p.b;
  std::vector<float> made =
      take(context, work, layout, isA ? p.addressA : p.addressB, batch);
  if ((isA ? p.matmul.transA : p.matmul.transB) != None)
    made = transposed(made, layout.rows, layout.cols);
  if (p.matmul.computeType == Compute32FFastTF32 && layout.type == R32F)
    for (float &value : made)
      value = roundToTf32(value);
  return made;
}

void cudaemu::run(const Product &p, Context &context, Work &work) {
  float alpha = p.alpha, beta = p.beta;
  if (p.matmul.pointerMode == DevicePointer) {
    load(context, work, p.alphaAt, Element::F32, 1, &alpha);
    load(context, work, p.betaAt, Element::F32, 1, &beta);
  }
  // A real product may leave anything there.
  if (p.workspaceBytes)
    std::memset(context.write(work, p.workspace, p.workspaceBytes), 0xff,
                p.workspaceBytes);
  size_t m = p.d.rows, n = p.d.cols;
  size_t k = p.matmul.transA == None ? p.a.cols : p.a.rows;
  for (int batch = 0; batch < p.a.batchCount; ++batch) {
    std::vector<float> a = operand(p, context, work, true, batch);
    std::vector<float> b = operand(p, context, work, false, batch);
    std::vector<float> result(m * n);
    multiply(m, n, k, a.data(), b.data(), result.data());
    for (float &value : result)
      value *= alpha;
    if (beta != 0) {
      std::vector<float> c = take(context, work, p.c, p.addressC, batch);
      for (size_t i = 0; i < result.size(); ++i)
        result[i] += beta * c[i];
    }
    applyEpilogue(p, context, work, batch, a, b, result);
    put(context, work, p.d, p.addressD, batch, result);
  }
}
