//===- Elements.h - elements of device memory as floats -------------------===//
#pragma once

#include "device/Context.h"

#include <vector>

namespace cudaemu {

/// The types of elements that the libraries know.
enum class Element { F32, F64, F16, BF16 };
size_t bytesOf(Element element);

/// `count` neighbours at an address, which `work` reads, as floats. Throws
/// Fault, as Context::read.
void load(Context &context, const Work &work, uint64_t address, Element element,
          size_t count, float *to);
/// Rounds once.
void store(Context &context, const Work &work, uint64_t address,
           Element element, size_t count, const float *from);

/// Rounds to the 10 bits of fraction that tf32 has, ties to even.
float roundToTf32(float value);

/// c[m][n] += a[m][k] * b[k][n], all row after row, on a few threads.
void multiply(size_t m, size_t n, size_t k, const float *a, const float *b,
              float *c);

} // namespace cudaemu
