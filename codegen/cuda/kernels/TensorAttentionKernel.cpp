//===- TensorAttentionKernel.cpp - attention on tensor cores --------------===//
//
// softmax(scale q k^T + mask) v of f16 or bf16, with sums in f32, in the style
// of FlashAttention-2 (arXiv 2307.08691). A warp has 16 queries of one head;
// the 4 warps of a block share tiles of 64 keys and values in shared memory.
//
// Both products are `mma.m16n8k16`. Its fragments, for lane = 4 g + t:
//   a (16 x 16): pairs of columns 2t, 2t + 1 and 2t + 8, 2t + 9 of rows g, g +
//   8 b (16 x 8):  pairs of rows 2t, 2t + 1 and 2t + 8, 2t + 9 of column g c
//   (16 x 8):  columns 2t, 2t + 1 of rows g, g + 8, in f32
// So the c of two neighbouring tiles of scores are the a of the second product.
// Keys lie in shared memory in rows, values transposed: the pairs of b are 32
// bits of memory. Rows have 8 elements of padding, so that a warp's pairs lie
// in different banks.
//
//===----------------------------------------------------------------------===//

#include "codegen/cuda/kernels/Templates.h"
#include "codegen/cuda/kernels/Threads.h"

#include <numeric>

using namespace cleave;
using namespace cleave::cuda;
using namespace mlir;

namespace {
constexpr int64_t WarpQueries = 16, Warps = 4, TileKeys = 64;
constexpr int64_t Step = 16;   ///< depth of one mma
constexpr int64_t Columns = 8; ///< of its result
constexpr int64_t Padding = 8;
constexpr int64_t MostDepth = 128;

/// A matrix of 16-bit elements in shared memory.
struct Tile {
  Value base;
  int64_t pitch;
};

class TensorAttention {
public:
  TensorAttention(Template &kernel, AttentionOp op)
      : kernel(kernel), code(kernel.code), evaluator(kernel.makeEvaluator(1)),
        op(op), element(op.getType().getElementType()) {}
  LaunchPlan write();

private:
  using Values = Code::Values;

  void findSizes();
  void placeThread();
  void fillKeys(Value firstKey);
  void fillValues(Value firstKey);
  void forElements(int64_t rows, int64_t columns, const View &view,
                   int64_t width, Value firstKey,
                   function_ref<void(Value, Value, Value, int64_t)> body);
  Values loadQueries();
  /// Two neighbours in a row of the tile, as 32 bits.
  Value loadPair(const Tile &tile, Value row, Value column);
  /// c + a b; a and c have 4 values, b has 2.
  Values multiply(ValueRange a, ValueRange b, ValueRange c);
  Values getScores(ValueRange queries, Value firstKey);
  Value finishScore(Value score, Value query, Value position);
  /// State: largest scores and sums of rows g and g + 8, then the result.
  Values addTile(ValueRange queries, Value firstKey, ValueRange state);
  void storeResult(ValueRange state);

  Frame at(Value row, Value column, int64_t multiple = 1);
  Value pack(Value low, Value high);
  Value exp(Value x);
  Value add(Value x, Value y) {
    return code.b.create<arith::AddFOp>(code.loc, x, y);
  }
  Value sub(Value x, Value y) {
    return code.b.create<arith::SubFOp>(code.loc, x, y);
  }
  Value mul(Value x, Value y) {
    return code.b.create<arith::MulFOp>(code.loc, x, y);
  }
  Value constant(double value) { return code.constant(f32, value); }

  Template &kernel;
  Code &code;
  Evaluator evaluator;
  AttentionOp op;
  Type element, f32, i32;
  int64_t heads, queries, depth, groups, keys, width, tiles;
  int64_t steps, resultTiles; ///< of the depth; of the result's columns
  View q, k, v, mask, result;
  Tile keyTile, valueTile;
  Value batch, head, group;
  Value row;        ///< g: of this thread in its fragments
  Value column;     ///< 2t
  Value firstQuery; ///< of the block
  Value ownQuery;   ///< row g of the warp
};
} // namespace

//===-- Places ------------------------------------------------------------===//

