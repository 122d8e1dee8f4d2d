//===- Code.cpp - the code of a program on a device -----------------------===//
//
// A binary runs on devices of its major version, of its minor one or later;
// PTX on all later ones, where the driver compiles it.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/Code.h"

#include "runtime/support/Log.h"

#include <algorithm>
#include <span>
#include <string>

namespace cleave::rt::cuda {

/// The images that may run on `arch`, the best first.
static std::vector<const CleaveDeviceImage *>
choose(std::span<const CleaveDeviceImage> images, int arch) {
  std::vector<const CleaveDeviceImage *> fitting;
  for (const CleaveDeviceImage &image : images)
    if (image.arch <= arch && (!image.isBinary || image.arch / 10 == arch / 10))
      fitting.push_back(&image);
  std::sort(fitting.begin(), fitting.end(), [](auto *x, auto *y) {
    return std::pair(x->isBinary, x->arch) > std::pair(y->isBinary, y->arch);
  });
  return fitting;
}

Code::Code(const CleaveDeviceCode &code, DeviceNumber device) {
  int major = 0, minor = 0;
  CLEAVE_DRIVER(cuDeviceGetAttribute, &major, AttributeMajor, device);
  CLEAVE_DRIVER(cuDeviceGetAttribute, &minor, AttributeMinor, device);
  int arch = 10 * major + minor;
  const auto fitting =
      choose({code.images, static_cast<size_t>(code.imageCount)}, arch);
  // A driver may refuse a binary that should fit, and take the PTX.
  Status status = StatusNoBinary;
  for (const CleaveDeviceImage *image : fitting) {
    status = driver().cuModuleLoadData(&module, image->data);
    logf(LogLevel::Debug, "device of sm_{} {} the {} of sm_{}", arch,
         status == StatusDone ? "runs" : "refuses",
         image->isBinary ? "binary" : "PTX", image->arch);
    if (status != StatusNoBinary)
      break;
  }
  if (fitting.empty()) {
    std::string made;
    for (int i = 0; i < code.imageCount; ++i)
      made += fmt::format("{}sm_{}", i ? ", " : "", code.images[i].arch);
    fail(ExitDevice,
         "the program has code for {}, the device is sm_{}: compile with "
         "--arch sm_{}",
         made, arch, arch);
  }
  driver().check(status, "cuModuleLoadData");
  for (int i = 0; i < code.kernelCount; ++i)
    CLEAVE_DRIVER(cuModuleGetFunction, &kernels.emplace_back(), module,
                  code.kernels[i]);
}

Code::~Code() { driver().cuModuleUnload(module); }

} // namespace cleave::rt::cuda
