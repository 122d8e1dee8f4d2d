//===- Grouping.h - which ops of a block run as one kernel ----------------===//
//
// Decides, in program order and without touching the IR. The rules:
//   * matmul, conv: a dot or conv takes the chain of ops behind it while each
//     result has one use: unary gelu_erf, gelu_tanh, relu, sigmoid, tanh, silu;
//     binary add and mul with any other operand; for dots reshapes and
//     transposes in between. A transposed convolution stays alone.
//   * attention: alone.
//   * conv_weight_grad: alone.
//   * row: norm, softmax, cross_entropy and gradients take the elementwise ops
//     that make their first operand (of the gradient of a norm, the first two),
//     also when others use these too (they become results of the kernel), and
//     the chain of single uses behind them.
//   * reduce: a reduce takes the elementwise ops that only it uses, and the
//     chain of single uses behind it.
//   * loop: an elementwise op joins the loops that make its operands if the
//     shapes are equal. iota, gather, take_shard may start such a group. A
//     concat or pad takes the loops that only it uses, and nothing follows it.
//     A resize, pool, cumulate, top_k, scatter or gradient of a pool or gather
//     is alone.
//
// A group stands where its last op stood, its anchor. Every value must be made
// by a group with a smaller anchor than those that use it, seen through views;
// a group grows only while this holds. So no group waits for itself, and
// collectives do not move.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_FUSE_GROUPING_H
#define CLEAVE_PASSES_FUSE_GROUPING_H

#include "ir/Cleave.h"
#include "mlir/IR/Block.h"

namespace cleave {

/// Operations after a product that a library call can do.
inline constexpr int64_t MaxPostOps = 6;

struct Group {
  KernelKind kind;
  mlir::Operation *root; ///< names the kernel
  /// In program order; of views only those between a product and its post-ops.
  llvm::SmallVector<mlir::Operation *> ops;
  int64_t anchor = 0; ///< index of the last op
};

class Grouping {
public:
  explicit Grouping(mlir::Block &block);

  /// Groups all ops that need code. In order of the anchors.
  llvm::SmallVector<Group> run();

private:
  using Ops = llvm::SmallVector<mlir::Operation *>;

  void groupProduct(mlir::Operation *op);
  void groupRow(mlir::Operation *op);
  void groupReduce(ReduceOp op);
  void groupLoop(mlir::Operation *op);

  void
  addChain(Group &group,
           llvm::function_ref<bool(mlir::Operation *, mlir::Value)> accepts,
           int64_t limit, bool throughViews);
  void addProducers(Group &group, mlir::Value value, bool onlyOwn);
  bool isFreeElementwise(mlir::Operation *op, llvm::ArrayRef<int64_t> shape);

  /// Adds the ops if the group may stand at its new anchor.
  bool tryAdd(Group &group, llvm::ArrayRef<mlir::Operation *> ops);
  bool canStandAt(llvm::ArrayRef<mlir::Operation *> ops, int64_t anchor);
  int64_t getAnchor(mlir::Operation *op);
  /// Users outside of views, as ops of the block.
  void findUsers(mlir::Operation *op,
                 llvm::SmallVectorImpl<mlir::Operation *> &users);
  Group &makeGroup(KernelKind kind, mlir::Operation *root);
  /// The group that holds `op`, or null.
  Group *findGroup(mlir::Operation *op);
  void absorb(Group &group, Group &other);

  mlir::Block &block;
  llvm::DenseMap<mlir::Operation *, int64_t> index;
  llvm::DenseMap<mlir::Operation *, Group *> groupOf;
  std::vector<std::unique_ptr<Group>> groups;
};

/// Whether the op only describes its operand's memory in another way.
bool isView(mlir::Operation *op);

/// Whether the op must be in a kernel.
bool needsCode(mlir::Operation *op);

} // namespace cleave

#endif
