//===- Origins.cpp - which nodes make the values of a graph ---------------===//

#include "frontend/Origins.h"

#include "ir/Cleave.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"

using namespace cleave;
using namespace mlir;

static bool isComputed(Value value) {
  Operation *op = value ? value.getDefiningOp() : nullptr;
  return op && !isa<ConstantOp, LoadOp>(op);
}

llvm::StringMap<Origin>
cleave::findOrigins(const onnx::GraphProto &graph,
                    const llvm::StringMap<Value> &values) {
  llvm::StringMap<Origin> origins;
  int64_t position = 0;
  for (const onnx::NodeProto &node : graph.node()) {
    size_t before = origins.size();
    for (const std::string &output : node.output())
      if (isComputed(values.lookup(output)))
        origins[output] = {getNodeName(node), node.op_type(), position, false};
    position += origins.size() > before;
  }
  return origins;
}

/// Names may hold what is special in globs.
static bool matches(StringRef pattern, const llvm::GlobPattern &glob,
                    StringRef name) {
  return pattern == name || glob.match(name);
}

/// Adds the names that one pattern matches.
static LogicalResult addKept(Location loc, StringRef pattern,
                             const llvm::StringMap<Origin> &origins,
                             llvm::StringSet<> &kept) {
  llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(pattern);
  if (!glob)
    return emitError(loc) << "--keep '" << pattern
                          << "': " << llvm::toString(glob.takeError());
  bool isFound = false;
  for (StringRef name : origins.keys()) {
    if (!matches(pattern, *glob, name))
      continue;
    isFound = true;
    kept.insert(name);
  }
  if (isFound)
    return success();
  return emitError(loc) << "--keep '" << pattern
                        << "' names no value that a node computes";
}

FailureOr<std::vector<std::string>>
cleave::findKept(Location loc, const onnx::GraphProto &graph,
                 const llvm::StringMap<Origin> &origins,
                 const std::vector<std::string> &patterns) {
  llvm::StringSet<> kept;
  for (const std::string &pattern : patterns)
    if (failed(addKept(loc, pattern, origins, kept)))
      return failure();
  for (const onnx::ValueInfoProto &output : graph.output())
    kept.erase(output.name());
  std::vector<std::string> names;
  for (const onnx::NodeProto &node : graph.node())
    for (const std::string &output : node.output())
      if (kept.contains(output))
        names.push_back(output);
  return names;
}
