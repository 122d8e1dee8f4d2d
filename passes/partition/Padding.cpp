//===- Padding.cpp - what the padding of uneven shards holds --------------===//

#include "passes/partition/Padding.h"

#include "passes/partition/LocalBuilder.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace cleave;
using namespace mlir;

PaddingFacts cleave::getZeroPadded(RankedTensorType type, bool isFinite) {
  PaddingFacts facts;
  facts.dims.assign(type.getRank(), Padding::Zero);
  facts.isFinite = isFinite;
  return facts;
}

//===-- What results hold -------------------------------------------------===//

namespace {

/// What the operands hold in the padding of one factor; none where an operand
/// lacks the factor, so that its valid elements meet the others' padding.
using States = ArrayRef<std::optional<Padding>>;

bool allAtLeast(States states, Padding least) {
  return llvm::all_of(states, [&](std::optional<Padding> state) {
    return state && *state >= least;
  });
}

/// The least that is known of any operand.
Padding getLeast(States states) {
  return allAtLeast(states, Padding::Zero)     ? Padding::Zero
         : allAtLeast(states, Padding::Finite) ? Padding::Finite
                                               : Padding::Unknown;
}

/// Zero if a factor is zero and the others finite. Operands that lack the
/// factor count as finite: what they spoil, they spoil in the valid elements
/// too.
Padding getProduct(States states) {
  bool anyZero = false;
  for (std::optional<Padding> state : states) {
    if (state && *state == Padding::Unknown)
      return Padding::Unknown;
    anyZero |= state && *state == Padding::Zero;
  }
  return anyZero ? Padding::Zero : Padding::Finite;
}

bool keepsFinite(UnaryKind kind) {
  switch (kind) {
  case UnaryKind::Exp:
  case UnaryKind::Log:
  case UnaryKind::Sqrt:
  case UnaryKind::Rsqrt:
  case UnaryKind::Reciprocal:
  case UnaryKind::Asin:
  case UnaryKind::Acos:
  case UnaryKind::Sinh:
  case UnaryKind::Cosh:
  case UnaryKind::Acosh:
  case UnaryKind::Atanh:
    return false;
  default:
    return true;
  }
}

/// The constant that `value` repeats, if it is a splat.
std::optional<double> getSplat(Value value) {
  while (auto view = value.getDefiningOp<BroadcastOp>())
    value = view.getX();
  auto constant = value.getDefiningOp<ConstantOp>();
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue())
                        : DenseElementsAttr();
  if (!dense || !dense.isSplat())
    return std::nullopt;
  if (isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APFloat>().convertToDouble();
  return dense.getSplatValue<APInt>().signedRoundToDouble();
}

Padding getUnaryPadding(UnaryOp op, States states) {
  if (states[0] == Padding::Zero && getInfo(op.getKind()).keepsZero)
    return Padding::Zero;
  bool finite = states[0] && *states[0] >= Padding::Finite;
  return finite && keepsFinite(op.getKind()) ? Padding::Finite
                                             : Padding::Unknown;
}

Padding getBinaryPadding(BinaryOp op, States states) {
  switch (op.getKind()) {
  case BinaryKind::Add:
  case BinaryKind::Sub:
  case BinaryKind::Max:
  case BinaryKind::Min:
  case BinaryKind::Or:
  case BinaryKind::Xor:
  case BinaryKind::ShiftLeft:
  case BinaryKind::ShiftRight:
    return getLeast(states);
  case BinaryKind::Mul:
  case BinaryKind::And:
    return getProduct(states);
  case BinaryKind::Div: {
    std::optional<double> divisor = getSplat(op.getRhs());
    return divisor && *divisor != 0 ? states[0].value_or(Padding::Unknown)
                                    : Padding::Unknown;
  }
  default:
    return Padding::Unknown;
  }
}

Padding getNormPadding(NormOp op, States states) {
  if (!states[0] || *states[0] == Padding::Unknown)
    return Padding::Unknown;
  return *states[0] == Padding::Zero && !op.getBias() ? Padding::Zero
                                                      : Padding::Finite;
}

/// A row of zeros has equal weights for all keys, so it gives the mean of v.
Padding getAttentionPadding(AttentionOp op, States states) {
  Padding product = getProduct(states);
  bool valuesAreZero = states[2] == Padding::Zero;
  return product == Padding::Zero && !valuesAreZero ? Padding::Finite : product;
}

/// The result in the padding of a factor of which `states` tell.
Padding getResultPadding(Operation *op, States states,
                         ArrayRef<PaddingFacts> operands) {
  return TypeSwitch<Operation *, Padding>(op)
      .Case<UnaryOp>([&](auto unary) { return getUnaryPadding(unary, states); })
      .Case<BinaryOp>(
          [&](auto binary) { return getBinaryPadding(binary, states); })
      .Case<SelectOp>([&](auto) { return getLeast(states.drop_front()); })
      .Case<NormOp>([&](auto norm) { return getNormPadding(norm, states); })
      .Case<AttentionOp>([&](auto attention) {
        return getAttentionPadding(attention, states);
      })
      .Case<DotOp, ConvOp, ConvWeightGradOp>(
          [&](auto) { return getProduct(states); })
      .Case<BroadcastOp>([&](auto) {
        return states[0]              ? *states[0]
               : operands[0].isFinite ? Padding::Finite
                                      : Padding::Unknown;
      })
      .Case<PadOp>([&](PadOp pad) {
        return pad.getValue().isZero()
                   ? getLeast(states)
                   : std::min(getLeast(states), Padding::Finite);
      })
      .Case<CastOp, ReshapeOp, TransposeOp, SliceOp, ConcatOp, ReduceOp,
            PoolOp>([&](auto) { return getLeast(states); })
      .Case<PoolGradOp, GatherGradOp>(
          [&](auto) { return states[0].value_or(Padding::Unknown); })
      .Case<CumulateOp>([&](CumulateOp cumulate) {
        return cumulate.getKind() == ReduceKind::Sum ? getLeast(states)
                                                     : Padding::Unknown;
      })
      .Case<ScatterOp>([&](auto) {
        std::optional<Padding> values[] = {states[0], states[2]};
        return getLeast(values);
      })
      .Case<SoftmaxOp, CrossEntropyOp>([&](auto) {
        return states[0] && *states[0] >= Padding::Finite ? Padding::Finite
                                                          : Padding::Unknown;
      })
      .Case<CrossEntropyGradOp>([&](auto) {
        std::optional<Padding> product[] = {states[0], states[2]};
        return states[2] == Padding::Zero
                   ? getProduct(product)
                   : std::min(getProduct(product), Padding::Finite);
      })
      .Case<IotaOp>([&](auto) { return Padding::Finite; })
      .Case<GatherOp>([&](auto) {
        if (states[0])
          return *states[0];
        return operands[0].isFinite ? Padding::Finite : Padding::Unknown;
      })
      .Default([](Operation *) { return Padding::Unknown; });
}

/// Whether finite operands give finite results.
bool keepsFinite(Operation *op) {
  if (auto unary = dyn_cast<UnaryOp>(op))
    return keepsFinite(unary.getKind());
  if (auto binary = dyn_cast<BinaryOp>(op)) {
    BinaryKind kind = binary.getKind();
    return kind != BinaryKind::Div && kind != BinaryKind::Mod &&
           kind != BinaryKind::Pow;
  }
  return isa<CastOp, SelectOp, ReshapeOp, TransposeOp, BroadcastOp, SliceOp,
             PadOp, ConcatOp, DotOp, ConvOp, ConvWeightGradOp, NormOp,
             NormGradOp, GatherOp, GatherGradOp, AttentionOp, AttentionGradOp,
             IotaOp, PoolOp, PoolGradOp, ScatterOp>(op);
}

bool isFiniteConstant(ConstantOp op) {
  auto dense = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!dense || !isa<FloatType>(dense.getElementType()))
    return static_cast<bool>(dense);
  return llvm::all_of(dense.getValues<APFloat>(),
                      [](const APFloat &value) { return value.isFinite(); });
}

