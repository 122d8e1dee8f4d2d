//===- Npz.cpp - zip files of .npy arrays ---------------------------------===//
//
// By libzip: members are stored or deflated; ours are stored, as numpy.savez's.
//
//===----------------------------------------------------------------------===//

#include "runtime/arrays/Formats.h"
#include "runtime/support/MappedFile.h"

#include <memory>
#include <optional>
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

namespace {
using Archive = std::unique_ptr<zip_t, void (*)(zip_t *)>;

/// A member, and what messages call it.
struct Member {
  std::string name, where;
};
} // namespace

static Archive openArchive(const std::filesystem::path &file) {
  int code = 0;
  Archive archive(zip_open(file.c_str(), ZIP_RDONLY, &code), zip_discard);
  if (!archive)
    fail(ExitMismatch, "cannot open '{}': {}", file.string(), errorText(code));
  return archive;
}

static std::vector<Member> listMembers(zip_t *archive,
                                       const std::filesystem::path &file) {
  std::vector<Member> members;
  zip_int64_t count = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char *raw = zip_get_name(archive, i, ZIP_FL_ENC_RAW);
    std::string name = raw ? raw : "";
    if (name.ends_with(Suffix))
      name.resize(name.size() - Suffix.size());
    std::string where = fmt::format("'{}', array '{}'", file.string(), name);
    members.push_back({std::move(name), std::move(where)});
  }
  return members;
}

std::vector<Array> readNpz(const std::filesystem::path &file) {
  Archive archive = openArchive(file);
  std::vector<Array> arrays;
  for (auto &[name, where] : listMembers(archive.get(), file)) {
    std::vector<std::byte> bytes =
        readMember(archive.get(), arrays.size(), where);
    arrays.push_back(parseNpy(bytes, std::move(name), where));
  }
  return arrays;
}

/// The bytes of a member that is stored as it is; none if it is not.
static std::optional<std::span<const std::byte>>
findStored(zip_t *archive, size_t index, std::span<const std::byte> file,
           uint64_t offset, const std::string &where) {
  zip_stat_t stat;
  if (zip_stat_index(archive, index, 0, &stat) != 0)
    fail(ExitMismatch, "{}: {}", where, zip_strerror(archive));
  if (stat.comp_method != ZIP_CM_STORE || stat.encryption_method != ZIP_EM_NONE)
    return std::nullopt;
  if (offset > file.size() || stat.size > file.size() - offset)
    fail(ExitMismatch, "{}: is cut off", where);
  return file.subspan(offset, stat.size);
}

std::vector<ArrayView> mapNpz(const std::filesystem::path &file) {
  Archive archive = openArchive(file);
  auto mapped = std::make_shared<MappedFile>(file);
  std::vector<Member> members = listMembers(archive.get(), file);
  std::vector<uint64_t> offsets =
      findZipData(mapped->bytes(), fmt::format("'{}'", file.string()));
  if (offsets.size() != members.size())
    fail(ExitMismatch, "'{}': its directory is damaged", file.string());
  std::vector<ArrayView> arrays;
  for (auto &[name, where] : members) {
    size_t i = arrays.size();
    auto stored =
        findStored(archive.get(), i, mapped->bytes(), offsets[i], where);
    arrays.push_back(stored
                         ? viewNpy(*stored, std::move(name), where, mapped)
                         : toView(parseNpy(readMember(archive.get(), i, where),
                                           std::move(name), where)));
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
    images.push_back(formatNpy(array));
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
