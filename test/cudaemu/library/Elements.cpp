//===- Elements.cpp - elements of device memory as floats -----------------===//

#include "library/Elements.h"
#include "device/Environment.h"
#include "exec/Half.h"

#include <algorithm>
#include <cstring>

using namespace cudaemu;

size_t cudaemu::bytesOf(Element element) {
  switch (element) {
  case Element::F64:
    return 8;
  case Element::F32:
    return 4;
  default:
    return 2;
  }
}

template <class T>
static void loadAs(const char *from, size_t count, float *to) {
  const auto *values = reinterpret_cast<const T *>(from);
  for (size_t k = 0; k < count; ++k)
    to[k] = static_cast<float>(values[k]);
}

template <class T>
static void storeAs(char *to, size_t count, const float *from) {
  auto *values = reinterpret_cast<T *>(to);
  for (size_t k = 0; k < count; ++k)
    values[k] = static_cast<T>(from[k]);
}

void cudaemu::load(Context &context, const Work &work, uint64_t address,
                   Element element, size_t count, float *to) {
  if (count == 0)
    return;
  const char *from = context.read(work, address, count * bytesOf(element));
  switch (element) {
  case Element::F32:
    std::memcpy(to, from, count * sizeof(float));
    return;
  case Element::F64:
    return loadAs<double>(from, count, to);
  case Element::F16:
    return loadAs<Half>(from, count, to);
  case Element::BF16:
    return loadAs<BFloat>(from, count, to);
  }
}

void cudaemu::store(Context &context, const Work &work, uint64_t address,
                    Element element, size_t count, const float *from) {
  if (count == 0)
    return;
  char *to = context.write(work, address, count * bytesOf(element));
  switch (element) {
  case Element::F32:
    std::memcpy(to, from, count * sizeof(float));
    return;
  case Element::F64:
    return storeAs<double>(to, count, from);
  case Element::F16:
    return storeAs<Half>(to, count, from);
  case Element::BF16:
    return storeAs<BFloat>(to, count, from);
  }
}

float cudaemu::roundToTf32(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7f800000) == 0x7f800000)
    return value;
  bits += 0xfff + (bits >> 13 & 1);
  return std::bit_cast<float>(bits & ~0x1fffu);
}

/// Rows [from, to) of the product. A strip of b stays in the cache.
static void multiplyRows(size_t from, size_t to, size_t n, size_t k,
                         const float *a, const float *b, float *c) {
  constexpr size_t strip = 256;
  for (size_t n0 = 0; n0 < n; n0 += strip) {
    size_t width = std::min(strip, n - n0);
    for (size_t i = from; i < to; ++i) {
      float sum[strip] = {};
      for (size_t j = 0; j < k; ++j) {
        float factor = a[i * k + j];
        const float *row = b + j * n + n0;
        if (width == strip)
          for (size_t x = 0; x < strip; ++x)
            sum[x] += factor * row[x];
        else
          for (size_t x = 0; x < width; ++x)
            sum[x] += factor * row[x];
      }
      for (size_t x = 0; x < width; ++x)
        c[i * n + n0 + x] += sum[x];
    }
  }
}

void cudaemu::multiply(size_t m, size_t n, size_t k, const float *a,
                       const float *b, float *c) {
  size_t parts = std::min<size_t>(environment().threads, m);
  if (m * n * k < 100000)
    parts = 1;
  std::vector<std::thread> others;
  for (size_t p = 1; p < parts; ++p)
    others.emplace_back(multiplyRows, m * p / parts, m * (p + 1) / parts, n, k,
                        a, b, c);
  multiplyRows(0, m / std::max<size_t>(parts, 1), n, k, a, b, c);
  for (std::thread &other : others)
    other.join();
}
