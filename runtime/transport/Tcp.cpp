//===- Tcp.cpp - ranks that meet over TCP ---------------------------------===//
//
// Rank 0 waits for all, and tells all where each of the others waits; then a
// rank connects to those before it and takes the connections of those behind.
// A thread for each connection takes what comes into a mailbox, so that a send
// never waits for its receiver for long.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/Tcp.h"

#include "runtime/support/Error.h"
#include "runtime/transport/MessageGroup.h"
#include "runtime/transport/Socket.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

namespace cleave::rt {

TcpOptions readTcpOptions(int rank, int size, int localRank,
                          Deadlines deadlines) {
  auto number = [](const char *name, int other) {
    const char *text = std::getenv(name);
    return text && *text ? std::atoi(text) : other;
  };
  const char *host = std::getenv("MASTER_ADDR");
  int port = number("CLEAVE_PORT", number("MASTER_PORT", -1) + 1);
  if (!host || !*host || port <= 0)
    fail(ExitUsage,
         "{} ranks were started, but MASTER_ADDR and MASTER_PORT do "
         "not say where they meet",
         size);
  return {rank, size, localRank, number("LOCAL_WORLD_SIZE", size),
          host, port, deadlines};
}

namespace {
/// Where a rank waits for others.
struct Place {
  char host[64];
  int32_t rank, port;
};

struct Header {
  int64_t tag;
  uint64_t bytes;
};

/// A connection with another rank.
struct Link {
  Socket socket;
  std::mutex sending;
  std::thread reader;
};

class TcpTransport final : public Transport {
public:
  explicit TcpTransport(const TcpOptions &options);
  ~TcpTransport() override;

  int rank() const override { return options.rank; }
  int size() const override { return options.size; }
  int localRank() const override { return options.localRank; }
  int localSize() const override { return options.localSize; }
  Collectives &world() override { return *everyone; }
  void connect(const GroupTable &table) override;
  Collectives &group(int index) override;
  void send(int to, const void *data, size_t bytes, int tag,
            const char *op) override {
    put(to, tag, data, bytes, Call("send", op));
  }
  void recv(int from, void *data, size_t bytes, int tag,
            const char *op) override {
    take(from, tag, data, bytes, Call("recv", op));
  }
  void finish() override { everyone->barrier("end of run"); }
  void abort(int, const std::string &) override { stop(); }
  bool isStopped() const override { return isLost; }

private:
  void meet();
  void meetAtMaster(const Socket &listener, std::vector<Place> &places);
  void readAll(int from);
  void stop();
  void put(int to, int64_t tag, const void *data, size_t bytes,
           const Call &call);
  void take(int from, int64_t tag, void *data, size_t bytes, const Call &call);
  void exchange(const std::vector<int> &ranks, int place, int64_t tag,
                std::span<const Exchanged> parts, const Call &call);
  std::unique_ptr<Collectives> makeGroup(int index,
                                         const std::vector<int> &ranks);

