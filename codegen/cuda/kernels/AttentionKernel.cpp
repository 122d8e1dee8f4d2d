//===- AttentionKernel.cpp - attention without a score matrix -------------===//
//
// softmax(scale q k^T + mask) v with the online softmax of FlashAttention
// (arXiv 2205.14135). A block has a tile of queries of one head; tiles of keys
// and values go through shared memory.
//
// `parts` neighbouring threads share a query. Chunks of 4 elements of its depth
// are dealt to them in turn (chunk c is part c mod parts), and so are those of
// its result, so that both stay in registers, and that threads of a warp read
// chunks of shared memory that lie together or are the same. Scores of 8 keys
// at a time are sums over the parts, by shuffles.
//
// f16 and bf16 go to tensor cores: TensorAttentionKernel.cpp.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/kernels/Templates.h"
#include "codegen/cuda/kernels/Threads.h"

#include <numeric>

using namespace cleave;
using namespace cleave::cuda;
using namespace mlir;

namespace {
constexpr int64_t Chunk = 4;         ///< elements, 16 bytes
constexpr int64_t AtOnce = 8;        ///< keys whose scores are found together
constexpr int64_t ThreadCount = 128; ///< of a block
/// Chunks of a query that one thread holds at most; its registers.
constexpr int64_t MostChunks = 8;
/// Shared memory that every device gives to a block.
constexpr int64_t SharedBytes = 48 * 1024;

/// A matrix in shared memory, padded to whole chunks for all parts.
struct Tile {
  Value base;
  int64_t columns;
};

class AttentionWriter {
public:
  AttentionWriter(Template &kernel, AttentionOp op)
      : kernel(kernel), code(kernel.code), evaluator(kernel.makeEvaluator(1)),
        op(op) {}
  FailureOr<LaunchPlan> write();

private:
  using Values = Code::Values;

  LogicalResult verify();
  LogicalResult findSizes();
  Tile makeTile(int64_t columns);
  void fill(const Tile &tile, const View &view, int64_t columns,
            Value firstKey);
  Value loadChunk(const Tile &tile, Value key, int64_t number);
  Values loadQuery();
  /// Scores of 8 keys from `key` of the tile on.
  Values getScores(ValueRange query, Value firstKey, Value key);
  Value finishScore(Value score, Value position);
  /// State: largest score, sum, chunks of the result.
  Values addKeys(ValueRange query, Value firstKey, Value key, ValueRange state);
  void storeResult(ValueRange state);

  /// [batch, head, row, column ...] of a view.
  Frame at(ArrayRef<Value> indices, int64_t multiple = 1);
  Value constant(double value) { return code.constant(f32, value); }
  Value sub(Value x, Value y) {
    return code.b.create<arith::SubFOp>(code.loc, x, y);
  }
  Value exp(Value x) {
    return code.extract(code.expNegative(code.splat(x, 1)), 0);
  }

  Template &kernel;
  Code &code;
  Evaluator evaluator;
  AttentionOp op;
  Type f32;
  int64_t batches, heads, queries, depth, groups, keys, width;
  int64_t parts = 1, tileQueries, tileKeys = 32, tiles;
  int64_t queryChunks, resultChunks; ///< of one thread
  Tile keyTile, valueTile;
  View q, k, v, mask, result;
  Value batch, head, query, part;
  Value isQuery; ///< the query is one of the head's
};
} // namespace

//===-- Sizes -------------------------------------------------------------===//

LogicalResult AttentionWriter::verify() {
  for (Value operand : op->getOperands())
    if (!isa<BlockArgument>(operand))
      return op.emitOpError() << "must read operands of its kernel";
  if (kernel.getYields().size() != 1 || kernel.getYields()[0] != op.getResult())
    return op.emitOpError() << "must be all that its kernel yields";
  if (!getComputeType(op.getType().getElementType()).isF32())
    return op.emitOpError() << "has no code for " << op.getType();
  return success();
}

LogicalResult AttentionWriter::findSizes() {
  f32 = code.b.getF32Type();
  q = kernel.views[op.getQ()], k = kernel.views[op.getK()];
  v = kernel.views[op.getV()], result = kernel.results[0];
  if (op.getMask()) {
    mask = kernel.views[op.getMask()];
    for (auto [stride, size] :
         llvm::zip(mask.strides, op.getMask().getType().getShape()))
      stride = size == 1 ? 0 : stride;
  }
  ArrayRef<int64_t> shape = op.getQ().getType().getShape();
  batches = shape[0], heads = shape[1], queries = shape[2], depth = shape[3];
  groups = op.getK().getType().getDimSize(1);
  keys = op.getK().getType().getDimSize(2);
  width = op.getV().getType().getDimSize(3);
  int64_t chunks = llvm::divideCeil(std::max(depth, width), Chunk);
  parts = roundToPower(llvm::divideCeil(chunks, MostChunks));
  queryChunks = llvm::divideCeil(llvm::divideCeil(depth, Chunk), parts);
  resultChunks = llvm::divideCeil(llvm::divideCeil(width, Chunk), parts);
  int64_t rowBytes = (queryChunks + resultChunks) * parts * Chunk *
                     static_cast<int64_t>(sizeof(float));
  while (tileKeys > AtOnce && tileKeys * rowBytes > SharedBytes)
    tileKeys /= 2;
  if (parts > WarpSize || tileKeys * rowBytes > SharedBytes)
    return op.emitOpError() << "has heads of " << std::max(depth, width)
                            << " elements, which no block of CUDA holds";
  tileQueries = ThreadCount / parts;
  tiles = llvm::divideCeil(queries, tileQueries);
  return success();
}