void TensorAttention::findSizes() {
  f32 = code.b.getF32Type(), i32 = code.b.getI32Type();
  q = kernel.views[op.getQ()], k = kernel.views[op.getK()];
  v = kernel.views[op.getV()], result = kernel.results[0];
  if (op.getMask()) {
    mask = kernel.views[op.getMask()];
    for (auto [stride, size] :
         llvm::zip(mask.strides, op.getMask().getType().getShape()))
      stride = size == 1 ? 0 : stride;
  }
  ArrayRef<int64_t> shape = op.getQ().getType().getShape();
  heads = shape[1], queries = shape[2], depth = shape[3];
  groups = op.getK().getType().getDimSize(1);
  keys = op.getK().getType().getDimSize(2);
  width = op.getV().getType().getDimSize(3);
  steps = llvm::divideCeil(depth, Step);
  resultTiles = llvm::divideCeil(width, Columns);
  tiles = llvm::divideCeil(queries, WarpQueries * Warps);
  int64_t keyPitch = steps * Step + Padding, valuePitch = TileKeys + Padding;
  keyTile = {makeShared(code, element, TileKeys * keyPitch), keyPitch};
  valueTile = {makeShared(code, element, resultTiles * Columns * valuePitch),
               valuePitch};
}

void TensorAttention::placeThread() {
  Value block = getBlock(code), number = code.div(block, tiles);
  batch = code.div(number, heads);
  head = code.rem(number, heads);
  group = code.div(head, heads / groups);
  Value thread = getThread(code), lane = code.rem(thread, WarpSize);
  row = code.div(lane, 4);
  column = code.mul(code.rem(lane, 4), 2);
  firstQuery = code.mul(code.rem(block, tiles), WarpQueries * Warps);
  Value warp = code.div(thread, WarpSize);
  ownQuery = code.add(code.add(firstQuery, code.mul(warp, WarpQueries)), row);
}

/// [batch, head, row, column ...] of queries, the mask or the result.
Frame TensorAttention::at(Value row, Value column, int64_t multiple) {
  Frame frame;
  for (Value index : {batch, head, row})
    frame.point.push_back({index, 0, Value()});
  frame.point.push_back({column, 1, Value(), multiple});
  return frame;
}

//===-- Tiles -------------------------------------------------------------===//

/// Calls `body(key, column, value, lanes)` for vectors of `rows` keys from
/// `firstKey` on, by all threads. Keys beyond the last one repeat it, columns
/// beyond the view's are 0.
void TensorAttention::forElements(
    int64_t rows, int64_t columns, const View &view, int64_t width,
    Value firstKey, function_ref<void(Value, Value, Value, int64_t)> body) {
  int64_t lanes = view.strides[3] == 1 ? std::gcd(Columns, width) : 1;
  int64_t perRow = columns / lanes;
  Evaluator loader = kernel.makeEvaluator(lanes);
  forItems(code, getThread(code), Warps * WarpSize, rows * perRow,
           [&](Value item) {
             Value key = code.div(item, perRow);
             Value from = code.mul(code.rem(item, perRow), lanes);
             Frame frame;
             frame.point = {{batch, 0, Value()}, {group, 0, Value()}};
             frame.point.push_back(
                 {code.min(code.add(firstKey, key), code.index(keys - 1)), 0,
                  Value()});
             frame.point.push_back({code.min(from, code.index(width - lanes)),
                                    1, Value(), lanes});
             Value value = loader.load(view, frame);
             if (columns > width)
               value = code.select(code.less(from, code.index(width)), value,
                                   code.constant(value.getType(), 0.0));
             body(key, from, value, lanes);
           });
}

void TensorAttention::fillKeys(Value firstKey) {
  forElements(TileKeys, steps * Step, k, depth, firstKey,
              [&](Value key, Value from, Value value, int64_t lanes) {
                Value place = code.add(code.mul(key, keyTile.pitch), from);
                code.store(value, code.address(keyTile.base, element, place),
                           element, 1, Value(),
                           lanes * getMemoryBytes(element));
              });
}

void TensorAttention::fillValues(Value firstKey) {
  forElements(TileKeys, resultTiles * Columns, v, width, firstKey,
              [&](Value key, Value from, Value value, int64_t lanes) {
                for (int64_t i = 0; i < lanes; ++i) {
                  Value place = code.add(
                      code.mul(code.add(from, i), valueTile.pitch), key);
                  code.storeScalar(code.extract(value, i),
                                   code.address(valueTile.base, element, place),
                                   element);
                }
              });
}

Value TensorAttention::loadPair(const Tile &tile, Value row, Value column) {
  Value place = code.add(code.mul(row, tile.pitch), column);
  return code.loadScalar(code.address(tile.base, element, place), i32);
}

