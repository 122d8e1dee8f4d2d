//===- Link.h - link programs and rank executables ------------------------===//

#ifndef CLEAVE_CODEGEN_OUTPUT_LINK_H
#define CLEAVE_CODEGEN_OUTPUT_LINK_H

#include "codegen/output/OutFolder.h"

namespace cleave {

/// Files that every output needs, by their place in the resource folder:
/// lib/ goes to OUT/lib, link/ is only read when linking, launch is copied.
struct Resources {
  std::string folder;
  std::string getPath(llvm::StringRef name) const {
    return folder + "/" + name.str();
  }
};

/// Links the object file at `object` to the shared library `name` of OUT. Every
/// symbol must be in the runtime, libm or libc.
[[nodiscard]] mlir::LogicalResult linkProgram(const Resources &resources,
                                              OutFolder &folder,
                                              llvm::StringRef object,
                                              llvm::StringRef name);

/// Links the executable `name` of OUT with the library `program` of OUT.
[[nodiscard]] mlir::LogicalResult linkRank(const Resources &resources,
                                           OutFolder &folder,
                                           llvm::StringRef program,
                                           llvm::StringRef name);

} // namespace cleave

#endif
