//===- Communicator.cpp - make, split and end communicators ---------------===//

#include "nccl/Communicator.h"
#include "abi/Nccl.h"
#include "device/Environment.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace cudaemu;

double cudaemu::patience() {
  static const double seconds = [] {
    const char *value = getenv("CUDAEMU_NCCL_TIMEOUT_S");
    return value ? strtod(value, nullptr) : 120.0;
  }();
  return seconds;
}

std::vector<std::string> Communicator::exchange(const std::string &mine) {
  uint64_t piece = ++controls;
  Segment::Rank &own = segment->rank(rank);
  char *at = own.controls[piece % 2];
  std::fill_n(at, Segment::controlBytes, '\0');
  std::copy(mine.begin(), mine.end(), at);
  own.control.store(piece, std::memory_order_release);
  std::vector<std::string> all;
  auto start = std::chrono::steady_clock::now();
  for (int k = 0; k < segment->ranks(); ++k) {
    Segment::Rank &other = segment->rank(k);
    while (other.control.load(std::memory_order_acquire) < piece) {
      std::chrono::duration<double> waited =
          std::chrono::steady_clock::now() - start;
      if (waited.count() > patience())
        throw std::runtime_error("rank " + std::to_string(k) +
                                 " of the communicator did not come");
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    all.emplace_back(other.controls[piece % 2], Segment::controlBytes);
  }
  return all;
}

template <class T> static std::string packed(const T &value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof value);
}
template <class T> static T unpacked(const std::string &bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

namespace {
struct Choice {
  int64_t color, key;
};
} // namespace

static int complain(int result, const std::string &what) {
  report("nccl: " + what);
  return result;
}

/// As NCCL does, refuses two ranks on one device. Devices of two processes are
/// the same when they have the same number.
static int checkSeats(Communicator &comm) {
  int mine = comm.device->context.device;
  std::vector<std::string> all = comm.exchange(packed(mine));
  for (int k = 0; k < comm.segment->ranks(); ++k)
    if (k != comm.rank && unpacked<int>(all[k]) == mine)
      return complain(nccl::InvalidUsage, "ranks " + std::to_string(comm.rank) +
                                              " and " + std::to_string(k) +
                                              " both use device " +
                                              std::to_string(mine));
  return nccl::Success;
}

static int open(const Segment::Address &address, int rank, CudaContext *device,
                Communicator *&made) {
  auto comm = std::make_unique<Communicator>();
  comm->rank = rank;
  comm->device = device;
  comm->segment = std::make_unique<Segment>(address);
  if (int wrong = checkSeats(*comm))
    return wrong;
  made = comm.release();
  return nccl::Success;
}

template <class F> static int guarded(F f) {
  try {
    return f();
  } catch (const std::runtime_error &wrong) {
    return complain(nccl::SystemError, wrong.what());
  }
}

/// Ranks of a color are ordered by key, then by rank; the first one makes the
/// new segment.
static int split(Communicator &comm, Choice mine, Communicator *&made) {
  std::vector<std::string> all = comm.exchange(packed(mine));
  std::vector<std::pair<int64_t, int>> members;
  for (int k = 0; k < comm.segment->ranks(); ++k)
    if (auto choice = unpacked<Choice>(all[k]); choice.color == mine.color)
      members.emplace_back(choice.key, k);
  std::sort(members.begin(), members.end());
  bool takesPart = mine.color != nccl::noColor;
  Segment::Address address{};
  if (takesPart && members[0].second == comm.rank)
    address = Segment::create(static_cast<int>(members.size()));
  all = comm.exchange(packed(address));
  made = nullptr;
  if (!takesPart)
    return nccl::Success;
  auto place =
      std::find(members.begin(), members.end(), std::pair(mine.key, comm.rank));
  return open(unpacked<Segment::Address>(all[members[0].second]),
              static_cast<int>(place - members.begin()), comm.device, made);
}

extern "C" {

int ncclGetUniqueId(nccl::UniqueId *id) {
  return guarded([&] {
    Segment::Address address = Segment::create(0);
    std::memset(id, 0, sizeof *id);
    std::memcpy(id, &address, sizeof address);
    return nccl::Success;
  });
}

int ncclCommInitRankConfig(nccl::CommHandle *comm, int ranks, nccl::UniqueId id,
                           int rank, void *) {
  if (rank < 0 || rank >= ranks)
    return complain(nccl::InvalidArgument, "rank " + std::to_string(rank) +
                                               " of " + std::to_string(ranks));
  CudaContext *device = currentContext();
  if (!device)
    return complain(nccl::UnhandledCudaError, "no current context");
  return guarded([&] {
    Segment::Address address;
    std::memcpy(&address, &id, sizeof address);
    address.ranks = ranks;
    return open(address, rank, device, *comm);
  });
}

int ncclCommInitRank(nccl::CommHandle *comm, int ranks, nccl::UniqueId id,
                     int rank) {
  return ncclCommInitRankConfig(comm, ranks, id, rank, nullptr);
}

int ncclCommSplit(nccl::CommHandle comm, int color, int key,
                  nccl::CommHandle *made, void *) {
  return guarded([&] { return split(*comm, {color, key}, *made); });
}

/// Lets the operations of the communicator end, without more ranks.
int ncclCommAbort(nccl::CommHandle comm) {
  comm->isAborted = true;
  if (isAlive(comm->device))
    comm->device->context.wait(comm->chain.last);
  delete comm;
  return nccl::Success;
}

int ncclCommFinalize(nccl::CommHandle comm) {
  return comm->device->context.wait(comm->chain.last) ? nccl::UnhandledCudaError
                                                      : nccl::Success;
}

int ncclCommDestroy(nccl::CommHandle comm) {
  int result = ncclCommFinalize(comm);
  delete comm;
  return result;
}

int ncclCommGetAsyncError(nccl::CommHandle comm, int *error) {
  *error = comm->asyncError;
  return nccl::Success;
}

int ncclCommCount(nccl::CommHandle comm, int *count) {
  *count = comm->segment->ranks();
  return nccl::Success;
}

int ncclCommUserRank(nccl::CommHandle comm, int *rank) {
  *rank = comm->rank;
  return nccl::Success;
}

int ncclCommCuDevice(nccl::CommHandle comm, int *device) {
  *device = comm->device->context.device;
  return nccl::Success;
}

int ncclGetVersion(int *version) {
  *version = 22809;
  return nccl::Success;
}

const char *ncclGetErrorString(int result) {
  switch (result) {
  case nccl::Success:
    return "no error";
  case nccl::UnhandledCudaError:
    return "unhandled cuda error";
  case nccl::SystemError:
    return "unhandled system error";
  case nccl::InternalError:
    return "internal error";
  case nccl::InvalidArgument:
    return "invalid argument";
  case nccl::InvalidUsage:
    return "invalid usage";
  case nccl::RemoteError:
    return "remote process exited or there was a network error";
  case nccl::InProgress:
    return "NCCL operation in progress";
  default:
    return "unknown result code";
  }
}

const char *ncclGetLastError(nccl::CommHandle) {
  return "see the line that cudaemu printed";
}
}
