//===- GraphImporter.cpp - from a checked model to @main ------------------===//

#include "frontend/GraphImporter.h"

#include "frontend/Annotations.h"
#include "frontend/ElementTypes.h"
#include "frontend/NodeImporter.h"
#include "frontend/Origins.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"

using namespace cleave;
using namespace mlir;

//===-- Import ------------------------------------------------------------===//

namespace {

class GraphImporter {
public:
  GraphImporter(ModuleOp module, const LoadedModel &model,
                const OperatorTable &table, const DimSizes &sizes,
                const ImportOptions &options)
      : module(module), model(model), graph(model.proto.graph()), sizes(sizes),
        options(options), builder(module.getContext()),
        function(createFunction()),
        tensors(module, function, model, options.train),
        nodes(builder, model, table, tensors) {
    scope.opsets = model.opsets;
  }

  LogicalResult run() {
    if (failed(createArguments()))
      return failure();
    return success(mlir::succeeded(nodes.importNodes(graph, scope)) &&
                   mlir::succeeded(readAnnotations()) &&
                   mlir::succeeded(createReturn()));
  }

private:
  Location locate(StringRef name) { return nodes.locate(name); }

  //===-- Function --------------------------------------------------------===//

  func::FuncOp createFunction() {
    builder.setInsertionPointToEnd(module.getBody());
    auto type = builder.getFunctionType({}, {});
    Location loc = getFileLoc(module.getContext(), model.path);
    auto main = builder.create<func::FuncOp>(loc, "main", type);
    builder.setInsertionPointToEnd(main.addEntryBlock());
    return main;
  }

  LogicalResult createArguments() {
    bool succeeded = true;
    for (const onnx::ValueInfoProto *input : getTrueInputs(graph)) {
      RankedTensorType type = getInputType(*input);
      succeeded &= type != nullptr;
      if (!type)
        continue;
      unsigned index = function.getNumArguments();
      auto name = builder.getNamedAttr(NameAttrName,
                                       builder.getStringAttr(input->name()));
      function.insertArgument(index, type, builder.getDictionaryAttr(name),
                              locate(input->name()));
      scope.values[input->name()] = function.getArgument(index);
    }
    return success(succeeded);
  }

  RankedTensorType getInputType(const onnx::ValueInfoProto &input) {
    if (!input.type().has_tensor_type()) {
      emitError(locate(input.name()))
          << "input '" << input.name()
          << "' is no tensor, which is not supported";
      return nullptr;
    }
    const auto &tensor = input.type().tensor_type();
    Type element = getElementType(module.getContext(), tensor.elem_type());
    if (!element) {
      emitError(locate(input.name()))
          << "input '" << input.name() << "' has element type "
          << getTypeName(tensor.elem_type()) << ", which is not supported";
      return nullptr;
    }
    Shape shape;
    for (const auto &dim : tensor.shape().dim())
      shape.push_back(dim.dim_value());
    auto type = RankedTensorType::get(shape, element);
    return succeeded(verifyFitsMemory(locate(input.name()), type))
               ? type
               : RankedTensorType();
  }

  /// The model's outputs, then the values that are kept.
  LogicalResult createReturn() {
    SmallVector<Value> results;
    SmallVector<Attribute> attributes;
    llvm::StringMap<Origin> origins = findOrigins(graph, scope.values);
    for (const onnx::ValueInfoProto &output : graph.output()) {
      FailureOr<Value> value = nodes.lookup(output.name(), scope);
      if (failed(value) || failed(verifyOutput(output, *value)))
        return failure();
      results.push_back(*value);
      attributes.push_back(describeResult(output.name(), origins));
    }
    FailureOr<std::vector<std::string>> kept =
        findKept(function.getLoc(), graph, origins, options.kept);
    if (failed(kept))
      return failure();
    for (const std::string &name : *kept) {
      origins[name].isKept = true;
      results.push_back(scope.values.lookup(name));
      attributes.push_back(describeResult(name, origins));
    }
    builder.create<func::ReturnOp>(function.getLoc(), results);
    function.setType(builder.getFunctionType(function.getArgumentTypes(),
                                             ValueRange(results).getTypes()));
    function.setResAttrsAttr(builder.getArrayAttr(attributes));
    eraseDeadOps();
    return success();
  }

