//===- OperatorTable.cpp - which operator is imported by what -------------===//

#include "frontend/OperatorTable.h"

#include <utility>

using namespace cleave;

OperatorTable::OperatorTable() {
  registerElementwise(*this);
  registerMovement(*this);
  registerIndexing(*this);
  registerGather(*this);
  registerScatter(*this);
  registerShape(*this);
  registerReduction(*this);
  registerContraction(*this);
  registerEinsum(*this);
  registerConvolution(*this);
  registerPooling(*this);
  registerResize(*this);
  registerNormalization(*this);
  registerLoss(*this);
  registerQuantization(*this);
  registerSampling(*this);
  registerControl(*this);
  registerScan(*this);
  registerRecurrent(*this);
  registerUnpooling(*this);
  registerSpectrum(*this);
  registerOptimizers(*this);
}

void OperatorTable::onOp(llvm::StringRef domain, llvm::StringRef name,
                         int64_t since, OpHandler handler) {
  handlers[getKey(domain, name)][since] = std::move(handler);
}

const OpHandler *OperatorTable::find(llvm::StringRef domain,
                                     llvm::StringRef name,
                                     int64_t version) const {
  auto versions = handlers.find(getKey(domain, name));
  if (versions == handlers.end())
    return nullptr;
  auto newer = versions->second.upper_bound(version);
  return newer == versions->second.begin() ? nullptr
                                           : &std::prev(newer)->second;
}
