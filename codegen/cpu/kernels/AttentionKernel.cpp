//===- AttentionKernel.cpp - attention without a score matrix -------------===//
//
// softmax(scale q k^T + mask) v for tiles of 6 queries (FlashAttention, arXiv
// 2205.14135, for a CPU's caches):
//   1. scores of the tile against a block of keys, 6 x 64 at a time in
//      registers, with the largest one of each query on the way;
//   2. exponentials and their sums, in place;
//   3. their product with the block's values, 6 x 64 at a time in registers.
// Keys are packed transposed and scaled, so that the scores of 16 keys are one
// vector; values are packed in rows of whole vectors. One block holds up to
// 1024 keys; longer ones go in blocks of 512, and the tiles keep their sums,
// maxima and unfinished rows in scratch between blocks (online softmax).
//
// An item is a tile of one head (with several blocks: 32 tiles). Neighbouring
// items of a head share the packed keys and values. Causal tiles stop at their
// last key.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/kernels/AttentionWriter.h"

using namespace cleave;
using namespace mlir;

//===-- Sizes and memory -------------------------------------------------===//

LogicalResult AttentionWriter::verify() {
  if (!op.getType().getElementType().isF32())
    return op.emitOpError() << "has code for f32 only, found " << op.getType();
  for (Value operand : op->getOperands())
    if (!isa<BlockArgument>(operand))
      return op.emitOpError() << "must read operands of its kernel";
  if (kernel.getYields().size() != 1 || kernel.getYields()[0] != op.getResult())
    return op.emitOpError() << "must be all that its kernel yields";
  return success();
}

void AttentionWriter::findSizes() {
  f32 = code.b.getF32Type();
  q = kernel.views[op.getQ()], k = kernel.views[op.getK()];
  v = kernel.views[op.getV()], result = kernel.results[0];
  hasMask = bool(op.getMask());
  if (hasMask) {
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
  bool isLong = keys > LongestBlock;
  isStatic = !isLong && !op.getCausal();
  blockKeys = isLong
                  ? ShortBlock
                  : llvm::alignTo(keys, isStatic ? Lanes : TileVectors * Lanes);
  blocks = isLong ? llvm::divideCeil(keys, blockKeys) : 1;
  chunkTiles = isLong ? TilesInChunk : 1;
  tiles = llvm::divideCeil(queries, TileRows);
  chunks = llvm::divideCeil(tiles, chunkTiles);
}

//===-- Scores -----------------------------------------------------------===//

/// Adds the mask and hides what comes after the query.
Value AttentionWriter::finishScore(const Tile &tile, int64_t row, Value key,
                                   Value score) {
  Value query = code.add(tile.row, row);
  Value position = code.add(tile.firstKey, key);
  if (hasMask) {
    Value left = code.sub(code.index(keys), position);
    Value added = code.load(at(mask, {tile.batch, tile.head, query, position}),
                            f32, mask.strides[3], code.laneMask(left));
    score = code.b.create<arith::AddFOp>(code.loc, score, added);
  }
  if (!op.getCausal())
    return score;
  Value seen = code.sub(code.add(query, keys - queries + 1), position);
  return code.select(
      code.laneMask(seen), score,
      code.constant(score.getType(), -std::numeric_limits<double>::infinity()));
}

/// Scores against `vectors` * 16 keys; returns the largest ones so far.
Code::Values AttentionWriter::writeScores(const Tile &tile, Value key,
                                          int64_t vectors, ValueRange largest) {
  View rows = fixed(code, q, tile.batch, tile.head);
  Values start;
  for (int64_t i = 0; i < tile.rows * vectors; ++i)
    start.push_back(
        loadVector(padding, code.index(0), code.add(key, i % vectors * Lanes)));
  Values sums = code.loop(
      code.index(0), code.index(depth), 1, start,
      [&](Value d, ValueRange carried) {
        Values next, packed;
        for (int64_t i = 0; i < vectors; ++i)
          packed.push_back(loadVector(packedKeys, d, code.add(key, i * Lanes)));
        for (int64_t row = 0; row < tile.rows; ++row) {
          Value x = splatOf(rows, {code.add(tile.row, row), d});
          for (int64_t i = 0; i < vectors; ++i)
            next.push_back(code.fma(x, packed[i], carried[row * vectors + i]));
        }
        return next;
      });
  Values found(largest);
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t i = 0; i < vectors; ++i) {
      Value place = code.add(key, i * Lanes);
      Value score = finishScore(tile, row, place, sums[row * vectors + i]);
      storeVector(score, scores, code.index(row), place);
      found[row] = code.larger(score, found[row]);
    }
  return found;
}