  DictionaryAttr describeResult(const std::string &name,
                                const llvm::StringMap<Origin> &origins) {
    SmallVector<NamedAttribute> fields = {
        builder.getNamedAttr(NameAttrName, builder.getStringAttr(name))};
    if (auto origin = origins.find(name); origin != origins.end())
      fields.push_back(builder.getNamedAttr(
          OriginAttrName, toAttribute(module.getContext(), origin->second)));
    return builder.getDictionaryAttr(fields);
  }

  /// What the model declares of an output must agree with what was inferred.
  LogicalResult verifyOutput(const onnx::ValueInfoProto &output, Value value) {
    const auto &declared = output.type().tensor_type();
    RankedTensorType found = getTensorType(value);
    std::string text;
    bool agrees =
        !declared.has_shape() || declared.shape().dim_size() == found.getRank();
    for (int i = 0, e = declared.shape().dim_size(); i < e; ++i) {
      const auto &dim = declared.shape().dim(i);
      int64_t size = sizes.lookup(dim.dim_param());
      bool isKnown = dim.has_dim_value() ? dim.dim_value() >= 0
                                         : sizes.contains(dim.dim_param());
      size = dim.has_dim_value() ? dim.dim_value() : size;
      agrees &= !isKnown || i >= found.getRank() || found.getDimSize(i) == size;
      text += (i ? ", " : "") + dim.dim_param() +
              (isKnown && !dim.has_dim_value() ? "=" : "") +
              (isKnown ? std::to_string(size) : "");
    }
    std::string producer = "an input";
    if (auto name = dyn_cast<NameLoc>(value.getLoc()))
      producer = "'" + name.getName().str() + "'";
    if (!agrees)
      return emitError(value.getLoc())
             << "shapes conflict: output '" << output.name()
             << "' is declared as [" << text << "], " << producer << " gives "
             << formatShape(found.getShape());
    Type element = getElementType(module.getContext(), declared.elem_type());
    if (element != found.getElementType())
      return emitError(value.getLoc())
             << "types conflict: output '" << output.name()
             << "' is declared as " << getTypeName(declared.elem_type()) << ", "
             << producer << " gives " << found.getElementType();
    return success();
  }

  //===-- Annotations -----------------------------------------------------===//

  /// Plans speak of tensors by name, so these go along with the program.
  LogicalResult readAnnotations() {
    bool isAnnotated = !options.ignoresAnnotations && hasAnnotations(model);
    if (isAnnotated || options.keepsTensors)
      nameTensors();
    if (!isAnnotated)
      return success();
    return importAnnotations(
        module, model, options, sizes,
        [&](const std::string &name) { return findShape(name); });
  }

  std::optional<Shape> findShape(const std::string &name) {
    if (auto value = scope.values.find(name);
        value != scope.values.end() && value->second)
      return llvm::to_vector(getTensorType(value->second).getShape());
    if (auto tensor = scope.initializers.find(name);
        tensor != scope.initializers.end())
      return Shape(tensor->second->dims().begin(),
                   tensor->second->dims().end());
    return std::nullopt;
  }

  /// Names what nodes make and read, each once.
  void nameTensors() {
    SmallVector<NamedAttribute> shapes;
    llvm::StringSet<> seen;
    auto name = [&](const std::string &tensor) {
      Value value = scope.values.lookup(tensor);
      if (!value || !seen.insert(tensor).second)
        return;
      if (Operation *op = value.getDefiningOp(); op && op->getNumResults() == 1)
        op->setLoc(addTensorName(op->getLoc(), tensor));
      shapes.push_back(builder.getNamedAttr(
          tensor,
          builder.getDenseI64ArrayAttr(getTensorType(value).getShape())));
    };
    for (const onnx::NodeProto &node : graph.node()) {
      llvm::for_each(node.input(), name);
      llvm::for_each(node.output(), name);
    }
    if (options.keepsTensors)
      module->setAttr(TensorShapesAttrName, builder.getDictionaryAttr(shapes));
  }

  /// Shape arithmetic leaves constants and ops that nothing uses.
  void eraseDeadOps() {
    for (Operation &op :
         llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  ModuleOp module;
  const LoadedModel &model;
  const onnx::GraphProto &graph;
  const DimSizes &sizes;
  const ImportOptions &options;
  OpBuilder builder;
  func::FuncOp function;
  TensorImporter tensors;
  NodeImporter nodes;
  Scope scope;
};

} // namespace

LogicalResult cleave::importGraph(ModuleOp module, const LoadedModel &model,
                                  const OperatorTable &table,
                                  const DimSizes &sizes,
                                  const ImportOptions &options) {
  return GraphImporter(module, model, table, sizes, options).run();
}