//===-- Tiles -------------------------------------------------------------===//

Frame AttentionWriter::at(ArrayRef<Value> indices, int64_t multiple) {
  Frame frame;
  for (Value index : indices)
    frame.point.push_back({index, 0, Value()});
  frame.point.back().step = 1;
  frame.point.back().multiple = multiple;
  return frame;
}

Tile AttentionWriter::makeTile(int64_t columns) {
  return {makeShared(code, f32, tileKeys * columns), columns};
}

/// Fills the tile with rows of a head from `firstKey` on, by all threads. Rows
/// beyond the last one repeat it, columns beyond the view's are 0.
void AttentionWriter::fill(const Tile &tile, const View &view, int64_t columns,
                           Value firstKey) {
  int64_t lanes = view.strides[3] == 1 ? std::gcd(Chunk, columns) : 1;
  int64_t perRow = tile.columns / lanes;
  Evaluator loader = kernel.makeEvaluator(lanes);
  Value group = code.div(head, heads / groups);
  forItems(
      code, getThread(code), ThreadCount, tileKeys * perRow, [&](Value item) {
        Value row = code.div(item, perRow);
        Value column = code.mul(code.rem(item, perRow), lanes);
        Value key = code.min(code.add(firstKey, row), code.index(keys - 1));
        Value inside = code.min(column, code.index(columns - lanes));
        Value value = loader.load(view, at({batch, group, key, inside}, lanes));
        if (tile.columns > columns)
          value = code.select(code.less(column, code.index(columns)), value,
                              code.constant(value.getType(), 0.0));
        Value place = code.add(code.mul(row, tile.columns), column);
        code.store(value, code.address(tile.base, f32, place), f32, 1, Value(),
                   lanes * int64_t(sizeof(float)));
      });
}

/// Chunk `number` of this thread in a row of the tile.
Value AttentionWriter::loadChunk(const Tile &tile, Value key, int64_t number) {
  Value chunk = code.add(part, number * parts);
  Value place = code.add(code.mul(key, tile.columns), code.mul(chunk, Chunk));
  return code.load(code.address(tile.base, f32, place), f32, 1, Value(), Chunk,
                   Chunk * int64_t(sizeof(float)));
}

/// This thread's chunks of its query, scaled.
Code::Values AttentionWriter::loadQuery() {
  Values chunks;
  int64_t lanes = q.strides[3] == 1 && depth % Chunk == 0 ? Chunk : 1;
  Evaluator loader = kernel.makeEvaluator(lanes);
  VectorType type = code.vectorOf(f32, Chunk);
  Value scale = code.constant(type, op.getScale().convertToDouble());
  for (int64_t i = 0; i < queryChunks; ++i) {
    Value column = code.mul(code.add(part, i * parts), Chunk);
    Value chunk = code.constant(type, 0.0);
    for (int64_t first = 0; first < Chunk; first += lanes) {
      Value from = code.add(column, first);
      Value inside = code.min(from, code.index(depth - lanes));
      Value value = loader.load(q, at({batch, head, query, inside}, lanes));
      value = code.select(code.less(from, code.index(depth)), value,
                          code.constant(value.getType(), 0.0));
      chunk = lanes == Chunk
                  ? value
                  : code.insert(code.extract(value, 0), chunk, first);
    }
    chunks.push_back(code.b.create<arith::MulFOp>(code.loc, chunk, scale));
  }
  return chunks;
}

//===-- Scores ------------------------------------------------------------===//

/// Adds the mask, and hides what comes after the query or after the last key.
Value AttentionWriter::finishScore(Value score, Value position) {
  if (op.getMask()) {
    Value key = code.min(position, code.index(keys - 1));
    Value added = evaluator.load(mask, at({batch, head, query, key}));
    score =
        code.b.create<arith::AddFOp>(code.loc, score, code.extract(added, 0));
  }
  Value end = code.index(keys);
  if (op.getCausal())
    end = code.min(end, code.add(query, keys - queries + 1));
  return code.select(code.less(position, end), score,
                     constant(-std::numeric_limits<double>::infinity()));
}

