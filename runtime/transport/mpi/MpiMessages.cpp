//===- MpiMessages.cpp - MPI calls with deadlines -------------------------===//
//
// MPI counts are ints: longer messages go in blocks, in order, under one tag.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/mpi/MpiMessages.h"

#include <algorithm>

namespace cleave::rt {

static constexpr size_t BlockBytes = size_t{1} << 30;
/// Copies of sent messages may take this much before a send waits.
static constexpr size_t OutgoingLimit = size_t{256} << 20;

void checkMpi(int code, const char *what) {
  if (code == MPI_SUCCESS)
    return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  fail(ExitPeer, "MPI failed in {}: {}", what, std::string(text, length));
}

void MpiMessages::open(MPI_Comm parent) {
  checkMpi(MPI_Comm_dup(parent, &comm), "MPI_Comm_dup");
  checkMpi(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN),
           "MPI_Comm_set_errhandler");
}

void MpiMessages::close() {
  if (comm != MPI_COMM_NULL)
    MPI_Comm_free(&comm);
}

void MpiMessages::startSend(int to, const std::byte *data, size_t bytes,
                            int tag, std::vector<Pending> &requests) {
  size_t at = 0;
  do {
    size_t block = std::min(BlockBytes, bytes - at);
    Pending &pending = requests.emplace_back(Pending{MPI_REQUEST_NULL, to, 0});
    checkMpi(MPI_Isend(data + at, static_cast<int>(block), MPI_BYTE, to, tag,
                       comm, &pending.request),
             "MPI_Isend");
    at += block;
  } while (at < bytes);
}

void MpiMessages::startRecv(int from, std::byte *data, size_t bytes, int tag,
                            std::vector<Pending> &requests) {
  size_t at = 0;
  do {
    size_t block = std::min(BlockBytes, bytes - at);
    Pending &pending =
        requests.emplace_back(Pending{MPI_REQUEST_NULL, from, block});
    checkMpi(MPI_Irecv(data + at, static_cast<int>(block), MPI_BYTE, from, tag,
                       comm, &pending.request),
             "MPI_Irecv");
    at += block;
  } while (at < bytes);
}

bool MpiMessages::test(Pending &pending, const Call &call) {
  if (pending.request == MPI_REQUEST_NULL)
    return true;
  int done = 0;
  MPI_Status status;
  int code = MPI_Test(&pending.request, &done, &status);
  int errorClass = MPI_SUCCESS;
  if (code != MPI_SUCCESS)
    MPI_Error_class(code, &errorClass);
  if (errorClass == MPI_ERR_TRUNCATE)
    failDisagree(pending.rank, call);
  checkMpi(code, call.text().c_str());
  if (!done)
    return false;
  int received = 0;
  if (pending.bytes) {
    MPI_Get_count(&status, MPI_BYTE, &received);
    if (static_cast<size_t>(received) != pending.bytes)
      failDisagree(pending.rank, call);
  }
  return true;
}

void MpiMessages::wait(std::vector<Pending> &requests, const Call &call) {
  for (Pending &pending : requests)
    waiting.until([&] { return test(pending, call); }, pending.rank, call);
}

void MpiMessages::exchange(const std::vector<int> &ranks, int self, int tag,
                           std::span<const Exchanged> parts, const Call &call) {
  // Receives first, so that a wait that runs out names who did not send.
  std::vector<Pending> requests;
  for (size_t i = 0; i < parts.size(); ++i)
    if (static_cast<int>(i) != self && parts[i].receiveBytes)
      startRecv(ranks[i], parts[i].receive, parts[i].receiveBytes, tag,
                requests);
  for (size_t i = 0; i < parts.size(); ++i)
    if (static_cast<int>(i) != self && parts[i].sendBytes)
      startSend(ranks[i], parts[i].send, parts[i].sendBytes, tag, requests);
  wait(requests, call);
}

void MpiMessages::progress(const Call &call) {
  while (!outgoing.empty()) {
    for (Pending &pending : outgoing.front().requests)
      if (!test(pending, call))
        return;
    outgoingBytes -= outgoing.front().data.size();
    outgoing.pop_front();
  }
}

void MpiMessages::send(int to, const void *data, size_t bytes, int tag,
                       const Call &call) {
  progress(call);
  if (!outgoing.empty() && outgoingBytes + bytes > OutgoingLimit) {
    auto hasRoom = [&] {
      progress(call);
      return outgoing.empty() || outgoingBytes + bytes <= OutgoingLimit;
    };
    waiting.until(hasRoom, outgoing.front().requests.front().rank, call);
  }
  Outgoing &message = outgoing.emplace_back();
  const auto *begin = static_cast<const std::byte *>(data);
  message.data.assign(begin, begin + bytes);
  outgoingBytes += bytes;
  startSend(to, message.data.data(), bytes, tag, message.requests);
}

void MpiMessages::recv(int from, void *data, size_t bytes, int tag,
                       const Call &call) {
  std::vector<Pending> requests;
  startRecv(from, static_cast<std::byte *>(data), bytes, tag, requests);
  wait(requests, call);
}

void MpiMessages::drain(const Call &call) {
  if (outgoing.empty())
    return;
  auto hasLeft = [&] {
    progress(call);
    return outgoing.empty();
  };
  waiting.until(hasLeft, outgoing.front().requests.front().rank, call);
}

} // namespace cleave::rt
