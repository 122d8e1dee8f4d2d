//===- Probes.cpp - writes the modules of the probes ----------------------===//

#include "tools/cleave/Probes.h"

#include "llvm/Support/FormatVariadic.h"

#include <random>
#include <vector>

using namespace cleave;

namespace {

/// A float tensor of a module that is being written.
struct Matrix {
  std::string name;
  int64_t rows, columns;

  std::string getType() const {
    return llvm::formatv("tensor<{0}x{1}xf32>", rows, columns);
  }
};

/// Writes a function of x, op by op. Names of ops are those of the results.
class ModuleWriter {
public:
  ModuleWriter(int64_t rows, int64_t columns) : x{"x", rows, columns} {}

  Matrix getInput() const { return x; }
  Matrix addParam(int64_t rows, int64_t columns);
  Matrix addDot(const Matrix &a, const Matrix &b);
  Matrix addUnary(const char *kind, const Matrix &a);
  Matrix addNorm(const Matrix &a);
  /// A row of `table` for each row of a, drawn by a fixed seed: the first
  /// column of a, rounded, is added to the number of the row, so that what is
  /// read depends on a.
  Matrix addRows(const Matrix &table, const Matrix &a);
  /// The first columns of a.
  Matrix addSlice(const Matrix &a, int64_t columns);
  std::string finish(const Matrix &result) const;

private:
  Matrix make(const char *letter, int64_t rows, int64_t columns) {
    return {letter + std::to_string(count++), rows, columns};
  }

  Matrix x;
  int64_t count = 0;
  std::string params, body;
};

} // namespace

Matrix ModuleWriter::addParam(int64_t rows, int64_t columns) {
  Matrix w = make("w", rows, columns);
  params += llvm::formatv("cleave.param @{0} : {1} = dense<0.01> : {1}\n",
                          w.name, w.getType());
  body +=
      llvm::formatv("  %{0} = cleave.load @{0} : {1}\n", w.name, w.getType());
  return w;
}

Matrix ModuleWriter::addDot(const Matrix &a, const Matrix &b) {
  Matrix y = make("h", a.rows, b.columns);
  body += llvm::formatv(
      "  %{0} = cleave.dot %{1}, %{2} {{lhs_batch = array<i64>, rhs_batch = "
      "array<i64>, lhs_contract = array<i64: 1>, rhs_contract = array<i64: 0>} "
      ": ({3}, {4}) -> {5} loc(\"{0}\")\n",
      y.name, a.name, b.name, a.getType(), b.getType(), y.getType());
  return y;
}

Matrix ModuleWriter::addUnary(const char *kind, const Matrix &a) {
  Matrix y = make("u", a.rows, a.columns);
  body += llvm::formatv("  %{0} = cleave.unary {1} %{2} : {3} loc(\"{0}\")\n",
                        y.name, kind, a.name, a.getType());
  return y;
}

Matrix ModuleWriter::addNorm(const Matrix &a) {
  Matrix y = make("n", a.rows, a.columns);
  body += llvm::formatv(
      "  %{0} = cleave.norm rms %{1} {{axis = 1 : i64, epsilon = 1.0e-6 : f64, "
      "operandSegmentSizes = array<i32: 1, 0, 0>} : ({2}) -> {2} "
      "loc(\"{0}\")\n",
      y.name, a.name, a.getType());
  return y;
}

Matrix ModuleWriter::addSlice(const Matrix &a, int64_t columns) {
  Matrix y = make("s", a.rows, columns);
  body += llvm::formatv(
      "  %{0} = cleave.slice %{1} {{starts = array<i64: 0, 0>, sizes = "
      "array<i64: {2}, {3}>, strides = array<i64: 1, 1>} : ({4}) -> {5} "
      "loc(\"{0}\")\n",
      y.name, a.name, y.rows, columns, a.getType(), y.getType());
  return y;
}

Matrix ModuleWriter::addRows(const Matrix &table, const Matrix &a) {
  Matrix first = addSlice(a, 1), y = make("g", a.rows, table.columns);
  std::minstd_rand random(1);
  std::string drawn;
  for (int64_t i = 0; i < a.rows; ++i)
    drawn += (i == 0 ? "" : ", ") + std::to_string(random() % table.rows);
  body += llvm::formatv(
      "  %{0}f = cleave.reshape %{1} : ({2}) -> tensor<{3}xf32> loc(\"{0}f\")\n"
      "  %{0}i = cleave.cast %{0}f : (tensor<{3}xf32>) -> tensor<{3}xi64> "
      "loc(\"{0}i\")\n"
      "  %{0}c = cleave.constant dense<[{4}]> : tensor<{3}xi64>\n"
      "  %{0}s = cleave.binary add %{0}i, %{0}c : tensor<{3}xi64> "
      "loc(\"{0}s\")\n",
      y.name, first.name, first.getType(), a.rows, drawn);
  body +=
      llvm::formatv("  %{0} = cleave.gather %{1}, %{0}s {{dim = 0 : i64} : "
                    "({2}, tensor<{3}xi64>) -> {4} loc(\"{0}\")\n",
                    y.name, table.name, table.getType(), a.rows, y.getType());
  return y;
}