/// Dim of a tensor whose major factor is `factor`; -1 if it lacks the factor.
int64_t findDim(const ShardingRule &rule, const TensorFactors &tensor,
                int64_t factor) {
  return std::max<int64_t>(
      -1, ShardingRule::findMajor(tensor, factor, rule.factors));
}

SmallVector<std::optional<Padding>> getStates(const ShardingRule &rule,
                                              ArrayRef<PaddingFacts> operands,
                                              int64_t factor) {
  SmallVector<std::optional<Padding>> states;
  for (auto [tensor, facts] : llvm::zip(rule.operands, operands)) {
    int64_t dim = findDim(rule, tensor, factor);
    states.push_back(dim < 0 ? std::nullopt
                             : std::optional<Padding>(facts.dims[dim]));
  }
  return states;
}

PaddingFacts getConstantFacts(ConstantOp op) {
  RankedTensorType type = op.getType();
  PaddingFacts facts = getZeroPadded(type, isFiniteConstant(op));
  std::optional<double> splat = getSplat(op.getResult());
  if (splat && *splat != 0)
    facts.dims.assign(type.getRank(),
                      facts.isFinite ? Padding::Finite : Padding::Unknown);
  return facts;
}

} // namespace

SmallVector<PaddingFacts>
cleave::getPaddingFacts(Operation *op, const ShardingRule &rule,
                        ArrayRef<PaddingFacts> operands) {
  if (auto constant = dyn_cast<ConstantOp>(op))
    return {getConstantFacts(constant)};
  if (isa<LoadOp>(op))
    return {getZeroPadded(cast<RankedTensorType>(op->getResult(0).getType()),
                          /*isFinite=*/true)};
  bool isFinite =
      keepsFinite(op) && llvm::all_of(operands, [](const PaddingFacts &facts) {
        return facts.isFinite;
      });
  SmallVector<PaddingFacts> results;
  for (auto [tensor, value] : llvm::zip(rule.results, op->getResults())) {
    PaddingFacts facts;
    facts.isFinite =
        isFinite || isa<IntegerType>(getElementTypeOrSelf(value.getType()));
    for (const DimFactors &dim : tensor) {
      const auto *major = llvm::find_if(
          dim, [&](int64_t factor) { return rule.factors[factor].size != 1; });
      Padding padding = Padding::Zero; // a dim of size 1 has no padding
      if (major != dim.end())
        padding =
            getResultPadding(op, getStates(rule, operands, *major), operands);
      if (facts.isFinite)
        padding = std::max(padding, Padding::Finite);
      facts.dims.push_back(padding);
    }
    results.push_back(facts);
  }
  return results;
}

