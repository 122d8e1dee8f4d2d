//===- Export.cpp - cleave export: a trained model as ONNX ----------------===//
//
// The model that was compiled, with the weights of a checkpoint in place of its
// own. External data go to one file beside the new model. Both files are
// written to the side first.
//
//===----------------------------------------------------------------------===//

#include "tools/cleave/Files.h"
#include "tools/cleave/Messages.h"
#include "tools/cleave/TensorFiles.h"
#include "tools/cleave/Verbs.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace cleave;
using namespace mlir;

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {
struct ExportFlags {
  std::string model;
  std::string checkpoint; ///< a run's folder of checkpoints, or one of them
  std::string out;
};
} // namespace

static bool isCheckpoint(const std::string &folder) {
  return fs::exists(folder + "/trainer_state.json");
}

/// The checkpoint itself, or the last complete one in the folder; empty: none.
static std::string findCheckpoint(const std::string &folder) {
  if (isCheckpoint(folder))
    return folder;
  std::string last;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; it != end && !error;
       it.increment(error))
    if (path::filename(it->path()).starts_with("step-") &&
        isCheckpoint(it->path()))
      last = std::max(last, it->path());
  return last;
}

static llvm::Error copyTo(llvm::raw_fd_ostream &stream,
                          ArrayRef<FileSlice> slices) {
  for (const FileSlice &slice : slices) {
    stream.write_zeros(-stream.tell() % ExternalAlignment);
    auto data = llvm::MemoryBuffer::getFileSlice(slice.file, slice.length,
                                                 slice.offset);
    if (!data)
      return llvm::createStringError(data.getError(), "'%s' cannot be read",
                                     slice.file.c_str());
    stream << (*data)->getBuffer();
  }
  stream.flush();
  std::error_code error = stream.error();
  stream.clear_error();
  return llvm::errorCodeToError(error);
}

/// Writes the external data, if there are any.
static llvm::Error writeData(StringRef file, ArrayRef<FileSlice> slices) {
  if (slices.empty())
    return llvm::Error::success();
  auto side =
      fs::TempFile::create(file + ".%%%%%%.part", fs::all_read | fs::all_write);
  if (!side)
    return side.takeError();
  llvm::raw_fd_ostream stream(side->FD, /*shouldClose=*/false);
  if (llvm::Error error = copyTo(stream, slices))
    return llvm::joinErrors(std::move(error), side->discard());
  return side->keep(file);
}

static int writeModel(const ExportFlags &flags, const TrainedModel &model) {
  std::string data = flags.out + ".data";
  if (llvm::Error error = writeData(data, model.data)) {
    printError("cannot write '" + data + "': " + toString(std::move(error)));
    return ExitDevice;
  }
  return writeOutput(flags.out, model.bytes);
}

static int exportModel(const ExportFlags &flags) {
  if (fs::is_directory(flags.model)) {
    printError("'" + flags.model +
               "' is a folder: export needs the ONNX model that was compiled, "
               "of which no compiled program has a copy");
    return ExitModel;
  }
  std::string checkpoint = findCheckpoint(flags.checkpoint);
  if (checkpoint.empty()) {
    printError("'" + flags.checkpoint + "' has no complete checkpoint");
    return ExitMismatch;
  }
  std::optional<std::vector<StoredTensor>> weights =
      readStoredTensors(checkpoint + "/model");
  if (!weights)
    return ExitMismatch;
  if (fs::equivalent(flags.model, flags.out)) {
    printError("-o is the model itself: give the trained one another name");
    return ExitUsage;
  }
  if (!verifyFilePlace(flags.out))
    return ExitUsage;
  MLIRContext context;
  ErrorPrinter errors(&context);
  FailureOr<TrainedModel> trained =
      replaceWeights(&context, flags.model, *weights,
                     path::filename(flags.out).str() + ".data");
  if (failed(trained))
    return ExitMismatch;
  return writeModel(flags, *trained);
}

void cleave::addExport(CLI::App &app, Verb &verb) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App *command = app.add_subcommand(
      "export", "Writes a trained model: an ONNX model with the weights of a "
                "checkpoint.");
  command->add_option("model", flags->model, "MODEL.onnx that was compiled")
      ->required()
      ->check(CLI::ExistingPath);
  command
      ->add_option("--checkpoint", flags->checkpoint,
                   "DIR of a run's checkpoints, of which the last is taken, or "
                   "DIR/step-N")
      ->required()
      ->check(CLI::ExistingDirectory);
  command->add_option("-o", flags->out, "TRAINED.onnx to write")
      ->required()
      ->check([](const std::string &file) -> std::string {
        return llvm::StringRef(file).ends_with(".onnx")
                   ? ""
                   : "expected a name in .onnx, found '" + file + "'";
      });
  command->callback(
      [flags, &verb] { verb = [flags] { return exportModel(*flags); }; });
}
