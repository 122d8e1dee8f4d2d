//===- Matmul.h - a matrix product as it runs -----------------------------===//
#pragma once

#include "abi/CublasLt.h"
#include "driver/Driver.h"
#include "library/Elements.h"

namespace cudaemu {

/// All that a call of cublasLtMatmul says.
struct Product {
  cublaslt::Matmul matmul;
  cublaslt::Layout a, b, c, d;
  uint64_t addressA, addressB, addressC, addressD;
  float alpha, beta; ///< Or, on the device, their addresses:
  uint64_t alphaAt = 0, betaAt = 0;
  uint64_t workspace, workspaceBytes;
};

/// What is wrong with the product, or an empty text.
std::string problem(const Product &product);
void run(const Product &product, Context &context, Work &work);

/// The element of a DataType; false when there is none.
bool elementOf(int type, Element &element);

} // namespace cudaemu
