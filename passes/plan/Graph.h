//===- Graph.h - what the planner reads of a logical module ---------------===//
//
// Tensors (model inputs, parameters, results of ops) and nodes (ops with their
// sharding rule and work), numbered in program order. Loads are no nodes: a
// load's result is its parameter, so that all loads of one symbol share its
// state.
//
// Names are the user's: of inputs `cleave.name`, of parameters the symbol, of
// nodes the location. Nodes that share a name (one ONNX node became several
// ops) are told apart by "#1", "#2"; further results of a node by ":1", ":2".
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_PLAN_GRAPH_H
#define CLEAVE_PASSES_PLAN_GRAPH_H

#include "ir/Cleave.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace cleave::plan {

struct Tensor {
  enum Kind { Input, Param, Value };
  Kind kind;
  std::string name;      ///< unique within its kind
  std::string givenName; ///< as the user knows it
  mlir::RankedTensorType type;
  llvm::SmallVector<int64_t> trueShape; ///< Param: as the user knows it
  mlir::Value value;                    ///< Input, Value
  mutable ParamOp param;                ///< Param
  int64_t stage = 0; ///< of its producer, or of its first user
};

struct Node {
  mlir::Operation *op;
  std::string name;
  std::vector<std::string> givenNames; ///< all names of its location
  ShardingRule rule;
  Work work;
  llvm::SmallVector<size_t> operands, results; ///< tensors
  int64_t stage = 0;

  /// No operands: constants, which go where they are used.
  bool isSource() const { return operands.empty(); }
};

struct Store {
  StoreOp op;
  size_t value, param; ///< tensors
};

struct Graph {
  /// Handles: a constant graph may be asked for its operations.
  mutable mlir::ModuleOp module;
  mutable mlir::func::FuncOp main;
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;
  std::vector<Store> stores;
  std::vector<size_t> outputs; ///< tensors that the model returns

  /// Reads `@main`. An op that states no sharding rule is an error.
  static mlir::FailureOr<Graph> read(mlir::ModuleOp module);

  /// Nodes that read each tensor, each once.
  std::vector<std::vector<size_t>> getUsers() const;
};

} // namespace cleave::plan

#endif
