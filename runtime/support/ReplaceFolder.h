//===- ReplaceFolder.h - a folder that appears whole or not at all --------===//

#ifndef CLEAVE_RUNTIME_SUPPORT_REPLACEFOLDER_H
#define CLEAVE_RUNTIME_SUPPORT_REPLACEFOLDER_H

#include <filesystem>

namespace cleave::rt {

/// Gives the complete folder `side` the name `place`, in the same parent; what
/// had that name is removed when the new names are on disk. The names change in
/// one exchange, so that a process that is killed leaves the old folder or the
/// new one there. A file system that has no exchange (some network file
/// systems) gets two renames, between which nothing has the name. Throws
/// Failure (ExitDevice).
void replaceFolder(const std::filesystem::path &side,
                   const std::filesystem::path &place);

/// Returns when the names in a folder are on disk. Throws Failure (ExitDevice).
void syncFolder(const std::filesystem::path &folder);

} // namespace cleave::rt

#endif
