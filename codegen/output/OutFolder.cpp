//===- OutFolder.cpp - write a folder that appears complete or not at all -===//
//
// The temporary folder is OUT with a suffix, so that it is on the same file
// system and the last step is a rename.
//
//===----------------------------------------------------------------------===//

#include "codegen/output/OutFolder.h"

#include "mlir/IR/Location.h"
#include "runtime/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <csignal>

using namespace cleave;
using namespace mlir;
namespace fs = llvm::sys::fs;

std::string cleave::getDigest(StringRef bytes) {
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(bytes)),
                     /*LowerCase=*/true);
}

static InFlightDiagnostic emitPlain(MLIRContext *context) {
  return mlir::emitError(UnknownLoc::get(context));
}

InFlightDiagnostic OutFolder::emitError() const {
  isBroken = true;
  return emitPlain(context);
}

/// Whether a folder holds a manifest of ours, or nothing.
static bool isReplaceable(StringRef path) {
  std::error_code error;
  if (fs::directory_iterator(path, error) == fs::directory_iterator())
    return !error;
  llvm::SmallString<128> file(path);
  llvm::sys::path::append(file, format::ManifestFile);
  auto buffer = llvm::MemoryBuffer::getFile(file);
  if (!buffer)
    return false;
  llvm::Expected<llvm::json::Value> json =
      llvm::json::parse((*buffer)->getBuffer());
  if (!json) {
    llvm::consumeError(json.takeError());
    return false;
  }
  return json->getAsObject() && json->getAsObject()->get("format");
}

/// Between the name of OUT and the process that writes it.
static constexpr StringRef kTemporary = ".new-";

OutFolder::OutFolder(MLIRContext *context, StringRef path)
    : context(context), path(path),
      temporary((path + kTemporary + Twine(llvm::sys::Process::getProcessId()))
                    .str()) {}

/// Removes what compiles to the same OUT have left that were killed.
static void removeLeftovers(StringRef path) {
  llvm::SmallString<128> absolute(path);
  if (fs::make_absolute(absolute))
    return;
  std::string prefix = (llvm::sys::path::filename(absolute) + kTemporary).str();
  std::error_code error;
  SmallVector<std::string> left;
  for (fs::directory_iterator it(llvm::sys::path::parent_path(absolute), error),
       end;
       !error && it != end; it.increment(error)) {
    StringRef name = llvm::sys::path::filename(it->path());
    pid_t process = 0;
    bool isOurs = name.consume_front(prefix) &&
                  !name.split('.').first.getAsInteger(10, process) &&
                  process > 0;
    if (isOurs && kill(process, 0) != 0 && errno == ESRCH)
      left.push_back(it->path());
  }
  for (const std::string &folder : left)
    (void)fs::remove_directories(folder);
}

/// With the rights that the user's umask leaves, as any other tool: OUT may lie
/// on a file system that others read.
static std::error_code createFolder(StringRef path) {
  return fs::create_directories(path, /*IgnoreExisting=*/true, fs::all_all);
}

/// Whether a folder can be made at `path`: makes one in the nearest folder that
/// is there, and removes it.
static std::error_code tryPlace(StringRef path) {
  llvm::SmallString<128> folder(path);
  if (std::error_code error = fs::make_absolute(folder))
    return error;
  do
    llvm::sys::path::remove_filename(folder);
  while (!fs::exists(folder) && llvm::sys::path::has_parent_path(folder));
  llvm::sys::path::append(
      folder, ".cleave-" + Twine(llvm::sys::Process::getProcessId()));
  std::error_code error = fs::create_directory(folder);
  return error ? error : fs::remove(folder);
}

LogicalResult OutFolder::verifyPlace(MLIRContext *context, StringRef path) {
  std::error_code error = tryPlace(path.rtrim('/'));
  if (!error)
    return success();
  return emitPlain(context)
         << "cannot write '" << path << "': " << error.message();
}

LogicalResult OutFolder::verify(MLIRContext *context, StringRef path) {
  if (failed(verifyPlace(context, path)))
    return failure();
  if (!fs::exists(path) || (fs::is_directory(path) && isReplaceable(path)))
    return success();
  return emitPlain(context) << "'" << path
                            << "' is there and is no output of cleave: not "
                               "replaced";
}

FailureOr<std::unique_ptr<OutFolder>> OutFolder::create(MLIRContext *context,
                                                        StringRef path) {
  path = path.rtrim('/');
  if (failed(verify(context, path)))
    return failure();
  removeLeftovers(path);
  std::unique_ptr<OutFolder> folder(new OutFolder(context, path));
  if (std::error_code error = createFolder(folder->temporary))
    return emitPlain(context) << "cannot create '" << folder->temporary
                              << "': " << error.message();
  return std::move(folder);
}

OutFolder::~OutFolder() {
  if (!temporary.empty())
    (void)fs::remove_directories(temporary);
}

std::string OutFolder::getPath(StringRef name) const {
  return temporary + "/" + name.str();
}

LogicalResult OutFolder::addFolder(StringRef name) {
  if (std::error_code error = createFolder(getPath(name)))
    return emitError() << "cannot create '" << getPath(name)
                       << "': " << error.message();
  return success();
}

LogicalResult OutFolder::write(StringRef name, StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(getPath(name), error);
  if (!error) {
    stream << bytes;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error)
    return emitError() << "cannot write '" << getPath(name)
                       << "': " << error.message();
  return note(name, getDigest(bytes));
}

LogicalResult OutFolder::copy(StringRef from, StringRef name,
                              StringRef digest) {
  std::string to = getPath(name);
  if (fs::create_hard_link(from, to)) {
    std::error_code error = fs::copy_file(from, to);
    if (!error)
      if (llvm::ErrorOr<fs::perms> permissions = fs::getPermissions(from))
        error = fs::setPermissions(to, *permissions);
    if (error)
      return emitError() << "cannot copy '" << from << "' to '" << to
                         << "': " << error.message();
  }
  return note(name, digest);
}

LogicalResult OutFolder::note(StringRef name, StringRef digest) {
  uint64_t bytes;
  if (std::error_code error = fs::file_size(getPath(name), bytes))
    return emitError() << "cannot read '" << getPath(name)
                       << "': " << error.message();
  files[name.str()] = {bytes, digest.str()};
  return success();
}

LogicalResult OutFolder::commit() {
  std::string old = temporary + ".old";
  bool replaces = fs::exists(path);
  std::error_code error;
  if (replaces)
    error = fs::rename(path, old);
  if (!error)
    error = fs::rename(temporary, path);
  if (error)
    return emitError() << "cannot rename '" << temporary << "' to '" << path
                       << "': " << error.message();
  temporary.clear();
  if (replaces)
    (void)fs::remove_directories(old);
  return success();
}