Code::Values AttentionWriter::getScores(ValueRange query, Value firstKey,
                                        Value key) {
  Values scores;
  for (int64_t i = 0; i < AtOnce; ++i) {
    Value row = code.add(key, i), sum;
    for (int64_t chunk = 0; chunk < queryChunks; ++chunk) {
      Value other = loadChunk(keyTile, row, chunk);
      sum = sum ? code.fma(query[chunk], other, sum)
                : Value(code.b.create<arith::MulFOp>(code.loc, query[chunk],
                                                     other));
    }
    auto add = [&](Value x, Value y) -> Value {
      return code.b.create<arith::AddFOp>(code.loc, x, y);
    };
    Value score = code.combineLanes(sum, add);
    for (int64_t mask = parts / 2; mask > 0; mask /= 2)
      score = add(score, shuffleXor(code, score, mask));
    scores.push_back(finishScore(score, code.add(firstKey, row)));
  }
  return scores;
}

/// With m the largest score and l the sum so far: m' = max(m, scores), l' =
/// exp(m - m') l + sum exp(s - m'), and the result likewise.
Code::Values AttentionWriter::addKeys(ValueRange query, Value firstKey,
                                      Value key, ValueRange state) {
  Values scores = getScores(query, firstKey, key);
  Value largest = state[0];
  for (Value score : scores)
    largest = code.larger(score, largest);
  Value decay = exp(sub(state[0], largest));
  Value sum = code.b.create<arith::MulFOp>(code.loc, state[1], decay);
  Values powers;
  for (Value score : scores) {
    powers.push_back(exp(sub(score, largest)));
    sum = code.b.create<arith::AddFOp>(code.loc, sum, powers.back());
  }
  Values next{largest, sum};
  for (int64_t chunk = 0; chunk < resultChunks; ++chunk) {
    Value total = code.b.create<arith::MulFOp>(code.loc, state[2 + chunk],
                                               code.splat(decay, Chunk));
    for (int64_t i = 0; i < AtOnce; ++i)
      total = code.fma(code.splat(powers[i], Chunk),
                       loadChunk(valueTile, code.add(key, i), chunk), total);
    next.push_back(total);
  }
  return next;
}

//===-- Blocks ------------------------------------------------------------===//

void AttentionWriter::storeResult(ValueRange state) {
  Value inverse =
      code.b.create<arith::DivFOp>(code.loc, constant(1.0), state[1]);
  int64_t lanes = result.strides[3] == 1 && width % Chunk == 0 ? Chunk : 1;
  Evaluator storer = kernel.makeEvaluator(lanes);
  for (int64_t i = 0; i < resultChunks; ++i) {
    Value chunk = code.b.create<arith::MulFOp>(code.loc, state[2 + i],
                                               code.splat(inverse, Chunk));
    Value column = code.mul(code.add(part, i * parts), Chunk);
    for (int64_t first = 0; first < Chunk; first += lanes) {
      Value to = code.add(column, first);
      Value isInside = code.both(isQuery, code.less(to, code.index(width)));
      code.ifThen(isInside, [&] {
        Value value =
            lanes == Chunk ? chunk : code.splat(code.extract(chunk, first), 1);
        storer.store(value, result, at({batch, head, query, to}, lanes));
      });
    }
  }
}

FailureOr<LaunchPlan> AttentionWriter::write() {
  if (failed(verify()))
    return failure();
  if (op.getType().getNumElements() == 0)
    return LaunchPlan();
  if (fitsTensorCores(op))
    return buildTensorAttention(kernel, op);
  if (failed(findSizes()))
    return failure();
  keyTile = makeTile(queryChunks * parts * Chunk);
  valueTile = makeTile(resultChunks * parts * Chunk);
  Value block = getBlock(code), number = code.div(block, tiles);
  batch = code.div(number, heads);
  head = code.rem(number, heads);
  part = code.rem(getThread(code), parts);
  Value firstQuery = code.mul(code.rem(block, tiles), tileQueries);
  query = code.add(firstQuery, code.div(getThread(code), parts));
  isQuery = code.less(query, code.index(queries));
  query = code.min(query, code.index(queries - 1));
  Values chunks = loadQuery();

  // The least finite score: a row that sees nothing keeps it, and exp(-inf -
  // finite) is 0.
  Values state{constant(-std::numeric_limits<float>::max()), constant(0.0)};
  state.append(resultChunks, code.constant(code.vectorOf(f32, Chunk), 0.0));
  Value end = code.index(keys);
  if (op.getCausal()) // what the tile's last query sees
    end = code.min(end, code.add(firstQuery, tileQueries + keys - queries));
  state = code.loop(code.index(0), end, tileKeys, state,
                    [&](Value firstKey, ValueRange carried) {
                      makeBarrier(code);
                      fill(keyTile, k, depth, firstKey);
                      fill(valueTile, v, width, firstKey);
                      makeBarrier(code);
                      return code.loop(
                          code.index(0), code.index(tileKeys), AtOnce, carried,
                          [&](Value key, ValueRange carried) {
                            return addKeys(chunks, firstKey, key, carried);
                          });
                    });
  storeResult(state);
  if (evaluator.failed)
    return failure();
  return LaunchPlan{batches * heads * tiles, ThreadCount, false, ""};
}

FailureOr<LaunchPlan> cuda::buildAttentionKernel(Template &kernel) {
  for (auto op : kernel.op.getBody().getOps<AttentionOp>())
    return AttentionWriter(kernel, op).write();
  return kernel.op.emitOpError() << "of kind attention holds no attention";
}
