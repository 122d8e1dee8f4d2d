//===- Library.h - libraries that are loaded when they are needed ---------===//
//
// The runtime is built without CUDA: each library's entry points, as its public
// ABI has them, are declared in a header of ours and found by name.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_CUDA_LIBRARY_H
#define CLEAVE_RUNTIME_CUDA_LIBRARY_H

#include <initializer_list>
#include <string>

namespace cleave::rt::cuda {

/// A library that stays loaded to the end of the process.
class Library {
public:
  /// Loads the first of `names` that there is. `purpose` says in the message
  /// what it is needed for. Throws Failure (ExitDevice).
  Library(std::initializer_list<const char *> names, const char *purpose);

  /// The address of an entry point. Throws Failure (ExitDevice).
  void *find(const char *name) const;

private:
  void *handle = nullptr;
  std::string name;
};

} // namespace cleave::rt::cuda

/// Declares a member that points to an entry point, and finds it.
#define CLEAVE_DECLARE_ENTRY(result, name, parameters)                         \
  result(*name) parameters = nullptr;
#define CLEAVE_FIND_ENTRY(result, name, parameters)                            \
  name = reinterpret_cast<decltype(name)>(library.find(#name));

#endif