/// All scores of the tile. Where the number of vectors is known, tiles of 3 and
/// 4 divide it evenly.
Code::Values AttentionWriter::writeScores(const Tile &tile) {
  Value least = code.constant(code.vectorOf(f32),
                              -std::numeric_limits<double>::infinity());
  Values largest(tile.rows, least);
  auto run = [&](Value from, Value to, int64_t vectors) {
    largest = code.loop(from, to, vectors * Lanes, largest,
                        [&](Value key, ValueRange carried) {
                          return writeScores(tile, key, vectors, carried);
                        });
  };
  if (!isStatic) {
    run(code.index(0), tile.keys, TileVectors);
    return largest;
  }
  int64_t vectors = blockKeys / Lanes;
  int64_t steps = llvm::divideCeil(vectors, TileVectors);
  int64_t narrow = vectors / steps, wideSteps = vectors % steps;
  Value middle = code.index(wideSteps * (narrow + 1) * Lanes);
  if (wideSteps)
    run(code.index(0), middle, narrow + 1);
  run(middle, code.index(blockKeys), narrow);
  return largest;
}

/// exp(score - largest) in place; returns the sums as vectors.
Code::Values AttentionWriter::writePowers(const Tile &tile,
                                          ValueRange largest) {
  Values start(tile.rows, zero());
  return code.loop(
      code.index(0), tile.keys, Lanes, start, [&](Value key, ValueRange sums) {
        Values next;
        for (int64_t row = 0; row < tile.rows; ++row) {
          Value score = loadVector(scores, code.index(row), key);
          Value power = code.expNegative(sub(score, largest[row]));
          storeVector(power, scores, code.index(row), key);
          next.push_back(
              code.b.create<arith::AddFOp>(code.loc, sums[row], power));
        }
        return next;
      });
}

//===-- Products ---------------------------------------------------------===//

/// A finished vector of a query's result: divided by its sum.
void AttentionWriter::storeResult(const Tile &tile, int64_t row, int64_t column,
                                  Value value, Value inverseSum) {
  Value mask = width - column < Lanes
                   ? code.laneMask(code.index(width - column))
                   : Value();
  Value address = at(result, {tile.batch, tile.head, code.add(tile.row, row),
                              code.index(column)});
  code.store(mul(value, inverseSum), address, f32, result.strides[3], mask);
}

void AttentionWriter::writeProducts(const Tile &tile, ValueRange sums,
                                    ValueRange decays) {
  Values inverses;
  if (blocks == 1)
    for (Value sum : sums)
      inverses.push_back(inverse(sum));
  for (int64_t first = 0; first < width; first += TileVectors * Lanes) {
    int64_t vectors =
        std::min<int64_t>(TileVectors, llvm::divideCeil(width - first, Lanes));
    auto column = [&](int64_t i) { return first + i % vectors * Lanes; };
    Values start;
    for (int64_t i = 0; i < tile.rows * vectors; ++i)
      start.push_back(
          blocks == 1
              ? zero()
              : mul(loadVector(state, code.add(tile.stateRow, i / vectors),
                               code.index(column(i))),
                    decays[i / vectors]));
    Values products = code.loop(
        code.index(0), tile.keys, 1, start, [&](Value key, ValueRange carried) {
          Values next, values;
          for (int64_t i = 0; i < vectors; ++i)
            values.push_back(
                loadVector(packedValues, key, code.index(column(i))));
          for (int64_t row = 0; row < tile.rows; ++row) {
            Value power = splatOf(scores, {code.index(row), key});
            for (int64_t i = 0; i < vectors; ++i)
              next.push_back(
                  code.fma(power, values[i], carried[row * vectors + i]));
          }
          return next;
        });
    for (int64_t i = 0; i < tile.rows * vectors; ++i) {
      if (blocks == 1)
        storeResult(tile, i / vectors, column(i), products[i],
                    inverses[i / vectors]);
      else
        storeVector(products[i], state, code.add(tile.stateRow, i / vectors),
                    code.index(column(i)));
    }
  }
}

//===-- State between blocks ---------------------------------------------===//

void AttentionWriter::startState(const Tile &tile) {
  Value least = code.constant(code.vectorOf(f32),
                              -std::numeric_limits<double>::infinity());
  for (int64_t row = 0; row < tile.rows; ++row) {
    Value place = code.add(tile.stateRow, row);
    storeVector(least, stateLargest, place, code.index(0));
    storeVector(zero(), stateSum, place, code.index(0));
    for (int64_t column = 0; column < width; column += Lanes)
      storeVector(zero(), state, place, code.index(column));
  }
}

void AttentionWriter::finishState(const Tile &tile) {
  for (int64_t row = 0; row < tile.rows; ++row) {
    Value place = code.add(tile.stateRow, row);
    Value inverseSum = inverse(loadVector(stateSum, place, code.index(0)));
    for (int64_t column = 0; column < width; column += Lanes)
      storeResult(tile, row, column,
                  loadVector(state, place, code.index(column)), inverseSum);
  }
}