/// Two f32, rounded to the element type, as 32 bits.
Value TensorAttention::pack(Value low, Value high) {
  Value pair = code.constant(code.vectorOf(f32, 2), 0.0);
  pair = code.insert(high, code.insert(low, pair, 0), 1);
  Value narrow = code.narrow(pair, element);
  Value bits = code.b.create<LLVM::BitcastOp>(code.loc, i32, narrow);
  return bits;
}

/// The fragments of the warp's queries, one after the other along the depth.
Code::Values TensorAttention::loadQueries() {
  Values fragments;
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t half = 0; half < 2; ++half)
      for (int64_t lower = 0; lower < 2; ++lower) {
        Value query = code.min(code.add(ownQuery, lower * Columns),
                               code.index(queries - 1));
        Value pair[2];
        for (int64_t i = 0; i < 2; ++i) {
          Value from = code.add(column, step * Step + half * Columns + i);
          Value inside = code.min(from, code.index(depth - 1));
          Value x = code.extract(evaluator.load(q, at(query, inside)), 0);
          pair[i] =
              code.select(code.less(from, code.index(depth)), x, constant(0.0));
        }
        fragments.push_back(pack(pair[0], pair[1]));
      }
  return fragments;
}

//===-- Products ----------------------------------------------------------===//

Code::Values TensorAttention::multiply(ValueRange a, ValueRange b,
                                       ValueRange c) {
  OpBuilder &builder = code.b;
  bool isBf16 = element.isBF16();
  Values arguments;
  for (ValueRange bits : {a, b})
    for (Value each : bits)
      arguments.push_back(
          isBf16 ? each
                 : Value(builder.create<LLVM::BitcastOp>(
                       code.loc, VectorType::get({2}, element), each)));
  arguments.append(c.begin(), c.end());
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                               {f32, f32, f32, f32});
  StringRef name = isBf16 ? "llvm.nvvm.mma.m16n8k16.row.col.bf16"
                          : "llvm.nvvm.mma.m16n8k16.row.col.f32.f32";
  auto call = builder.create<LLVM::CallIntrinsicOp>(
      code.loc, type, builder.getStringAttr(name), arguments);
  Values sums;
  for (int64_t i = 0; i < 4; ++i)
    sums.push_back(
        builder.create<LLVM::ExtractValueOp>(code.loc, call.getResult(0), i));
  return sums;
}

Value TensorAttention::exp(Value x) {
  Value scaled = mul(x, constant(1.44269504088896341));
  return code.b
      .create<LLVM::CallIntrinsicOp>(
          code.loc, f32, code.b.getStringAttr("llvm.nvvm.ex2.approx.f"),
          ValueRange(scaled))
      .getResult(0);
}

/// Scales, adds the mask, and hides what comes after the query or the last key.
Value TensorAttention::finishScore(Value score, Value query, Value position) {
  score = mul(score, constant(op.getScale().convertToDouble()));
  if (op.getMask()) {
    Value added =
        evaluator.load(mask, at(code.min(query, code.index(queries - 1)),
                                code.min(position, code.index(keys - 1))));
    score = add(score, code.extract(added, 0));
  }
  Value end = code.index(keys);
  if (op.getCausal())
    end = code.min(end, code.add(query, keys - queries + 1));
  return code.select(code.less(position, end), score,
                     constant(-std::numeric_limits<double>::infinity()));
}

/// The c of all tiles of 8 keys.
Code::Values TensorAttention::getScores(ValueRange queries, Value firstKey) {
  Values scores;
  for (int64_t first = 0; first < TileKeys; first += Columns) {
    Values sums(4, constant(0.0));
    Value key = code.add(row, first);
    for (int64_t step = 0; step < steps; ++step) {
      Value from = code.add(column, step * Step);
      Value b[] = {loadPair(keyTile, key, from),
                   loadPair(keyTile, key, code.add(from, Columns))};
      sums = multiply(queries.slice(step * 4, 4), b, sums);
    }
    for (int64_t i = 0; i < 4; ++i) {
      Value query = code.add(ownQuery, i / 2 * Columns);
      Value position = code.add(firstKey, code.add(column, first + i % 2));
      scores.push_back(finishScore(sums[i], query, position));
    }
  }
  return scores;
}

