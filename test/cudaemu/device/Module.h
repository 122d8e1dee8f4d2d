//===- Module.h - a loaded module -----------------------------------------===//
#pragma once

#include "device/Context.h"
#include "exec/Program.h"

namespace cudaemu {

struct Module;

/// A kernel of a module, with what the host set for it.
struct Kernel {
  Module *module = nullptr;
  Program program;
  int maxDynamicShared = 48 << 10;
};

struct Module {
  struct Global {
    uint64_t address, bytes;
  };
  std::map<std::string, Kernel> kernels; ///< Entries and functions.
  std::map<std::string, Global> globals; ///< By name.
};

/// Decodes the PTX and puts its variables into the memory of the device.
/// Throws ptx::Error.
std::unique_ptr<Module> loadPtx(Context &context, std::string_view text);

/// The PTX of an image: text, or an entry of a fat binary. Throws ImageError.
struct ImageError : std::runtime_error {
  int code;
  ImageError(int code, const std::string &what)
      : std::runtime_error(what), code(code) {}
};
std::string ptxOf(const void *image);

} // namespace cudaemu