std::string ModuleWriter::finish(const Matrix &result) const {
  return llvm::formatv("{0}func.func @main(%x: {1} {{cleave.name = \"x\"}) -> "
                       "({2} {{cleave.name "
                       "= \"y\"}) {{\n{3}  return %{4} : {2}\n}\n",
                       params, x.getType(), result.getType(), body,
                       result.name);
}

/// A plan that leaves all but the sizes to the search.
static std::string makePlan(const char *axis, int64_t ranks,
                            const std::string &rest = "") {
  return llvm::formatv(
      "{{\"version\": 1, \"axes\": {{\"{0}\": {1}}, \"stages\": [{{}]{2}}\n",
      axis, ranks, rest);
}

static Probe makeProbe(const std::string &what, int64_t ranks,
                       const ModuleWriter &writer, const Matrix &result,
                       double amount) {
  Matrix x = writer.getInput();
  std::string module = writer.finish(result), plan = makePlan("dp", ranks);
  return {what, module, plan, ranks, x.rows, x.columns, amount};
}

Probe cleave::makeProducts(int64_t ranks) {
  constexpr int64_t kRows = 256, kSize = 512, kCount = 4;
  ModuleWriter writer(ranks * kRows, kSize);
  Matrix y = writer.getInput();
  for (int64_t i = 0; i < kCount; ++i)
    y = writer.addDot(y, writer.addParam(kSize, kSize));
  y = writer.addSlice(y, 1);
  return makeProbe("4 products of 256 x 512 by 512 x 512", ranks, writer, y,
                   2.0 * kCount * kRows * kSize * kSize);
}

Probe cleave::makeVectors(int64_t ranks) {
  // Operations an element, as the ops state them.
  constexpr double kGelu = 18, kNorm = 8;
  constexpr int64_t kRows = 256, kSize = 1024, kCount = 2;
  ModuleWriter writer(ranks * kRows, kSize);
  Matrix y = writer.getInput();
  for (int64_t i = 0; i < kCount; ++i)
    y = writer.addNorm(writer.addUnary("gelu_erf", y));
  y = writer.addSlice(y, 1);
  return makeProbe("twice gelu and norm of 256 x 1024", ranks, writer, y,
                   (kGelu + kNorm) * kCount * kRows * kSize);
}

Probe cleave::makeStream(int64_t ranks, int64_t kib) {
  constexpr int64_t kSize = 1024;
  int64_t rows = kib * 1024 / (sizeof(float) * kSize);
  ModuleWriter writer(ranks * rows, kSize);
  Matrix y = writer.addUnary("neg", writer.getInput());
  y = writer.addSlice(y, 1);
  std::string what = "y = -x of " + std::to_string(kib) + " KiB";
  return makeProbe(what, ranks, writer, y, 2.0 * sizeof(float) * rows * kSize);
}

Probe cleave::makeScattered(int64_t ranks) {
  constexpr int64_t kRows = 16384, kSize = 64, kTable = 262144;
  ModuleWriter writer(ranks * kRows, 1);
  Matrix y = writer.addRows(writer.addParam(kTable, kSize), writer.getInput());
  y = writer.addSlice(y, 1);
  return makeProbe("16384 rows of 256 B anywhere in 64 MiB", ranks, writer, y,
                   2.0 * sizeof(float) * kRows * kSize);
}

Probe cleave::makeStarts(int64_t ranks) {
  constexpr int64_t kSize = 16, kCount = 64;
  ModuleWriter writer(ranks, kSize);
  Matrix y = writer.getInput();
  for (int64_t i = 0; i < kCount; ++i)
    y = writer.addDot(writer.addNorm(y), writer.addParam(kSize, kSize));
  y = writer.addSlice(y, 1);
  return makeProbe("64 norms and 64 products of 16 floats", ranks, writer, y,
                   2.0 * kCount);
}

Probe cleave::makeReductions(int64_t ranks, int64_t rows, int64_t columns) {
  constexpr int64_t kShare = 8, kCount = 4; // of the contracted dim; products
  int64_t contracted = kShare * ranks;
  ModuleWriter writer(rows, contracted);
  Matrix y = writer.getInput();
  std::string weights, slices;
  for (int64_t i = 0; i < kCount; ++i) {
    Matrix w = writer.addParam(contracted, columns);
    y = writer.addSlice(writer.addDot(y, w), contracted);
    const char *comma = i == 0 ? "" : ", ";
    weights += llvm::formatv("{0}\"{1}\": \"tp,-\"", comma, w.name);
    slices += llvm::formatv("{0}\"{1}\": \"-,-\"", comma, y.name);
  }
  Probe probe = makeProbe("4 all-reduces", ranks, writer, y, kCount);
  probe.plan =
      makePlan("tp", ranks,
               llvm::formatv(", \"params\": {{{0}}, \"values\": {{{1}}",
                             weights, slices));
  return probe;
}
