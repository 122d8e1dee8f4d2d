//===- AttentionPack.cpp - pack keys and values of attention --------------===//
//
// Keys go transposed and scaled into [depth, keys], values into rows of whole
// vectors. What lies beyond the last key is 0, and its padding score -inf.
//
//===----------------------------------------------------------------------===//

#include "codegen/cpu/kernels/AttentionWriter.h"

using namespace cleave;
using namespace mlir;

//===-- Memory ------------------------------------------------------------===//

View AttentionWriter::makeScratch(int64_t rows, int64_t columns) {
  columns = llvm::alignTo(columns, Lanes);
  View view{code.address(kernel.scratch, code.b.getI8Type(),
                         code.index(scratchBytes)),
            f32,
            {columns, 1}};
  scratchBytes += rows * columns * sizeof(float);
  return view;
}

Value AttentionWriter::at(const View &view, ArrayRef<Value> indices) {
  Value offset = code.index(0);
  for (auto [index, stride] : llvm::zip(indices, view.strides))
    if (stride != 0)
      offset = code.add(offset, code.mul(index, stride));
  return code.address(view.base, view.element, offset);
}

Value AttentionWriter::loadVector(const View &view, Value row, Value column) {
  return code.load(at(view, {row, column}), f32, 1, Value());
}
void AttentionWriter::storeVector(Value value, const View &view, Value row,
                                  Value column) {
  code.store(value, at(view, {row, column}), f32, 1, Value());
}
Value AttentionWriter::splatOf(const View &view, ArrayRef<Value> indices) {
  return code.splat(code.loadScalar(at(view, indices), f32));
}

Value AttentionWriter::sub(Value x, Value y) {
  return code.b.create<arith::SubFOp>(code.loc, x, y);
}
Value AttentionWriter::mul(Value x, Value y) {
  return code.b.create<arith::MulFOp>(code.loc, x, y);
}
Value AttentionWriter::reduce(Value vector, bool isSum) {
  return code.splat(code.combineLanes(vector, [&](Value x, Value y) -> Value {
    if (isSum)
      return code.b.create<arith::AddFOp>(code.loc, x, y);
    return code.larger(x, y);
  }));
}
Value AttentionWriter::inverse(Value x) {
  return code.b.create<arith::DivFOp>(code.loc, code.constant(x.getType(), 1.0),
                                      x);
}

//===-- Packing ----------------------------------------------------------===//

View cleave::fixed(Code &code, const View &view, Value first, Value second) {
  View part = view;
  Value offset = code.add(code.mul(first, view.strides[0]),
                          code.mul(second, view.strides[1]));
  part.base = code.address(view.base, view.element, offset);
  part.strides.erase(part.strides.begin(), part.strides.begin() + 2);
  return part;
}

/// Keys key ... key + 15 of the block; those beyond the last one become 0.
void AttentionWriter::packKeys(const View &source, Value firstKey, Value key,
                               bool isTail) {
  Value scale =
      code.constant(code.vectorOf(f32), op.getScale().convertToDouble());
  for (int64_t column = 0; column < depth; column += Lanes) {
    Value columns = depth - column < Lanes
                        ? code.laneMask(code.index(depth - column))
                        : Value();
    Values rows;
    for (int64_t i = 0; i < Lanes; ++i) {
      Value row = code.add(code.add(firstKey, key), i);
      Value valid =
          isTail ? code.splat(code.less(row, code.index(keys))) : Value();
      rows.push_back(
          mul(code.load(at(source, {row, code.index(column)}), f32,
                        source.strides[1], code.both(columns, valid)),
              scale));
    }
    code.transpose(rows);
    for (int64_t i = 0; i < std::min(Lanes, depth - column); ++i)
      storeVector(rows[i], packedKeys, code.index(column + i), key);
  }
}

void AttentionWriter::packValues(const View &source, Value firstKey,
                                 Value count) {
  code.loop(code.index(0), count, 1, [&](Value key) {
    Value row = code.add(firstKey, key);
    for (int64_t column = 0; column < width; column += Lanes) {
      Value columns = width - column < Lanes
                          ? code.laneMask(code.index(width - column))
                          : Value();
      Value values = code.load(at(source, {row, code.index(column)}), f32,
                               source.strides[1], columns);
      storeVector(values, packedValues, key, code.index(column));
    }
  });
}

void AttentionWriter::pack(Value batch, Value group, Value firstKey) {
  View keyRows = fixed(code, k, batch, group);
  Value count =
      code.min(code.sub(code.index(keys), firstKey), code.index(blockKeys));
  Value whole = code.sub(count, code.rem(count, Lanes));
  code.loop(code.index(0), whole, Lanes, [&](Value key) {
    packKeys(keyRows, firstKey, key, /*isTail=*/false);
  });
  code.loop(whole, code.index(blockKeys), Lanes, [&](Value key) {
    packKeys(keyRows, firstKey, key, /*isTail=*/true);
  });
  code.loop(code.index(0), code.index(blockKeys), Lanes, [&](Value key) {
    Value minus = code.constant(code.vectorOf(f32),
                                -std::numeric_limits<double>::infinity());
    Value bias =
        code.select(code.laneMask(code.sub(count, key)), zero(), minus);
    storeVector(bias, padding, code.index(0), key);
  });
  packValues(fixed(code, v, batch, group), firstKey, count);
}
