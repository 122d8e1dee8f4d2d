//===- Context.cpp - one rank's execution state ---------------------------===//
//
// Made on the thread that will run the steps: the thread team belongs to it.
//
//===----------------------------------------------------------------------===//

#include "runtime/Context.h"

#include "runtime/Threads.h"
#include "runtime/library/Dnnl.h"

#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>

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

void CleaveContext::addConstant(const void *begin, size_t bytes,
                                bool isMapped) {
  constants.push_back({static_cast<const std::byte *>(begin), bytes, isMapped});
}

const CleaveContext::Constant *
CleaveContext::findConstant(const void *address) const {
  const auto *at = static_cast<const std::byte *>(address);
  for (const Constant &range : constants)
    if (at >= range.begin && at < range.begin + range.bytes)
      return &range;
  return nullptr;
}

bool CleaveContext::isConstant(const void *address) const {
  return findConstant(address) != nullptr;
}

void CleaveContext::releaseConstant(const void *begin, size_t bytes) const {
  const Constant *range = findConstant(begin);
  if (!range || !range->isMapped)
    return;
  // Whole pages only: others may hold parts of what is still read.
  auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  auto address = reinterpret_cast<uintptr_t>(begin);
  size_t skipped = (page - address % page) % page;
  if (bytes < skipped + page)
    return;
  const std::byte *first = static_cast<const std::byte *>(begin) + skipped;
  madvise(const_cast<std::byte *>(first), (bytes - skipped) / page * page,
          MADV_DONTNEED);
}

std::byte *CleaveContext::kernelScratch(size_t bytes) {
  if (scratch.size() < bytes)
    scratch = AlignedBuffer(bytes);
  return scratch.data();
}
