//===- ImportEinsum.cpp - products by an equation -------------------------===//
//
// Operands are multiplied one after the other; letters that nothing later has
// are summed on the way. The dims of an ellipsis have labels of their own: '0'
// for the last, '1' for the one before it.
//
//===----------------------------------------------------------------------===//

#include "frontend/NodeContext.h"
#include "frontend/OperatorTable.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace cleave;
using namespace mlir;

namespace {
/// A value and the label of each of its dims.
struct Labelled {
  Value value;
  std::string labels;
};

/// Operands, and the labels of the result.
struct Equation {
  SmallVector<Labelled> terms;
  std::string result;
};
} // namespace

//===-- Equation ----------------------------------------------------------===//

static std::string getEllipsis(int64_t count) {
  std::string labels;
  while (count-- > 0)
    labels += static_cast<char>('0' + count);
  return labels;
}

/// Puts the labels of `count` dims in place of the ellipsis, if there is one.
static std::string expand(StringRef term, int64_t count) {
  auto [before, after] = term.split("...");
  return term.contains("...") ? (before + getEllipsis(count) + after).str()
                              : term.str();
}

/// The result without an arrow: the ellipsis, then the letters that occur once,
/// in alphabetical order.
static std::string getDefaultResult(StringRef left) {
  std::string result = left.contains("...") ? "..." : "";
  for (char label = 'A'; label <= 'z'; ++label)
    if (llvm::isAlpha(label) && left.count(label) == 1)
      result += label;
  return result;
}

/// Splits "ij,...jk->...ik".
static FailureOr<Equation> parseEquation(NodeContext &node,
                                         ArrayRef<Value> values) {
  std::string text = node.getString("equation", "");
  llvm::erase(text, ' ');
  auto [left, right] = StringRef(text).split("->");
  std::string result =
      StringRef(text).contains("->") ? right.str() : getDefaultResult(left);
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  if (parts.size() != values.size())
    return node.emitError()
           << "equation '" << text << "' of Einsum has " << parts.size()
           << " terms for " << values.size() << " operands";
  Equation equation;
  int64_t widest = 0;
  for (auto [i, part] : llvm::enumerate(parts)) {
    int64_t rank = getShape(values[i]).size();
    int64_t count = part.contains("...") ? rank + 3 - part.size() : 0;
    std::string labels = expand(part, count);
    if (static_cast<int64_t>(labels.size()) != rank)
      return node.emitError() << "term '" << part << "' of Einsum does not fit "
                              << node.describe(i);
    widest = std::max(widest, count);
    equation.terms.push_back({values[i], labels});
  }
  equation.result = expand(result, widest);
  std::string all = equation.result;
  for (const Labelled &term : equation.terms)
    all += term.labels;
  auto isLabel = [&](char label) {
    return llvm::isAlpha(label) || (label >= '0' && label < '0' + widest);
  };
  auto isOnce = [&](char label) {
    return StringRef(equation.result).count(label) == 1;
  };
  bool isShort = widest > 0 && !StringRef(result).contains("...");
  if (isShort || !llvm::all_of(all, isLabel) ||
      !llvm::all_of(equation.result, isOnce))
    return node.emitError()
           << "equation '" << text
           << "' of Einsum is not supported: expected letters "
              "and one ellipsis a term, each once in the result";
  return equation;
}

/// Drops dims of size 1 of an ellipsis that are larger in another term.
static void dropUnitDims(NodeContext &node, Equation &equation) {
  auto getSize = [](const Labelled &term, size_t at) {
    return getShape(term.value)[at];
  };
  for (Labelled &term : equation.terms)
    for (size_t i = term.labels.size(); i-- > 0;) {
      char label = term.labels[i];
      bool isWider = llvm::any_of(equation.terms, [&](const Labelled &other) {
        size_t at = other.labels.find(label);
        return at != std::string::npos && getSize(other, at) != 1;
      });
      if (llvm::isAlpha(label) || getSize(term, i) != 1 || !isWider)
        continue;
      Shape shape(getShape(term.value));
      shape.erase(shape.begin() + i);
      term.value = node.reshape(term.value, shape);
      term.labels.erase(i, 1);
    }
}

