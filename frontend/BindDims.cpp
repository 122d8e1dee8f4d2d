//===- BindDims.cpp - sizes for what a model leaves open ------------------===//

#include "frontend/BindDims.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace cleave;
using namespace mlir;

using Dimension = onnx::TensorShapeProto::Dimension;

//===-- Flags -------------------------------------------------------------===//

LogicalResult cleave::parseBinding(StringRef text, ImportOptions &options,
                                   std::string &error) {
  auto [name, size] = text.rsplit('=');
  int64_t value = 0;
  if (name.empty() || size.getAsInteger(10, value) || value < 0) {
    error = ("expected NAME=SIZE, found '" + text + "'").str();
    return failure();
  }
  auto [entry, isNew] = options.bindings.try_emplace(name.str(), value);
  if (isNew || entry->second == value)
    return success();
  error = ("dim '" + name + "' is bound to " + Twine(entry->second) +
           " and to " + Twine(value))
              .str();
  return failure();
}

LogicalResult cleave::parseShape(StringRef text, ImportOptions &options,
                                 std::string &error) {
  auto [name, sizes] = text.rsplit(':');
  SmallVector<int64_t> shape;
  bool isValid = text.contains(':') && !name.empty();
  SmallVector<StringRef> parts;
  if (!sizes.empty())
    sizes.split(parts, 'x');
  for (StringRef part : parts) {
    int64_t size = 0;
    isValid &= !part.getAsInteger(10, size) && size >= 0;
    shape.push_back(size);
  }
  if (!isValid) {
    error = ("expected INPUT:SIZExSIZE..., found '" + text + "'").str();
    return failure();
  }
  auto [entry, isNew] = options.shapes.try_emplace(name.str(), shape);
  if (isNew || entry->second == shape)
    return success();
  error = ("input '" + name + "' has two shapes").str();
  return failure();
}

//===-- Binding -----------------------------------------------------------===//

std::vector<const onnx::ValueInfoProto *>
cleave::getTrueInputs(const onnx::GraphProto &graph) {
  llvm::StringSet<> initializers;
  for (const onnx::TensorProto &tensor : graph.initializer())
    initializers.insert(tensor.name());
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
    initializers.insert(tensor.values().name());
  std::vector<const onnx::ValueInfoProto *> inputs;
  for (const onnx::ValueInfoProto &input : graph.input())
    if (!initializers.contains(input.name()))
      inputs.push_back(&input);
  return inputs;
}

/// Some exporters write -1 for a dim that is open; 0 is a size.
static bool isStatic(const Dimension &dim) {
  return dim.has_dim_value() && dim.dim_value() >= 0;
}

namespace {

class Binder {
public:
  Binder(MLIRContext *context, const ImportOptions &options, LoadedModel &model,
         DimSizes &sizes)
      : context(context), options(options), model(model), sizes(sizes) {
    for (const onnx::ValueInfoProto *input : getTrueInputs(model.proto.graph()))
      inputs.push_back(const_cast<onnx::ValueInfoProto *>(input));
  }

  LogicalResult run() {
    if (failed(applyBindings()) || failed(applyShapes()))
      return failure();
    std::string unbound;
    for (onnx::ValueInfoProto *input : inputs)
      bindInput(*input, unbound);
    if (unbound.empty())
      return success();
    return emitError(getFileLoc(context, model.path))
           << "dims are not bound: " << unbound;
  }

private:
  Location locate(StringRef name) {
    return getNamedLoc(context, model.path, name);
  }

  LogicalResult applyBindings() {
    SmallVector<std::string> known;
    llvm::StringSet<> names;
    for (onnx::ValueInfoProto *input : inputs)
      for (const Dimension &dim : input->type().tensor_type().shape().dim())
        if (!dim.dim_param().empty() && names.insert(dim.dim_param()).second)
          known.push_back("'" + dim.dim_param() + "'");
    for (const auto &[name, size] : options.bindings) {
      if (!names.contains(name))
        return emitError(getFileLoc(context, model.path))
               << "--bind " << name << "=" << size
               << " binds nothing: no input has a dim of that name, found "
               << (known.empty() ? "no symbolic dim" : llvm::join(known, ", "));
      sizes[name] = size;
    }
    return success();
  }

