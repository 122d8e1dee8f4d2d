//===- Npz.cpp - zip files of .npy arrays ---------------------------------===//
//
// By libzip: members are stored or deflated; ours are stored, as numpy.savez's.
//
//===----------------------------------------------------------------------===//

#include "runtime/arrays/Formats.h"

#include <memory>
#include <zip.h>

namespace cleave::rt {

static constexpr std::string_view Suffix = ".npy";

static std::string errorText(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

/// Member `index` unpacked.
static std::vector<std::byte> readMember(zip_t *archive, zip_uint64_t index,
                                         const std::string &where) {
  zip_stat_t stat;
  if (zip_stat_index(archive, index, 0, &stat) != 0)
    fail(ExitMismatch, "{}: {}", where, zip_strerror(archive));
  std::unique_ptr<zip_file_t, int (*)(zip_file_t *)> member(
      zip_fopen_index(archive, index, 0), zip_fclose);
  if (!member)
    fail(ExitMismatch, "{}: {}", where, zip_strerror(archive));
  std::vector<std::byte> bytes(stat.size);
  zip_int64_t got = zip_fread(member.get(), bytes.data(), stat.size);
  // The checksum is compared where the member ends: read to there.
  char past;
  if (got != static_cast<zip_int64_t>(stat.size) ||
      zip_fread(member.get(), &past, 1) != 0)
    fail(ExitMismatch, "{}: is cut off or damaged ({})", where,
         zip_file_strerror(member.get()));
  return bytes;
}

std::vector<Array> readNpz(const std::filesystem::path &file) {
  int code = 0;
  std::unique_ptr<zip_t, void (*)(zip_t *)> archive(
      zip_open(file.c_str(), ZIP_RDONLY, &code), zip_discard);
  if (!archive)
    fail(ExitMismatch, "cannot open '{}': {}", file.string(), errorText(code));
  std::vector<Array> arrays;
  zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char *raw = zip_get_name(archive.get(), i, ZIP_FL_ENC_RAW);
    std::string name = raw ? raw : "";
    if (name.ends_with(Suffix))
      name.resize(name.size() - Suffix.size());
    std::string where = fmt::format("'{}', array '{}'", file.string(), name);
    std::vector<std::byte> bytes = readMember(archive.get(), i, where);
    arrays.push_back(parseNpy(bytes, name, where));
  }
  return arrays;
}

void writeNpz(const std::filesystem::path &file,
              std::span<const Array> arrays) {
  int code = 0;
  zip_t *archive = zip_open(file.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  if (!archive)
    fail(ExitDevice, "cannot write '{}': {}", file.string(), errorText(code));
  std::unique_ptr<zip_t, void (*)(zip_t *)> guard(archive, zip_discard);
  // libzip reads the images when it closes the file: they must live until then.
  std::vector<std::vector<std::byte>> images;
  for (const Array &array : arrays) {
    images.push_back(formatNpy(array, file.string()));
    zip_source_t *source = zip_source_buffer(archive, images.back().data(),
                                             images.back().size(), 0);
    std::string member = array.name + std::string(Suffix);
    zip_int64_t index = zip_file_add(archive, member.c_str(), source,
                                     ZIP_FL_ENC_UTF_8 | ZIP_FL_OVERWRITE);
    if (index < 0 ||
        zip_set_file_compression(archive, index, ZIP_CM_STORE, 0) != 0)
      fail(ExitDevice, "cannot write '{}', array '{}': {}", file.string(),
           array.name, zip_strerror(archive));
    // A fixed date: equal arrays give equal files.
    zip_file_set_dostime(archive, index, 0, 0x21, 0);
  }
  if (zip_close(archive) != 0)
    fail(ExitDevice, "cannot write '{}': {}", file.string(),
         zip_strerror(archive));
  (void)guard.release();
}

} // namespace cleave::rt
