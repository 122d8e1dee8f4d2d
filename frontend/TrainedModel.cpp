//===- TrainedModel.cpp - puts other weights into a model -----------------===//
//
// Everything but the data of the weights stays as it is in the file: nodes,
// names, opsets, annotations.
//
//===----------------------------------------------------------------------===//

#include "frontend/TrainedModel.h"

#include "frontend/ElementTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace cleave;
using namespace mlir;

namespace {

class Replacing {
public:
  Replacing(MLIRContext *context, LoadedModel &model,
            ArrayRef<StoredTensor> weights)
      : context(context), model(model), weights(weights) {}

  LogicalResult verifyWeights();
  FailureOr<TrainedModel> replace(const std::string &location);

private:
  void findInitializers(onnx::GraphProto &graph);
  LogicalResult verifyWeight(const StoredTensor &weight);
  LogicalResult setEmbedded(onnx::TensorProto &tensor,
                            const StoredTensor &weight);
  Location getLoc(StringRef name) {
    return getNamedLoc(context, model.path, name);
  }

  MLIRContext *context;
  LoadedModel &model;
  ArrayRef<StoredTensor> weights;
  llvm::StringMap<SmallVector<onnx::TensorProto *, 1>> initializers;
  llvm::StringSet<> constants; ///< outputs of Constant nodes
  llvm::DenseMap<const onnx::TensorProto *, const StoredTensor *> replaced;
};

} // namespace

static std::string describe(int32_t type, ArrayRef<int64_t> dims) {
  std::string text = getTypeName(type) + " [";
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(dims, stream);
  return text + "]";
}

/// Bodies of control flow have initializers, too.
void Replacing::findInitializers(onnx::GraphProto &graph) {
  for (onnx::TensorProto &tensor : *graph.mutable_initializer())
    initializers[tensor.name()].push_back(&tensor);
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    if (node.op_type() == "Constant" && node.output_size() > 0)
      constants.insert(node.output(0));
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g())
        findInitializers(*attribute.mutable_g());
      for (onnx::GraphProto &body : *attribute.mutable_graphs())
        findInitializers(body);
    }
  }
}

LogicalResult Replacing::verifyWeight(const StoredTensor &weight) {
  auto found = initializers.find(weight.name);
  if (found == initializers.end() && constants.contains(weight.name))
    return success(); // never trained
  if (found == initializers.end())
    return emitError(getLoc(weight.name))
           << "is no initializer of the model, but a weight in '"
           << weight.data.file << "'";
  if (found->second.size() > 1)
    return emitError(getLoc(weight.name))
           << "is the name of " << found->second.size()
           << " initializers: which one the weight is for is not known";
  const onnx::TensorProto &tensor = *found->second.front();
  SmallVector<int64_t> dims(tensor.dims().begin(), tensor.dims().end());
  if (tensor.data_type() != weight.type || dims != ArrayRef(weight.dims))
    return emitError(getLoc(weight.name))
           << "is " << describe(tensor.data_type(), dims)
           << " in the model, but " << describe(weight.type, weight.dims)
           << " in '" << weight.data.file << "'";
  replaced[&tensor] = &weight;
  return success();
}

LogicalResult Replacing::verifyWeights() {
  findInitializers(*model.proto.mutable_graph());
  bool fits = true;
  for (const StoredTensor &weight : weights)
    fits &= succeeded(verifyWeight(weight));
  return success(fits);
}

LogicalResult Replacing::setEmbedded(onnx::TensorProto &tensor,
                                     const StoredTensor &weight) {
  auto data = llvm::MemoryBuffer::getFileSlice(
      weight.data.file, weight.data.length, weight.data.offset);
  if (!data)
    return emitError(getLoc(weight.name)) << "cannot read '" << weight.data.file
                                          << "': " << data.getError().message();
  onnx::TensorProto plain;
  plain.set_name(tensor.name());
  plain.set_doc_string(tensor.doc_string());
  plain.set_data_type(tensor.data_type());
  *plain.mutable_dims() = tensor.dims();
  *plain.mutable_metadata_props() = tensor.metadata_props();
  plain.set_raw_data((*data)->getBufferStart(), (*data)->getBufferSize());
  tensor = std::move(plain);
  return success();
}

FailureOr<TrainedModel> Replacing::replace(const std::string &location) {
  TrainedModel trained;
  uint64_t end = 0;
  auto visit = [&](onnx::TensorProto &tensor, StringRef) -> LogicalResult {
    const StoredTensor *weight = replaced.lookup(&tensor);
    if (!isExternal(tensor))
      return weight ? setEmbedded(tensor, *weight) : success();
    FileSlice slice = weight ? weight->data : getFileSlice(model, tensor);
    tensor.clear_external_data();
    uint64_t offset = llvm::alignTo(end, ExternalAlignment);
    setExternalData(tensor, {location, offset, slice.length});
    end = offset + slice.length;
    trained.data.push_back(std::move(slice));
    return success();
  };
  if (failed(visitTensors(model.proto, visit)))
    return failure();
  if (!model.proto.SerializeToString(&trained.bytes))
    return emitError(getFileLoc(context, model.path))
           << "the model with its weights is larger than 2 GB: move its "
              "weights to external data";
  return trained;
}

FailureOr<TrainedModel> cleave::replaceWeights(MLIRContext *context,
                                               StringRef modelPath,
                                               ArrayRef<StoredTensor> weights,
                                               const std::string &location) {
  LoadedModel model;
  SmallString<256> absolute(modelPath);
  (void)llvm::sys::fs::make_absolute(absolute);
  model.path = absolute.str().str();
  if (failed(readWholeModel(getFileLoc(context, modelPath), modelPath,
                            model.proto)) ||
      failed(resolveExternalData(context, model)))
    return failure();
  Replacing replacing(context, model, weights);
  if (failed(replacing.verifyWeights()))
    return failure();
  return replacing.replace(location);
}
