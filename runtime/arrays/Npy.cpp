//===- Npy.cpp - NumPy's array format -------------------------------------===//
//
// A magic, a version, a Python dict literal with descr, fortran_order and
// shape, then the data. Versions 1 to 3; Fortran order is turned into
// row-major.
//
//===----------------------------------------------------------------------===//

#include "runtime/arrays/Formats.h"
#include "runtime/support/Counted.h"
#include "runtime/support/Dtype.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace cleave::rt {

static constexpr std::string_view Magic("\x93NUMPY", 6);

namespace {
struct NpyHeader {
  const DtypeInfo *dtype;
  bool fortranOrder;
  std::vector<int64_t> shape;
};
} // namespace

/// The text after `'key':` in a dict literal, blanks skipped.
static std::string_view valueOf(std::string_view dict, std::string_view key,
                                const std::string &where) {
  size_t at = dict.find(fmt::format("'{}'", key));
  size_t colon = at == dict.npos ? at : dict.find(':', at);
  if (colon == dict.npos)
    fail(ExitMismatch, "{}: npy header has no '{}'", where, key);
  size_t begin = dict.find_first_not_of(' ', colon + 1);
  return begin == dict.npos ? std::string_view() : dict.substr(begin);
}

/// "(2, 3)" or "(2,)" or "()".
static std::vector<int64_t> parseShape(std::string_view text,
                                       const std::string &where) {
  size_t close = text.find(')');
  if (text.empty() || text[0] != '(' || close == text.npos)
    fail(ExitMismatch, "{}: npy header has a shape that is no tuple", where);
  std::vector<int64_t> shape;
  const char *at = text.data() + 1, *end = text.data() + close;
  while (at < end) {
    if (*at == ' ' || *at == ',' || *at == 'L') {
      ++at;
      continue;
    }
    int64_t size = 0;
    auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 0)
      fail(ExitMismatch, "{}: npy header has a shape that is no list of sizes",
           where);
    shape.push_back(size);
    at = next;
  }
  return shape;
}

static NpyHeader parseHeader(std::string_view dict, const std::string &where) {
  std::string_view descr = valueOf(dict, "descr", where);
  size_t close = descr.size() < 2 ? descr.npos : descr.find('\'', 1);
  if (close == descr.npos || descr[0] != '\'')
    fail(ExitMismatch, "{}: arrays of records are not supported", where);
  std::string name(descr.substr(1, close - 1));
  if (name.size() > 1 && (name[0] == '=' || name[0] == '|') && name != "|b1")
    name[0] = name.back() == '1' ? '|' : '<';
  const DtypeInfo *dtype = dtypeByNumpy(name);
  if (!dtype)
    fail(ExitMismatch, "{}: element type '{}' is not supported", where, name);
  bool fortran = valueOf(dict, "fortran_order", where).starts_with("True");
  return {dtype, fortran, parseShape(valueOf(dict, "shape", where), where)};
}

/// Copies column-major `from` to row-major `to`.
static void transposeFrom(const std::byte *from, std::byte *to,
                          std::span<const int64_t> shape, int64_t bytes) {
  std::vector<int64_t> index(shape.size(), 0), stride(shape.size(), 1);
  for (size_t d = 1; d < shape.size(); ++d)
    stride[d] = stride[d - 1] * shape[d - 1];
  for (int64_t i = 0, count = elementCount(shape); i < count; ++i) {
    int64_t source = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      source += index[d] * stride[d];
    std::memcpy(to + i * bytes, from + source * bytes, bytes);
    for (size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];)
      index[d] = 0;
  }
}

NpyLayout parseNpyLayout(std::span<const std::byte> bytes,
                         const std::string &where) {
  std::string_view text(reinterpret_cast<const char *>(bytes.data()),
                        bytes.size());
  if (bytes.size() < 12 || !text.starts_with(Magic))
    fail(ExitMismatch, "{}: not a npy array", where);
  bool wide = text[6] >= 2;
  size_t start = wide ? 12 : 10, length = 0;
  std::memcpy(&length, bytes.data() + 8, wide ? 4 : 2);
  if (start + length > bytes.size())
    fail(ExitMismatch, "{}: npy header is cut off", where);

  NpyHeader header = parseHeader(text.substr(start, length), where);
  size_t expected = elementCount(header.shape) * header.dtype->bytes;
  std::span<const std::byte> data = bytes.subspan(start + length);
  if (data.size() < expected)
    fail(ExitMismatch, "{}: holds {} of data, expected {}", where,
         counted(data.size(), "byte"), expected);
  return {header.dtype->dtype, header.fortranOrder && header.shape.size() > 1,
          std::move(header.shape), data.first(expected)};
}

Array parseNpy(std::span<const std::byte> bytes, std::string name,
               const std::string &where) {
  NpyLayout layout = parseNpyLayout(bytes, where);
  Array array{std::move(name), layout.dtype, std::move(layout.shape), {}};
  if (layout.isFortran) {
    array.data.resize(layout.data.size());
    transposeFrom(layout.data.data(), array.data.data(), array.shape,
                  dtypeInfo(array.dtype).bytes);
  } else {
    array.data.assign(layout.data.begin(), layout.data.end());
  }
  return array;
}

ArrayView viewNpy(std::span<const std::byte> bytes, std::string name,
                  const std::string &where, std::shared_ptr<const void> owner) {
  NpyLayout layout = parseNpyLayout(bytes, where);
  if (layout.isFortran)
    return toView(parseNpy(bytes, std::move(name), where));
  return {std::move(name), layout.dtype,     std::move(layout.shape),
          layout.data,     std::move(owner), /*isMapped=*/true};
}

std::vector<std::byte> formatNpy(const Array &array) {
  const DtypeInfo &info = dtypeInfo(array.dtype);
  std::string comma = array.shape.size() == 1 ? "," : "";
  std::string dict = fmt::format(
      "{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}",
      info.numpy, fmt::join(array.shape, ", "), comma);
  // Data starts at a multiple of 64 bytes, as numpy writes it.
  dict.append(63 - (10 + dict.size()) % 64, ' ');
  dict.push_back('\n');
  std::string head(Magic);
  head += std::string("\x01\x00", 2);
  head.push_back(static_cast<char>(dict.size() & 0xff));
  head.push_back(static_cast<char>(dict.size() >> 8));
  head += dict;
  std::vector<std::byte> bytes(head.size() + array.data.size());
  std::memcpy(bytes.data(), head.data(), head.size());
  std::copy(array.data.begin(), array.data.end(), bytes.begin() + head.size());
  return bytes;
}

} // namespace cleave::rt
