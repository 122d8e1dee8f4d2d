//===- Context.cpp - one rank's execution state ---------------------------===//
//
// Made on the thread that will run the steps: the thread team belongs to it.
//
//===----------------------------------------------------------------------===//

#include "runtime/Context.h"

#include "runtime/Threads.h"
#include "runtime/library/Dnnl.h"

using namespace cleave::rt;

CleaveContext::CleaveContext(Transport *transport, int slotCount, int threads)
    : transport(transport), threads(threads), slots(slotCount) {
  startThreads(threads);
  dnnl = std::make_unique<DnnlState>();
}

CleaveContext::~CleaveContext() = default;

void CleaveContext::setError(const Failure &failure) {
  if (!error)
    error = failure;
}

void CleaveContext::throwIfFailed() const {
  if (error)
    throw Failure(*error);
}

void CleaveContext::setRoutes(const RouteTable &table) {
  int self = transport->rank();
  for (const auto &pairs : table) {
    Route &route = routes.emplace_back();
    for (auto [from, to] : pairs) {
      if (from == self)
        route.to.push_back(to);
      if (to == self)
        route.from.push_back(from);
    }
  }
}

const std::vector<int> &CleaveContext::receivers(int route) const {
  if (route < 0 || route >= static_cast<int>(routes.size()))
    fail(ExitPlan, "there is no route {}", route);
  return routes[route].to;
}

std::optional<int> CleaveContext::sender(int route) const {
  if (route < 0 || route >= static_cast<int>(routes.size()))
    fail(ExitPlan, "there is no route {}", route);
  if (routes[route].from.size() > 1)
    fail(ExitPlan, "rank {} has {} senders on route {}", transport->rank(),
         routes[route].from.size(), route);
  if (routes[route].from.empty())
    return std::nullopt;
  return routes[route].from[0];
}

void CleaveContext::addConstant(const void *begin, size_t bytes) {
  constants.emplace_back(static_cast<const std::byte *>(begin), bytes);
}

bool CleaveContext::isConstant(const void *address) const {
  const auto *at = static_cast<const std::byte *>(address);
  for (std::span<const std::byte> range : constants)
    if (at >= range.data() && at < range.data() + range.size())
      return true;
  return false;
}

std::byte *CleaveContext::kernelScratch(size_t bytes) {
  if (scratch.size() < bytes)
    scratch = AlignedBuffer(bytes);
  return scratch.data();
}
