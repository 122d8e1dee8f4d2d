//===- ExternalData.cpp - tensor data that lies in files ------------------===//

#include "frontend/ExternalData.h"

#include "frontend/ElementTypes.h"
#include "frontend/WireScan.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <optional>

using namespace cleave;
using namespace mlir;

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

bool cleave::isExternal(const onnx::TensorProto &tensor) {
  return tensor.data_location() == onnx::TensorProto::EXTERNAL;
}

static StringRef getEntry(const onnx::TensorProto &tensor, StringRef key) {
  for (const onnx::StringStringEntryProto &entry : tensor.external_data())
    if (entry.key() == key)
      return entry.value();
  return {};
}

static void setEntry(onnx::TensorProto &tensor, StringRef key,
                     const std::string &value) {
  for (onnx::StringStringEntryProto &entry : *tensor.mutable_external_data())
    if (entry.key() == key)
      return entry.set_value(value);
  onnx::StringStringEntryProto *entry = tensor.add_external_data();
  entry->set_key(key.str());
  entry->set_value(value);
}

FileSlice cleave::getFileSlice(const LoadedModel &model,
                               const onnx::TensorProto &tensor) {
  FileSlice slice;
  unsigned file = 0;
  (void)getEntry(tensor, "location").drop_front().getAsInteger(10, file);
  (void)getEntry(tensor, "offset").getAsInteger(10, slice.offset);
  (void)getEntry(tensor, "length").getAsInteger(10, slice.length);
  slice.file = model.files[file];
  return slice;
}

void cleave::setExternalData(onnx::TensorProto &tensor,
                             const FileSlice &slice) {
  setEntry(tensor, "location", slice.file);
  setEntry(tensor, "offset", std::to_string(slice.offset));
  setEntry(tensor, "length", std::to_string(slice.length));
}

//===-- Visiting all tensors ----------------------------------------------===//

static LogicalResult visitGraph(onnx::GraphProto &graph, TensorVisitor visit);

/// A tensor in an attribute is named by its node.
static LogicalResult visitNode(onnx::NodeProto &node, TensorVisitor visit) {
  for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
    if (attribute.has_t() &&
        failed(visit(*attribute.mutable_t(), getNodeName(node))))
      return failure();
    for (onnx::TensorProto &tensor : *attribute.mutable_tensors())
      if (failed(visit(tensor, getNodeName(node))))
        return failure();
    if (attribute.has_g() && failed(visitGraph(*attribute.mutable_g(), visit)))
      return failure();
    for (onnx::GraphProto &graph : *attribute.mutable_graphs())
      if (failed(visitGraph(graph, visit)))
        return failure();
  }
  return success();
}

static LogicalResult visitGraph(onnx::GraphProto &graph, TensorVisitor visit) {
  for (onnx::TensorProto &tensor : *graph.mutable_initializer())
    if (failed(visit(tensor, tensor.name())))
      return failure();
  for (onnx::NodeProto &node : *graph.mutable_node())
    if (failed(visitNode(node, visit)))
      return failure();
  return success();
}

LogicalResult cleave::visitTensors(onnx::ModelProto &model,
                                   TensorVisitor visit) {
  if (failed(visitGraph(*model.mutable_graph(), visit)))
    return failure();
  for (onnx::FunctionProto &function : *model.mutable_functions())
    for (onnx::NodeProto &node : *function.mutable_node())
      if (failed(visitNode(node, visit)))
        return failure();
  return success();
}

//===-- Resolving ---------------------------------------------------------===//

namespace {

class Resolver {
public:
  Resolver(MLIRContext *context, LoadedModel &model)
      : context(context), model(model) {
    model.files = {model.path};
    (void)fs::real_path(path::parent_path(model.path), folder);
  }

  LogicalResult resolve(onnx::TensorProto &tensor, StringRef name) {
    if (!isExternal(tensor))
      return success();
    Location loc = getNamedLoc(context, model.path, name);
    StringRef location = getEntry(tensor, "location");
    FailureOr<unsigned> file = findFile(loc, location);
    if (failed(file))
      return failure();
    return resolveSlice(loc, tensor, *file, location);
  }

private:
  /// Index of the file that `location` means.
  FailureOr<unsigned> findFile(Location loc, StringRef location) {
    if (location == ModelFileLocation)
      return 0;
    if (auto known = indices.find(location); known != indices.end())
      return known->second;
    auto fail = [&](StringRef what) {
      return emitError(loc) << "external data '" << location << "' " << what;
    };
    if (location.empty() || path::is_absolute(location))
      return fail("must be a path relative to the model's folder");
    llvm::SmallString<256> joined(folder), real;
    path::append(joined, location);
    path::remove_dots(joined, /*remove_dot_dot=*/true);
    if (!isInFolder(joined))
      return fail("lies outside the model's folder");
    if (fs::real_path(joined, real) || !fs::is_regular_file(real))
      return fail("is missing in the model's folder");
    if (!isInFolder(real))
      return fail("is a link to a file outside the model's folder");
    model.files.push_back(real.str().str());
    indices[location] = model.files.size() - 1;
    return model.files.size() - 1;
  }

  bool isInFolder(StringRef file) {
    return file.starts_with(folder) &&
           (folder.ends_with("/") ||
            file.drop_front(folder.size()).starts_with("/"));
  }

  /// Completes and checks offset and length.
  LogicalResult resolveSlice(Location loc, onnx::TensorProto &tensor,
                             unsigned file, StringRef location) {
    uint64_t offset = 0, length = 0, size = 0;
    StringRef offsetText = getEntry(tensor, "offset");
    StringRef lengthText = getEntry(tensor, "length");
    if (!offsetText.empty() && offsetText.getAsInteger(10, offset))
      return emitError(loc)
             << "offset of external data must be a number, found '"
             << offsetText << "'";
    std::optional<uint64_t> bytes = getTensorBytes(tensor);
    if (!lengthText.empty() && lengthText.getAsInteger(10, length))
      return emitError(loc)
             << "length of external data must be a number, found '"
             << lengthText << "'";
    if (bytes && !lengthText.empty() && length != *bytes)
      return emitError(loc) << "data of the tensor has " << length
                            << " bytes, its type and shape need " << *bytes;
    if (bytes)
      length = *bytes;
    if (fs::file_size(model.files[file], size) || offset > size ||
        length > size - offset)
      return emitError(loc)
             << "external data '" << location << "' is too short: found "
             << size << " bytes, expected " << length << " from byte " << offset
             << " on";
    setExternalData(tensor, {"#" + std::to_string(file), offset, length});
    return success();
  }

  MLIRContext *context;
  LoadedModel &model;
  llvm::SmallString<256> folder;
  llvm::StringMap<unsigned> indices;
};

} // namespace

LogicalResult cleave::resolveExternalData(MLIRContext *context,
                                          LoadedModel &model) {
  Resolver resolver(context, model);
  return visitTensors(model.proto,
                      [&](onnx::TensorProto &tensor, StringRef name) {
                        return resolver.resolve(tensor, name);
                      });
}
