//===- Epilogue.cpp - what follows a matrix product -----------------------===//
//
// The bias has an element for each row of D. The auxiliary matrix is column
// after column, with the leading dimension of the descriptor: what gelu is
// applied to, or for relu a bit for each element, set where it is positive.
//
//===----------------------------------------------------------------------===//

#include "cublaslt/Epilogue.h"

#include <cmath>

using namespace cudaemu;
using namespace cublaslt;

// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
static constexpr float root = 0.7978845608f, cubic = 0.044715f;

static float gelu(float x) {
  return 0.5f * x * (1 + std::tanh(root * (x + cubic * x * x * x)));
}

static float geluDerivative(float x) {
  float t = std::tanh(root * (x + cubic * x * x * x));
  return 0.5f * (1 + t) +
         0.5f * x * (1 - t * t) * root * (1 + 3 * cubic * x * x);
}

static Element typeOr(int type, int otherwise) {
  Element element = Element::F32;
  elementOf(type < 0 ? otherwise : type, element);
  return element;
}

std::string cudaemu::problemOfEpilogue(const Product &p) {
  uint32_t known = Default | Relu | Bias | DRelu | BiasGradient | Gelu | DGelu |
                   Aux | BiasGradientA | BiasGradientB;
  uint32_t e = p.matmul.epilogue;
  if (e & ~known)
    return "epilogue " + std::to_string(e) + " is not supported";
  bool needsBias = e & (Bias | BiasGradient | BiasGradientA | BiasGradientB);
  if (needsBias && !p.matmul.bias)
    return "epilogue " + std::to_string(e) + " needs a bias pointer";
  if (!(e & Aux))
    return "";
  if (!p.matmul.aux)
    return "epilogue " + std::to_string(e) + " needs an auxiliary pointer";
  bool isMask = e & (Relu | DRelu);
  if (p.matmul.auxLd < static_cast<int64_t>(p.d.rows) ||
      p.matmul.auxLd % (isMask ? 128 : 8) != 0)
    return "the auxiliary leading dimension " + std::to_string(p.matmul.auxLd) +
           " must be at least " + std::to_string(p.d.rows) +
           " and a multiple of " + (isMask ? "128" : "8");
  return "";
}

namespace {
/// The auxiliary matrix of a batch, as D is: row after row.
class Auxiliary {
public:
  Auxiliary(const Product &p, Context &context, const Work &work, int batch)
      : p(p), context(context), work(work),
        isMask(p.matmul.epilogue & (Relu | DRelu)),
        element(typeOr(p.matmul.auxType, p.d.type)) {
    int64_t first = batch * p.matmul.auxStride;
    address =
        p.matmul.aux +
        (isMask ? first / 8 : first * static_cast<int64_t>(bytesOf(element)));
  }
  std::vector<float> take();
  void put(const std::vector<float> &from);

private:
  uint64_t column(size_t c) const {
    size_t at = c * p.matmul.auxLd;
    return address + (isMask ? at / 8 : at * bytesOf(element));
  }
  const Product &p;
  Context &context;
  const Work &work;
  bool isMask;
  Element element;
  uint64_t address;
};
} // namespace

std::vector<float> Auxiliary::take() {
  size_t rows = p.d.rows, cols = p.d.cols;
  std::vector<float> made(rows * cols), values(rows);
  for (size_t c = 0; c < cols; ++c) {
    const char *bits =
        isMask ? context.read(work, column(c), (rows + 7) / 8) : nullptr;
    if (!isMask)
      load(context, work, column(c), element, rows, values.data());
    for (size_t r = 0; r < rows; ++r)
      made[r * cols + c] =
          isMask ? static_cast<float>(bits[r / 8] >> (r % 8) & 1) : values[r];
  }
  return made;
}

void Auxiliary::put(const std::vector<float> &from) {
  size_t rows = p.d.rows, cols = p.d.cols;
  std::vector<float> values(rows);
  for (size_t c = 0; c < cols; ++c) {
    for (size_t r = 0; r < rows; ++r)
      values[r] = from[r * cols + c];
    if (!isMask) {
      store(context, work, column(c), element, rows, values.data());
      continue;
    }
    char *bits = context.write(work, column(c), (rows + 7) / 8);
    std::fill_n(bits, (rows + 7) / 8, '\0');
    for (size_t r = 0; r < rows; ++r)
      bits[r / 8] |= static_cast<char>((values[r] > 0) << (r % 8));
  }
}

/// Sums of the rows of a matrix, or of its columns.
static std::vector<float> sums(const std::vector<float> &of, size_t rows,
                               size_t cols, bool ofRows) {
  std::vector<float> made(ofRows ? rows : cols);
  for (size_t r = 0; r < rows; ++r)
    for (size_t c = 0; c < cols; ++c)
      made[ofRows ? r : c] += of[r * cols + c];
  return made;
}

static void activate(uint32_t epilogue, std::vector<float> &result) {
  for (float &value : result) {
    if (epilogue & Relu)
      value = value > 0 ? value : 0;
    if (epilogue & Gelu)
      value = gelu(value);
  }
}

void cudaemu::applyEpilogue(const Product &p, Context &context,
                            const Work &work, int batch,
                            const std::vector<float> &a,
                            const std::vector<float> &b,
                            std::vector<float> &result) {
  uint32_t e = p.matmul.epilogue;
  size_t rows = p.d.rows, cols = p.d.cols;
  Element biasType = typeOr(p.matmul.biasType, p.d.type);
  uint64_t bias =
      p.matmul.bias + batch * p.matmul.biasStride * bytesOf(biasType);
  Auxiliary auxiliary(p, context, work, batch);
  if (e & Bias) {
    std::vector<float> values(rows);
    load(context, work, bias, biasType, rows, values.data());
    for (size_t i = 0; i < result.size(); ++i)
      result[i] += values[i / cols];
  }
  if (e & (Relu | Gelu)) {
    if (e & Aux)
      auxiliary.put(result);
    activate(e, result);
  }
  if (e & (DRelu | DGelu)) {
    std::vector<float> before = auxiliary.take();
    for (size_t i = 0; i < result.size(); ++i)
      result[i] *= e & DRelu ? before[i] : geluDerivative(before[i]);
  }
  std::vector<float> gradient;
  if (e & BiasGradient)
    gradient = sums(result, rows, cols, true);
  if (e & BiasGradientA)
    gradient = sums(a, rows, a.size() / rows, true);
  if (e & BiasGradientB)
    gradient = sums(b, b.size() / cols, cols, false);
  if (!gradient.empty())
    store(context, work, bias, biasType, gradient.size(), gradient.data());
}
