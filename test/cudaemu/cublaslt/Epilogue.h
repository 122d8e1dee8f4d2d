//===- Epilogue.h - what follows a matrix product -------------------------===//
#pragma once

#include "cublaslt/Matmul.h"

namespace cudaemu {

std::string problemOfEpilogue(const Product &product);
/// `result` is D, row after row, before and after; `a` and `b` are op(A),
/// op(B).
void applyEpilogue(const Product &product, Context &context, const Work &work,
                   int batch, const std::vector<float> &a,
                   const std::vector<float> &b, std::vector<float> &result);

} // namespace cudaemu