  TcpOptions options;
  std::vector<Link> links; ///< by rank; the own one is not used
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<std::pair<int, int64_t>, std::deque<std::vector<std::byte>>> mail;
  std::vector<bool> ended; ///< by rank: nothing more comes
  std::atomic<bool> isLost = false;
  std::unique_ptr<Collectives> everyone;
  std::vector<std::unique_ptr<Collectives>> groups;
};
} // namespace

/// Tags of groups, apart from those of messages.
static constexpr int64_t GroupTag = int64_t{1} << 40;

//===-- Start -------------------------------------------------------------===//

void TcpTransport::meetAtMaster(const Socket &listener,
                                std::vector<Place> &places) {
  double seconds = options.deadlines.start;
  bool isComplete = true;
  if (options.rank == 0) {
    for (int i = 1; i < options.size; ++i) {
      Socket socket = listener.accept(seconds);
      Place place = {};
      isComplete &= socket.read(&place, sizeof(place)) && place.rank > 0 &&
                    place.rank < options.size;
      if (!isComplete)
        break;
      std::string host = socket.peerHost();
      std::memcpy(place.host, host.c_str(), host.size() + 1);
      places[place.rank] = place;
      links[place.rank].socket = std::move(socket);
    }
    for (int i = 1; isComplete && i < options.size; ++i)
      isComplete =
          links[i].socket.write(places.data(), places.size() * sizeof(Place));
  } else {
    Socket &master = links[0].socket;
    master = Socket::connect(options.host, options.port, seconds);
    Place own = {"", options.rank, listener.port()};
    isComplete = master.write(&own, sizeof(own)) &&
                 master.read(places.data(), places.size() * sizeof(Place));
  }
  if (!isComplete)
    fail(ExitPeer, "rank {} lost the others while they met at {}:{}",
         options.rank, options.host, options.port);
}

void TcpTransport::meet() {
  Socket listener = Socket::listen(options.rank ? 0 : options.port);
  std::vector<Place> places(options.size);
  meetAtMaster(listener, places);
  double seconds = options.deadlines.start;
  for (int i = 1; i < options.rank; ++i) {
    links[i].socket = Socket::connect(places[i].host, places[i].port, seconds);
    int32_t own = options.rank;
    links[i].socket.write(&own, sizeof(own));
  }
  for (int i = options.rank + 1; options.rank && i < options.size; ++i) {
    Socket socket = listener.accept(seconds);
    int32_t other = 0;
    if (!socket.read(&other, sizeof(other)) || other <= options.rank ||
        other >= options.size)
      fail(ExitPeer, "rank {} was called by what is no rank", options.rank);
    links[other].socket = std::move(socket);
  }
}

TcpTransport::TcpTransport(const TcpOptions &options)
    : options(options), links(options.size), ended(options.size) {
  meet();
  for (int i = 0; i < options.size; ++i)
    if (i != options.rank)
      links[i].reader = std::thread([this, i] { readAll(i); });
  std::vector<int> all(options.size);
  std::iota(all.begin(), all.end(), 0);
  everyone = makeGroup(-1, all);
}

TcpTransport::~TcpTransport() {
  stop();
  for (Link &link : links)
    if (link.reader.joinable())
      link.reader.join();
}

void TcpTransport::stop() {
  for (int i = 0; i < options.size; ++i)
    if (i != options.rank)
      links[i].socket.shutDown();
}

//===-- Messages ----------------------------------------------------------===//

void TcpTransport::readAll(int from) {
  Header header;
  while (links[from].socket.read(&header, sizeof(header))) {
    std::vector<std::byte> message(header.bytes);
    if (!links[from].socket.read(message.data(), message.size()))
      break;
    std::lock_guard<std::mutex> lock(mutex);
    mail[{from, header.tag}].push_back(std::move(message));
    arrived.notify_all();
  }
  std::lock_guard<std::mutex> lock(mutex);
  ended[from] = true;
  arrived.notify_all();
}

void TcpTransport::put(int to, int64_t tag, const void *data, size_t bytes,
                       const Call &call) {
  if (to == options.rank) {
    const auto *begin = static_cast<const std::byte *>(data);
    std::lock_guard<std::mutex> lock(mutex);
    mail[{to, tag}].emplace_back(begin, begin + bytes);
    return;
  }
  std::lock_guard<std::mutex> lock(links[to].sending);
  Header header{tag, bytes};
  if (!links[to].socket.write(&header, sizeof(header)) ||
      !links[to].socket.write(data, bytes)) {
    isLost = true;
    failStopped(call);
  }
}

void TcpTransport::take(int from, int64_t tag, void *data, size_t bytes,
                        const Call &call) {
  std::unique_lock<std::mutex> lock(mutex);
  auto &queue = mail[{from, tag}];
  double seconds = options.deadlines.operation;
  bool came = arrived.wait_for(lock, std::chrono::duration<double>(seconds),
                               [&] { return !queue.empty() || ended[from]; });
  if (!came)
    failLate(from, call, seconds);
  if (queue.empty()) {
    isLost = true;
    failStopped(call);
  }
  std::vector<std::byte> message = std::move(queue.front());
  queue.pop_front();
  if (message.size() != bytes)
    failDisagree(from, call);
  if (bytes)
    std::memcpy(data, message.data(), bytes);
}

//===-- Groups ------------------------------------------------------------===//

/// Each message begins with the call's signature.
void TcpTransport::exchange(const std::vector<int> &ranks, int place,
                            int64_t tag, std::span<const Exchanged> parts,
                            const Call &call) {
  std::vector<std::byte> message;
  uint64_t signature = call.signature;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (static_cast<int>(i) == place)
      continue;
    message.resize(sizeof(signature) + parts[i].sendBytes);
    std::memcpy(message.data(), &signature, sizeof(signature));
    if (parts[i].sendBytes)
      std::memcpy(message.data() + sizeof(signature), parts[i].send,
                  parts[i].sendBytes);
    put(ranks[i], tag, message.data(), message.size(), call);
  }
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (static_cast<int>(i) == place)
      continue;
    message.resize(sizeof(signature) + parts[i].receiveBytes);
    take(ranks[i], tag, message.data(), message.size(), call);
    if (std::memcmp(message.data(), &signature, sizeof(signature)) != 0)
      failDisagree(ranks[i], call);
    if (parts[i].receiveBytes)
      std::memcpy(parts[i].receive, message.data() + sizeof(signature),
                  parts[i].receiveBytes);
  }
}

std::unique_ptr<Collectives>
TcpTransport::makeGroup(int index, const std::vector<int> &ranks) {
  int place = static_cast<int>(
      std::find(ranks.begin(), ranks.end(), options.rank) - ranks.begin());
  auto run = [this, ranks, place, tag = GroupTag + index](
                 std::span<const Exchanged> parts, const Call &call) {
    exchange(ranks, place, tag, parts, call);
  };
  return std::make_unique<MessageGroup>(ranks, place, run);
}

void TcpTransport::connect(const GroupTable &table) {
  std::vector<std::vector<int>> own = groupsOfRank(table, options.rank);
  for (size_t i = 0; i < own.size(); ++i)
    groups.push_back(own[i].empty() ? nullptr
                                    : makeGroup(static_cast<int>(i), own[i]));
}

Collectives &TcpTransport::group(int index) {
  if (index < 0 || index >= static_cast<int>(groups.size()) || !groups[index])
    fail(ExitPlan, "rank {} is in no group {}", options.rank, index);
  return *groups[index];
}

std::unique_ptr<Transport> makeTcpTransport(const TcpOptions &options) {
  return std::make_unique<TcpTransport>(options);
}

} // namespace cleave::rt
