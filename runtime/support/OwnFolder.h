//===- OwnFolder.h - where the runtime's libraries are --------------------===//

#ifndef CLEAVE_RUNTIME_SUPPORT_OWNFOLDER_H
#define CLEAVE_RUNTIME_SUPPORT_OWNFOLDER_H

#include <filesystem>

namespace cleave::rt {

/// The folder of libcleave_rt.so. Throws Failure (ExitDevice).
std::filesystem::path ownFolder();

} // namespace cleave::rt

#endif
