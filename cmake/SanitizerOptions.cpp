//===- SanitizerOptions.cpp - defaults of the address sanitizer -----------===//
//
// LLVM and MLIR are not instrumented. Their allocators poison memory in
// headers, so in our code only, and hand it out in theirs: user poisoning is
// off.
//
//===----------------------------------------------------------------------===//

extern "C" const char *__asan_default_options() {
  return "allow_user_poisoning=0";
}