//===-- What operands must hold -------------------------------------------===//

namespace {

/// An operand dim of a reduced factor.
struct ReducedDim {
  int64_t operand;
  int64_t dim;
  Padding padding;
};

/// A sum of products is safe when one side is zero and the other finite: the
/// fewest masks that make it so. Weights, which are zero, come second in a dot.
void addProductNeeds(ArrayRef<ReducedDim> dims,
                     SmallVectorImpl<MaskNeed> &out) {
  bool anyZero = false;
  for (ReducedDim dim : dims) {
    if (dim.padding == Padding::Unknown)
      out.push_back({dim.operand, dim.dim, 0.0});
    anyZero |= dim.padding != Padding::Finite; // zero, or zero by its mask
  }
  if (!anyZero)
    out.push_back({dims.front().operand, dims.front().dim, 0.0});
}

/// Padding that would be read as something else than a number to work with:
/// indices that must exist, and integer divisors.
void addReadNeeds(Operation *op, ArrayRef<PaddingFacts> operands,
                  llvm::function_ref<bool(int64_t, int64_t)> isPadded,
                  SmallVectorImpl<MaskNeed> &out) {
  bool isIndex = isa<GatherOp, GatherGradOp, ScatterOp, CrossEntropyOp,
                     CrossEntropyGradOp>(op);
  auto binary = dyn_cast<BinaryOp>(op);
  bool isDivisor = binary &&
                   (binary.getKind() == BinaryKind::Div ||
                    binary.getKind() == BinaryKind::Mod) &&
                   isa<IntegerType>(getElementTypeOrSelf(binary.getType()));
  if (!isIndex && !isDivisor)
    return;
  for (auto [dim, padding] : llvm::enumerate(operands[1].dims))
    if (isPadded(1, dim) && (isDivisor || padding != Padding::Zero))
      out.push_back({1, static_cast<int64_t>(dim), isDivisor ? 1.0 : 0.0});
}

} // namespace

SmallVector<MaskNeed> cleave::getMaskNeeds(
    Operation *op, const ShardingRule &rule, ArrayRef<PaddingFacts> operands,
    llvm::function_ref<bool(int64_t operand, int64_t dim)> isPadded) {
  SmallVector<MaskNeed> needs;
  addReadNeeds(op, operands, isPadded, needs);
  for (auto [factor, info] : llvm::enumerate(rule.factors)) {
    if (info.kind != FactorKind::Reduction)
      continue;
    SmallVector<ReducedDim> dims;
    for (auto [index, tensor] : llvm::enumerate(rule.operands)) {
      int64_t dim = findDim(rule, tensor, factor);
      if (dim >= 0 && isPadded(index, dim))
        dims.push_back(
            {static_cast<int64_t>(index), dim, operands[index].dims[dim]});
    }
    if (dims.empty())
      continue;
    if (isa<DotOp, ConvOp, ConvWeightGradOp>(op)) {
      addProductNeeds(dims, needs);
      continue;
    }
    for (ReducedDim dim : dims) {
      Type element =
          getElementTypeOrSelf(op->getOperand(dim.operand).getType());
      bool holds =
          info.reduction == ReduceKind::Sum && dim.padding == Padding::Zero;
      bool isMasked = llvm::any_of(needs, [&](const MaskNeed &need) {
        return need.operand == dim.operand && need.dim == dim.dim;
      });
      if (!holds && !isMasked)
        needs.push_back(
            {dim.operand, dim.dim, getNeutralValue(info.reduction, element)});
    }
  }
  return needs;
}