  LogicalResult applyShapes() {
    for (const auto &[name, shape] : options.shapes) {
      auto input =
          llvm::find_if(inputs, [&](auto *i) { return i->name() == name; });
      if (input == inputs.end()) {
        SmallVector<std::string> names;
        for (onnx::ValueInfoProto *i : inputs)
          names.push_back("'" + i->name() + "'");
        return emitError(getFileLoc(context, model.path))
               << "--shapes " << name
               << " names no input, found inputs: " << llvm::join(names, ", ");
      }
      if (failed(applyShape(**input, shape)))
        return failure();
    }
    return success();
  }

  LogicalResult applyShape(onnx::ValueInfoProto &input,
                           ArrayRef<int64_t> shape) {
    auto *type = input.mutable_type()->mutable_tensor_type();
    if (!type->has_shape())
      for (size_t i = 0; i < shape.size(); ++i)
        type->mutable_shape()->add_dim();
    auto *dims = type->mutable_shape()->mutable_dim();
    if (dims->size() != static_cast<int>(shape.size()))
      return emitError(locate(input.name()))
             << "--shapes gives input '" << input.name() << "' " << shape.size()
             << " dims, the model says " << dims->size();
    for (auto [i, size] : llvm::enumerate(shape))
      if (failed(applySize(input.name(), i, size, *dims->Mutable(i))))
        return failure();
    return success();
  }

  LogicalResult applySize(const std::string &input, size_t index, int64_t size,
                          Dimension &dim) {
    auto fail = [&](int64_t other, StringRef who) {
      return emitError(locate(input))
             << "--shapes gives dim " << index << " of input '" << input
             << "' size " << size << ", " << who << " says " << other;
    };
    if (isStatic(dim) && dim.dim_value() != size)
      return fail(dim.dim_value(), "the model");
    if (!dim.dim_param().empty()) {
      auto [entry, isNew] = sizes.try_emplace(dim.dim_param(), size);
      if (!isNew && entry->second != size)
        return fail(entry->second, ("the size of '" + dim.dim_param() + "'"));
    }
    dim.set_dim_value(size);
    return success();
  }

  /// Writes the sizes of one input; appends to `unbound` what has none.
  void bindInput(onnx::ValueInfoProto &input, std::string &unbound) {
    if (!input.type().has_tensor_type())
      return;
    auto add = [&](const Twine &text) {
      unbound += ((unbound.empty() ? "" : "; ") + text).str();
    };
    auto *type = input.mutable_type()->mutable_tensor_type();
    if (!type->has_shape())
      return add("input '" + Twine(input.name()) +
                 "' has no shape (give it with --shapes " + input.name() +
                 ":SIZExSIZE...)");
    int64_t index = 0;
    for (Dimension &dim : *type->mutable_shape()->mutable_dim()) {
      auto size = sizes.find(dim.dim_param());
      if (!dim.dim_param().empty() && size != sizes.end())
        dim.set_dim_value(size->second);
      else if (!dim.dim_param().empty())
        add("dim " + Twine(index) + " of input '" + input.name() + "' is '" +
            dim.dim_param() + "' (bind it with --bind " + dim.dim_param() +
            "=SIZE)");
      else if (!isStatic(dim))
        add("dim " + Twine(index) + " of input '" + input.name() +
            "' has no name (give it with --shapes " + input.name() +
            ":SIZExSIZE...)");
      ++index;
    }
  }

  MLIRContext *context;
  const ImportOptions &options;
  LoadedModel &model;
  DimSizes &sizes;
  std::vector<onnx::ValueInfoProto *> inputs;
};

/// Some exporters write "?" for a size without a name: such dims need not
/// agree.
template <typename Values> void dropMarks(Values &values) {
  for (onnx::ValueInfoProto &value : values)
    if (value.type().tensor_type().has_shape())
      for (Dimension &dim : *value.mutable_type()
                                 ->mutable_tensor_type()
                                 ->mutable_shape()
                                 ->mutable_dim())
        if (dim.dim_param() == "?")
          dim.clear_dim_param();
}

} // namespace

LogicalResult cleave::bindDims(MLIRContext *context,
                               const ImportOptions &options, LoadedModel &model,
                               DimSizes &sizes) {
  dropMarks(*model.proto.mutable_graph()->mutable_input());
  dropMarks(*model.proto.mutable_graph()->mutable_output());
  return Binder(context, options, model, sizes).run();
}
