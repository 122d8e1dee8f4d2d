//===- Shard.cpp - stream a part of a parameter from its source -----------===//
//
// Trailing dims that are whole form one run of bytes with the dim before them;
// the dims in front are loops. Example: [384, 6, 64] split in its second dim
// over 2 ranks: 384 runs of 3 * 64 elements.
//
//===----------------------------------------------------------------------===//

#include "codegen/output/Shard.h"

#include "codegen/host/Constants.h"
#include "llvm/ADT/StringExtras.h"

using namespace cleave;
using namespace mlir;

//===-- Sources -----------------------------------------------------------===//

FailureOr<StringRef> ShardSources::getBytes(ParamOp param) {
  if (!param.getValueAttr())
    return StringRef();
  auto weights = dyn_cast<WeightsAttr>(param.getValueAttr());
  if (!weights) {
    auto elements = dyn_cast<ElementsAttr>(param.getValueAttr());
    if (!elements)
      return param.emitError() << "param '" << param.getSymName()
                               << "' has a value without bytes";
    FailureOr<std::string> bytes = getElementBytes(param, elements);
    if (failed(bytes))
      return failure();
    dense = std::move(*bytes);
    return StringRef(dense);
  }
  std::unique_ptr<llvm::MemoryBuffer> &buffer = files[weights.getFile()];
  if (!buffer) {
    auto file = llvm::MemoryBuffer::getFile(weights.getFile(), /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
    if (!file)
      return param.emitError()
             << "cannot read '" << weights.getFile() << "', which holds param '"
             << param.getSymName() << "': " << file.getError().message();
    buffer = std::move(*file);
  }
  uint64_t end = weights.getOffset() + weights.getLength();
  if (end > buffer->getBufferSize())
    return param.emitError()
           << "'" << weights.getFile() << "' has " << buffer->getBufferSize()
           << " bytes; param '" << param.getSymName() << "' ends at " << end;
  return buffer->getBuffer().substr(weights.getOffset(), weights.getLength());
}

//===-- The file ----------------------------------------------------------===//

DigestStream::DigestStream(StringRef path) : file(path, error) {
  SetBufferSize(1 << 20);
  file.SetUnbuffered();
}

DigestStream::~DigestStream() {
  flush();
  file.clear_error();
}

void DigestStream::write_impl(const char *data, size_t size) {
  hash.update(StringRef(data, size));
  if (!error)
    file.write(data, size);
  position += size;
}

std::error_code DigestStream::finish(std::string &digest) {
  flush();
  if (!error) {
    file.close();
    error = file.error();
  }
  digest = llvm::toHex(hash.final(), /*LowerCase=*/true);
  return error;
}

static void writeZeros(llvm::raw_ostream &stream, int64_t bytes) {
  constexpr int64_t Most = 1 << 30;
  for (; bytes > 0; bytes -= Most)
    stream.write_zeros(std::min(bytes, Most));
}

//===-- Slices ------------------------------------------------------------===//

namespace {
class ShardWriter {
public:
  ShardWriter(ArrayRef<int64_t> whole, ArrayRef<int64_t> local,
              ArrayRef<DimRange> ranges, int64_t elementBytes, StringRef bytes,
              llvm::raw_ostream &stream);
  void write() { writeDim(0, 0); }

private:
  /// Writes dims from `dim` on, of which the source begins at `offset`.
  void writeDim(size_t dim, int64_t offset);

  ArrayRef<int64_t> whole, local;
  ArrayRef<DimRange> ranges;
  StringRef bytes;
  llvm::raw_ostream &stream;
  size_t lastLoop = 0; ///< dims behind it are whole
  /// Bytes of an item of each dim, in the source and in the shard.
  SmallVector<int64_t> wholeBytes, localBytes;
};
} // namespace

ShardWriter::ShardWriter(ArrayRef<int64_t> whole, ArrayRef<int64_t> local,
                         ArrayRef<DimRange> ranges, int64_t elementBytes,
                         StringRef bytes, llvm::raw_ostream &stream)
    : whole(whole), local(local), ranges(ranges), bytes(bytes), stream(stream),
      wholeBytes(whole.size()), localBytes(local.size()) {
  int64_t wholeSize = elementBytes, localSize = elementBytes;
  for (size_t i = whole.size(); i-- > 0;) {
    wholeBytes[i] = wholeSize;
    localBytes[i] = localSize;
    wholeSize *= whole[i];
    localSize *= local[i];
    if (lastLoop == 0 && (local[i] != whole[i] || ranges[i].valid != whole[i]))
      lastLoop = i;
  }
}

void ShardWriter::writeDim(size_t dim, int64_t offset) {
  DimRange range = ranges[dim];
  int64_t start = offset + range.start * wholeBytes[dim];
  if (dim == lastLoop)
    stream << bytes.substr(start, range.valid * wholeBytes[dim]);
  else
    for (int64_t i = 0; i < range.valid; ++i)
      writeDim(dim + 1, start + i * wholeBytes[dim]);
  writeZeros(stream, (local[dim] - range.valid) * localBytes[dim]);
}

LogicalResult cleave::writeShard(ParamOp param, RankedTensorType localType,
                                 ArrayRef<DimRange> ranges,
                                 ShardSources &sources,
                                 llvm::raw_ostream &stream) {
  FailureOr<StringRef> bytes = sources.getBytes(param);
  if (failed(bytes))
    return failure();
  if (!param.getValueAttr()) {
    writeZeros(stream, getByteSize(localType));
    return success();
  }
  auto whole = cast<RankedTensorType>(param.getType());
  auto expected = static_cast<size_t>(getByteSize(whole));
  if (bytes->size() != expected)
    return param.emitError()
           << "param '" << param.getSymName() << "' has " << bytes->size()
           << " bytes; expected " << expected;
  if (whole.getRank() == 0) {
    stream << *bytes;
    return success();
  }
  auto element = RankedTensorType::get({}, whole.getElementType());
  ShardWriter(whole.getShape(), localType.getShape(), ranges,
              getByteSize(element), *bytes, stream)
      .write();
  return success();
}