Code::Values TensorAttention::addTile(ValueRange queries, Value firstKey,
                                      ValueRange state) {
  Values scores = getScores(queries, firstKey);
  Values next, decays;
  auto foldRow = [&](int64_t lower, Value start, auto combine) {
    for (size_t i = 0; i < scores.size(); i += 4)
      for (int64_t j = 0; j < 2; ++j)
        start = combine(start, scores[i + lower * 2 + j]);
    for (int64_t mask : {1, 2})
      start = combine(start, shuffleXor(code, start, mask));
    return start;
  };
  for (int64_t lower = 0; lower < 2; ++lower) {
    Value largest = foldRow(lower, state[lower], [&](Value x, Value y) {
      return code.larger(y, x);
    });
    decays.push_back(exp(sub(state[lower], largest)));
    for (size_t i = 0; i < scores.size(); i += 4)
      for (int64_t j = 0; j < 2; ++j) {
        Value &score = scores[i + lower * 2 + j];
        score = exp(sub(score, largest));
      }
    next.push_back(largest);
  }
  for (int64_t lower = 0; lower < 2; ++lower) {
    Value sum = foldRow(lower, constant(0.0),
                        [&](Value x, Value y) { return add(x, y); });
    next.push_back(code.fma(state[2 + lower], decays[lower], sum));
  }
  Values powers; // as fragments
  for (size_t i = 0; i < scores.size(); i += 2)
    powers.push_back(pack(scores[i], scores[i + 1]));
  for (int64_t tile = 0; tile < resultTiles; ++tile) {
    Values sums;
    for (int64_t i = 0; i < 4; ++i)
      sums.push_back(mul(state[4 + tile * 4 + i], decays[i / 2]));
    Value own = code.add(row, tile * Columns);
    for (int64_t first = 0; first < TileKeys; first += Step) {
      Value from = code.add(column, first);
      Value b[] = {loadPair(valueTile, own, from),
                   loadPair(valueTile, own, code.add(from, Columns))};
      sums = multiply(ValueRange(powers).slice(first / Step * 4, 4), b, sums);
    }
    next.append(sums);
  }
  return next;
}

//===-- Blocks ------------------------------------------------------------===//

void TensorAttention::storeResult(ValueRange state) {
  int64_t lanes = result.strides[3] == 1 && width % 2 == 0 ? 2 : 1;
  Evaluator storer = kernel.makeEvaluator(lanes);
  for (int64_t lower = 0; lower < 2; ++lower) {
    Value inverse =
        code.b.create<arith::DivFOp>(code.loc, constant(1.0), state[2 + lower]);
    Value query = code.add(ownQuery, lower * Columns);
    for (int64_t tile = 0; tile < resultTiles; ++tile)
      for (int64_t first = 0; first < 2; first += lanes) {
        Value value = code.constant(code.vectorOf(f32, lanes), 0.0);
        for (int64_t i = 0; i < lanes; ++i)
          value = code.insert(
              mul(state[4 + tile * 4 + lower * 2 + first + i], inverse), value,
              i);
        Value to = code.add(column, tile * Columns + first);
        Value isInside = code.both(code.less(query, code.index(queries)),
                                   code.less(to, code.index(width)));
        code.ifThen(isInside,
                    [&] { storer.store(value, result, at(query, to, lanes)); });
      }
  }
}

LaunchPlan TensorAttention::write() {
  findSizes();
  placeThread();
  Values fragments = loadQueries();
  // The least finite score: a row that sees nothing keeps it.
  Values state(2, constant(-std::numeric_limits<float>::max()));
  state.append(2 + 4 * resultTiles, constant(0.0));
  Value end = code.index(keys);
  if (op.getCausal()) // what the block's last query sees
    end = code.min(end,
                   code.add(firstQuery, WarpQueries * Warps + keys - queries));
  state = code.loop(code.index(0), end, TileKeys, state,
                    [&](Value firstKey, ValueRange carried) {
                      makeBarrier(code);
                      fillKeys(firstKey);
                      fillValues(firstKey);
                      makeBarrier(code);
                      return addTile(fragments, firstKey, carried);
                    });
  storeResult(state);
  int64_t batches = op.getType().getDimSize(0);
  return LaunchPlan{batches * heads * tiles, Warps * WarpSize, false, ""};
}

bool cuda::fitsTensorCores(AttentionOp op) {
  Type element = op.getType().getElementType();
  int64_t depth = op.getQ().getType().getDimSize(3);
  int64_t width = op.getV().getType().getDimSize(3);
  return (element.isF16() || element.isBF16()) && depth <= MostDepth &&
         width <= MostDepth;
}

LaunchPlan cuda::buildTensorAttention(Template &kernel, AttentionOp op) {
  return TensorAttention(kernel, op).write();
}