/// One tile against one block. With m the largest score and l the sum so far:
/// m' = max(m, block's), l' = exp(m - m') l + sum exp(s - m'), rows decay
/// likewise.
void AttentionWriter::writeTile(const Tile &tile) {
  Values largest = writeScores(tile), decays;
  // A row that sees nothing has no largest score; exp(-inf - finite) is 0.
  Value lowest = code.constant(code.vectorOf(f32), -1e30);
  for (auto [row, value] : llvm::enumerate(largest)) {
    value = code.larger(reduce(value, /*isSum=*/false), lowest);
    if (blocks == 1)
      continue;
    Value place = code.add(tile.stateRow, row);
    Value before = loadVector(stateLargest, place, code.index(0));
    value = code.larger(value, before);
    storeVector(value, stateLargest, place, code.index(0));
    decays.push_back(code.expNegative(sub(before, value)));
  }
  Values sums = writePowers(tile, largest);
  for (auto [row, sum] : llvm::enumerate(sums)) {
    sum = reduce(sum, /*isSum=*/true);
    if (blocks == 1)
      continue;
    Value place = code.add(tile.stateRow, row);
    Value before = loadVector(stateSum, place, code.index(0));
    storeVector(code.fma(before, decays[row], sum), stateSum, place,
                code.index(0));
  }
  writeProducts(tile, sums, decays);
}

//===-- Items ------------------------------------------------------------===//

/// Keys of the block that the last query of the tile sees.
void AttentionWriter::setKeys(Tile &tile) {
  if (isStatic) {
    tile.keys = code.index(keys);
    return;
  }
  tile.keys = code.min(code.sub(code.index(keys), tile.firstKey),
                       code.index(blockKeys));
  if (!op.getCausal())
    return;
  Value seen =
      code.sub(code.add(tile.row, tile.rows + keys - queries), tile.firstKey);
  tile.keys = code.max(code.min(tile.keys, seen), code.index(0));
}

/// The tiles of a chunk: whole ones, and the last one of a head.
void AttentionWriter::forTiles(Value chunk, Tile tile,
                               function_ref<void(Tile)> body) {
  Value first = code.mul(chunk, chunkTiles);
  Value last = code.min(code.add(first, chunkTiles), code.index(tiles));
  code.loop(first, last, 1, [&](Value number) {
    tile.row = code.mul(number, TileRows);
    tile.stateRow = code.mul(code.sub(number, first), TileRows);
    int64_t wholeTiles = queries / TileRows, left = queries % TileRows;
    auto emit = [&](int64_t rows) {
      tile.rows = rows;
      setKeys(tile);
      body(tile);
    };
    if (wholeTiles)
      code.ifThen(code.less(number, code.index(wholeTiles)),
                  [&] { emit(TileRows); });
    if (left)
      code.ifThen(code.less(code.index(wholeTiles - 1), number),
                  [&] { emit(left); });
  });
}

void AttentionWriter::writeItem(Value item) {
  Value chunk = code.rem(item, chunks), head = code.div(item, chunks);
  Tile tile{0,       code.div(head, heads), code.rem(head, heads),
            Value(), code.index(0),         Value(),
            Value()};
  if (blocks == 1)
    return forTiles(chunk, tile, [&](Tile each) { writeTile(each); });
  Value group = code.div(tile.head, heads / groups);
  forTiles(chunk, tile, [&](Tile each) { startState(each); });
  Value end = code.index(keys);
  if (op.getCausal()) {
    Value rows = code.mul(code.add(chunk, 1), chunkTiles * TileRows);
    end = code.min(end, code.add(rows, keys - queries));
  }
  code.loop(code.index(0), end, blockKeys, [&](Value key) {
    pack(tile.batch, group, key);
    tile.firstKey = key;
    forTiles(chunk, tile, [&](Tile each) { writeTile(each); });
  });
  tile.firstKey = code.index(0);
  forTiles(chunk, tile, [&](Tile each) { finishState(each); });
}

FailureOr<KernelPlan> AttentionWriter::write() {
  if (failed(verify()))
    return failure();
  findSizes();
  packedKeys = makeScratch(depth, blockKeys);
  packedValues = makeScratch(blockKeys, width);
  padding = makeScratch(1, blockKeys);
  scores = makeScratch(TileRows, blockKeys);
  if (blocks > 1) {
    int64_t rows = chunkTiles * TileRows;
    state = makeScratch(rows, width);
    stateLargest = makeScratch(rows, Lanes);
    stateSum = makeScratch(rows, Lanes);
  }
  code.loop(kernel.begin, kernel.end, 1, code.index(-1),
            [&](Value item, ValueRange packed) -> Values {
              Value head = code.div(item, chunks);
              Value group = code.div(head, heads / groups);
              if (blocks == 1)
                code.ifThen(code.differ(group, packed[0]), [&] {
                  pack(code.div(group, groups), code.rem(group, groups),
                       code.index(0));
                });
              writeItem(item);
              return {group};
            });
  int64_t items = op.getType().getNumElements() ? batches * heads * chunks : 0;
  int64_t grain = std::max<int64_t>(1, chunks / 4);
  return KernelPlan{items, grain, scratchBytes, false, ""};
}

FailureOr<KernelPlan> cleave::buildAttentionKernel(Template &kernel) {
  for (auto op : kernel.op.getBody().getOps<AttentionOp>())
    return AttentionWriter(kernel, op).write();
  return kernel.op.emitOpError() << "of kind attention holds no attention";
}
