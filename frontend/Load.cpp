//===- Load.cpp - read, check and normalise a model file ------------------===//

#include "frontend/Load.h"

#include "frontend/ExternalData.h"
#include "frontend/GraphOrder.h"
#include "frontend/WireScan.h"

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wall"
#pragma clang diagnostic ignored "-Wextra"
#include "onnx/checker.h"
#include "onnx/defs/parser.h"
#include "onnx/inliner/inliner.h"
#pragma clang diagnostic pop

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <limits>

using namespace cleave;
using namespace mlir;

Location cleave::getFileLoc(MLIRContext *context, StringRef path) {
  return FileLineColLoc::get(context, path, 0, 0);
}
Location cleave::getNamedLoc(MLIRContext *context, StringRef path,
                             StringRef name) {
  return NameLoc::get(StringAttr::get(context, name),
                      getFileLoc(context, path));
}

Opsets cleave::getOpsets(
    const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &list) {
  Opsets opsets;
  for (const onnx::OperatorSetIdProto &entry : list)
    opsets[isStandardDomain(entry.domain()) ? "" : entry.domain()] =
        entry.version();
  return opsets;
}

/// ONNX messages have several lines; ours have one.
static std::string toOneLine(StringRef text) {
  std::string line;
  for (StringRef part : llvm::split(text, "\n"))
    if (part = part.trim(); !part.empty())
      line += (line.empty() ? "" : "; ") + part.str();
  return line;
}

//===-- Reading -----------------------------------------------------------===//

static LogicalResult parseText(Location loc, StringRef text,
                               onnx::ModelProto &proto) {
  auto status = onnx::OnnxParser::Parse(proto, {text.data(), text.size()});
  if (status.IsOK())
    return success();
  return emitError(loc) << "not ONNX text: "
                        << toOneLine(status.ErrorMessage());
}

static LogicalResult parseBinary(Location loc, StringRef bytes,
                                 onnx::ModelProto &proto) {
  std::string reduced, error;
  if (failed(scanModel(bytes, reduced, error)))
    return emitError(loc) << "not an ONNX model, or truncated: " << error;
  if (!proto.ParseFromString(reduced))
    return emitError(loc) << "not an ONNX model: its fields do not parse";
  return success();
}

static LogicalResult readModel(Location loc, LoadedModel &model) {
  auto buffer = llvm::MemoryBuffer::getFile(model.path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return emitError(loc) << "cannot read the model: "
                          << buffer.getError().message();
  StringRef bytes = (*buffer)->getBuffer();
  if (StringRef(model.path).ends_with(".onnxtxt"))
    return parseText(loc, bytes, model.proto);
  return parseBinary(loc, bytes, model.proto);
}

LogicalResult cleave::readWholeModel(Location loc, StringRef path,
                                     onnx::ModelProto &proto) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return emitError(loc) << "cannot read the model: "
                          << buffer.getError().message();
  StringRef bytes = (*buffer)->getBuffer();
  if (path.ends_with(".onnxtxt"))
    return parseText(loc, bytes, proto);
  if (bytes.size() > size_t(std::numeric_limits<int>::max()) ||
      !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return emitError(loc) << "cannot be read as one message of less than 2 GB";
  return success();
}

//===-- Versions ----------------------------------------------------------===//

static LogicalResult verifyVersions(Location loc, const LoadedModel &model) {
  int64_t known = onnx::IR_VERSION;
  if (model.proto.ir_version() > known)
    return emitError(loc) << "the file says IR version "
                          << model.proto.ir_version()
                          << ", this build knows up to " << known;
  const auto &ranges =
      onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map();
  for (const auto &[domain, version] : model.opsets) {
    auto range = ranges.find(domain.str());
    if (range != ranges.end() && version > range->second.second)
      return emitError(loc)
             << "the file says opset " << version << " of domain '" << domain
             << "', this build knows up to " << range->second.second;
  }
  return success();
}

//===-- Functions ---------------------------------------------------------===//

/// Replaces calls of the model's own functions by their bodies.
static LogicalResult inlineFunctions(Location loc, LoadedModel &model) {
  if (model.proto.functions().empty())
    return success();
  try {
    onnx::checker::check_function_call_cycles(model.proto);
    onnx::inliner::InlineLocalFunctions(model.proto);
  } catch (const std::exception &error) {
    return emitError(loc) << "cannot inline the model's functions: "
                          << toOneLine(error.what());
  }
  return success();
}

NodeNames::NodeNames(const onnx::GraphProto &graph) {
  for (const onnx::NodeProto &node : graph.node())
    ++uses[node.name()];
}

const std::string &NodeNames::get(const onnx::NodeProto &node) const {
  bool isShared = uses.lookup(node.name()) > 1 && node.output_size() > 0;
  return isShared ? node.output(0) : getNodeName(node);
}

void cleave::makeNodeNamesUnique(onnx::GraphProto &graph) {
  NodeNames names(graph);
  for (onnx::NodeProto &node : *graph.mutable_node())
    node.set_name(std::string(names.get(node)));
}

/// Names nodes without a name by what they define, for all messages to come;
/// those in bodies too.
static void nameNodes(onnx::GraphProto &graph) {
  for (onnx::NodeProto &node : *graph.mutable_node()) {
    if (node.name().empty())
      node.set_name(getNodeName(node));
    for (onnx::AttributeProto &attribute : *node.mutable_attribute()) {
      if (attribute.has_g())
        nameNodes(*attribute.mutable_g());
      for (onnx::GraphProto &body : *attribute.mutable_graphs())
        nameNodes(body);
    }
  }
}

LogicalResult cleave::loadModel(MLIRContext *context, StringRef path,
                                LoadedModel &model) {
  llvm::SmallString<256> absolute(path);
  if (llvm::sys::fs::make_absolute(absolute))
    return emitError(getFileLoc(context, path)) << "cannot find the model";
  llvm::sys::path::remove_dots(absolute, /*remove_dot_dot=*/true);
  model.path = absolute.str().str();
  Location loc = getFileLoc(context, model.path);
  if (failed(readModel(loc, model)))
    return failure();
  model.opsets = getOpsets(model.proto.opset_import());
  if (failed(verifyVersions(loc, model)) ||
      failed(resolveExternalData(context, model)) ||
      failed(inlineFunctions(loc, model)))
    return failure();
  nameNodes(*model.proto.mutable_graph());
  return sortGraph(context, model.path, *model.proto.mutable_graph());
}

LogicalResult cleave::checkModel(MLIRContext *context,
                                 const LoadedModel &model) {
  try {
    onnx::checker::check_model(model.proto);
  } catch (const std::exception &error) {
    return emitError(getFileLoc(context, model.path))
           << "ONNX's checker refuses the model: " << toOneLine(error.what());
  }
  return success();
}
