//===- MappedFile.h - a file's bytes as memory ----------------------------===//
#ifndef CLEAVE_RUNTIME_SUPPORT_MAPPEDFILE_H
#define CLEAVE_RUNTIME_SUPPORT_MAPPEDFILE_H

#include <cstddef>
#include <filesystem>
#include <span>

namespace cleave::rt {

/// Maps a whole file read-only; processes that map the same one share its
/// pages. Throws Failure: ExitMismatch when it cannot be opened, ExitDevice
/// when it cannot be mapped.
class MappedFile {
public:
  explicit MappedFile(const std::filesystem::path &file);
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return mapped; }

private:
  std::span<const std::byte> mapped; ///< none where the file is empty
};

/// Has the system read the pages of mapped bytes in the background.
void readAhead(std::span<const std::byte> bytes);

} // namespace cleave::rt

#endif
