//===- Constants.cpp - constants of a program as bytes --------------------===//
//
// Constants are few and small (large tensors are params), so that they are
// looked up in the stage function each time.
//
//===----------------------------------------------------------------------===//

#include "codegen/host/Constants.h"

#include "codegen/Buffers.h"

using namespace cleave;
using namespace mlir;

FailureOr<std::string> cleave::getElementBytes(Operation *user,
                                               ElementsAttr value) {
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return user->emitError()
           << "a constant of this form has no bytes: " << value.getShapedType();
  std::string bytes;
  if (value.getElementType().isInteger(1)) {
    for (bool element : dense.getValues<bool>())
      bytes.push_back(element);
    return bytes;
  }
  ArrayRef<char> raw = dense.getRawData();
  int64_t copies = dense.isSplat() ? dense.getNumElements() : 1;
  for (int64_t i = 0; i < copies; ++i)
    bytes.append(raw.begin(), raw.end());
  return bytes;
}

FailureOr<std::string> cleave::getConstantBytes(func::FuncOp stage,
                                                BufferAttr buffer) {
  ConstantOp found;
  stage.walk([&](ConstantOp constant) {
    // Those of kernels are part of their code.
    auto buffers = constant->getAttrOfType<ArrayAttr>("cleave.buffers");
    auto own = buffers ? dyn_cast<BufferAttr>(buffers[0]) : BufferAttr();
    if (own && own.getSpace() == BufferSpace::Constant &&
        own.getIndex() == buffer.getIndex())
      found = constant;
  });
  if (found)
    return getElementBytes(found, found.getValue());
  return stage.emitError() << "no constant of '" << stage.getSymName()
                           << "' is in " << buffer;
}