/// A letter that comes twice in a term takes the diagonal: the sum over the
/// second dim where both indices agree.
static Labelled takeDiagonals(NodeContext &node, Labelled x) {
  for (size_t second = x.labels.size(); x.value && second-- > 0;) {
    size_t first = x.labels.find(x.labels[second]);
    if (first == second)
      continue;
    ArrayRef<int64_t> shape = getShape(x.value);
    if (shape[first] != shape[second]) {
      node.emitError()
          << "shapes conflict: Einsum takes the diagonal of dims of "
             "sizes "
          << shape[first] << " and " << shape[second];
      return {};
    }
    auto type = RankedTensorType::get(shape, node.getBuilder().getI64Type());
    Value isSame = node.compare(CompareKind::Eq, node.iota(type, first),
                                node.iota(type, second));
    Value masked = node.select(isSame, x.value, node.splat(x.value, 0.0));
    x.value =
        node.reduce(ReduceKind::Sum, masked, static_cast<int64_t>(second));
    x.labels.erase(second, 1);
  }
  return x;
}

//===-- Products ----------------------------------------------------------===//

static int64_t findLabel(const Labelled &x, char label) {
  return static_cast<int64_t>(x.labels.find(label));
}

/// Sums away the letters that nothing else has.
static Labelled sumUnused(NodeContext &node, Labelled x, StringRef others) {
  Labelled result;
  Shape dims;
  for (auto [i, label] : llvm::enumerate(x.labels)) {
    if (others.contains(label))
      result.labels += label;
    else
      dims.push_back(i);
  }
  result.value = node.reduce(ReduceKind::Sum, x.value, dims);
  return result;
}

/// Letters in both and in `kept` are batch dims, others in both are contracted.
static Labelled multiplyLabelled(NodeContext &node, const Labelled &x,
                                 const Labelled &y, StringRef kept) {
  Shape xBatch, yBatch, xContract, yContract;
  std::string batch, xFree, yFree;
  for (char label : x.labels) {
    bool isShared = StringRef(y.labels).contains(label);
    if (!isShared) {
      xFree += label;
      continue;
    }
    bool isBatch = kept.contains(label);
    (isBatch ? xBatch : xContract).push_back(findLabel(x, label));
    (isBatch ? yBatch : yContract).push_back(findLabel(y, label));
    if (isBatch)
      batch += label;
  }
  for (char label : y.labels)
    if (!StringRef(x.labels).contains(label))
      yFree += label;
  return {node.dot(x.value, y.value, xBatch, yBatch, xContract, yContract),
          batch + xFree + yFree};
}

static LogicalResult importEinsum(NodeContext &node) {
  SmallVector<Value> values = node.getOperands();
  if (values.empty())
    return failure();
  FailureOr<Equation> equation = parseEquation(node, values);
  if (failed(equation))
    return failure();
  dropUnitDims(node, *equation);
  Labelled result;
  for (auto [i, term] : llvm::enumerate(equation->terms)) {
    std::string others = equation->result; // Labels of what comes after, too.
    for (size_t j = i + 1; j < equation->terms.size(); ++j)
      others += equation->terms[j].labels;
    Labelled next = takeDiagonals(node, term);
    if (!next.value)
      return failure();
    next = sumUnused(node, next, others + result.labels);
    result = i ? multiplyLabelled(node, result, next, others) : next;
    if (!result.value)
      return failure();
  }
  Shape perm;
  for (char label : equation->result)
    perm.push_back(findLabel(result, label));
  if (perm.size() != result.labels.size() || llvm::is_contained(perm, -1))
    return node.emitError() << "result '" << equation->result
                            << "' of Einsum has a letter that no term has";
  return node.setResults(node.transpose(result.value, perm));
}

void cleave::registerEinsum(OperatorTable &table) {
  table.onOp("", "Einsum", 12, importEinsum);
}
