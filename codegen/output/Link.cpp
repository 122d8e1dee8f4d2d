//===- Link.cpp - link programs and rank executables ----------------------===//
//
// LLD as a library. Executables find OUT/lib and OUT/programs from their own
// place; by an RPATH, which unlike a RUNPATH holds for the libraries of
// libraries.
//
//===----------------------------------------------------------------------===//

#include "codegen/output/Link.h"

#include "lld/Common/Driver.h"
#include "runtime/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

LLD_HAS_DRIVER(elf)

using namespace cleave;
using namespace mlir;

/// Runs the linker and notes what it made.
static LogicalResult link(OutFolder &folder, ArrayRef<std::string> arguments,
                          StringRef name) {
  std::string output = folder.getPath(name), messages;
  llvm::raw_string_ostream stream(messages);
  SmallVector<const char *> command{"ld.lld",
                                    "-o",
                                    output.c_str(),
                                    "--hash-style=gnu",
                                    "--build-id=none",
                                    "--allow-shlib-undefined",
                                    "--disable-new-dtags",
                                    "--as-needed"};
  for (const std::string &argument : arguments)
    command.push_back(argument.c_str());
  lld::Result result =
      lld::lldMain(command, stream, stream, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return folder.emitError()
           << "cannot link '" << output << "': " << StringRef(messages).rtrim();
  auto buffer = llvm::MemoryBuffer::getFile(output);
  if (!buffer)
    return folder.emitError()
           << "cannot read '" << output << "': " << buffer.getError().message();
  return folder.note(name, getDigest((*buffer)->getBuffer()));
}

static std::string getRuntime(const Resources &resources) {
  return resources.getPath(std::string(format::LibDir) + "/" +
                           format::RuntimeLib);
}

LogicalResult cleave::linkProgram(const Resources &resources, OutFolder &folder,
                                  StringRef object, StringRef name) {
  std::string arguments[] = {"-shared",
                             "-z",
                             "defs",
                             "-soname",
                             llvm::sys::path::filename(name).str(),
                             "-rpath",
                             std::string("$ORIGIN/../") + format::LibDir,
                             object.str(),
                             getRuntime(resources),
                             resources.getPath("link/libm.so.6"),
                             resources.getPath("link/libc.so.6")};
  return link(folder, arguments, name);
}

LogicalResult cleave::linkRank(const Resources &resources, OutFolder &folder,
                               StringRef program, StringRef name) {
  std::string arguments[] = {"-pie",
                             "-dynamic-linker",
                             "/lib64/ld-linux-x86-64.so.2",
                             "-rpath",
                             std::string("$ORIGIN/") + format::LibDir +
                                 ":$ORIGIN/" + format::ProgramDir,
                             resources.getPath("link/Scrt1.o"),
                             resources.getPath("link/crti.o"),
                             resources.getPath("link/libcleave_rank_main.a"),
                             folder.getPath(program),
                             getRuntime(resources),
                             resources.getPath("link/libc.so.6"),
                             resources.getPath("link/crtn.o")};
  return link(folder, arguments, name);
}
