//===- Links.cpp - what is between the ranks that were started ------------===//
//
// A group is timed by all its members at once, groups of one size on all hosts
// together. A figure is the least of a few medians, for what else the machine
// does only lengthens them, on the slowest member.
//
//===----------------------------------------------------------------------===//

#include "runtime/main/Links.h"

#include "runtime/Messages.h"
#include "runtime/main/Agree.h"
#include "runtime/main/Join.h"
#include "runtime/support/Log.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace cleave::rt {

using nlohmann::json;

/// Hosts measure their devices first, each in its own time.
static constexpr Deadlines Patient{300, 3600};

static std::string hostName() {
  char name[256] = "";
  gethostname(name, sizeof(name) - 1);
  return name;
}

//===-- Groups ------------------------------------------------------------===//

/// Ranks of each host, in the order of the first of them.
static std::vector<std::vector<int>>
listHosts(const std::vector<std::string> &names) {
  std::vector<std::vector<int>> hosts;
  std::vector<std::string> known;
  for (size_t rank = 0; rank < names.size(); ++rank) {
    size_t place =
        std::find(known.begin(), known.end(), names[rank]) - known.begin();
    if (place == known.size()) {
      known.push_back(names[rank]);
      hosts.emplace_back();
    }
    hosts[place].push_back(static_cast<int>(rank));
  }
  return hosts;
}

/// 2, 4 ... and `most`.
static std::vector<size_t> listSizes(size_t most) {
  std::vector<size_t> sizes;
  for (size_t size = 2; size < most; size *= 2)
    sizes.push_back(size);
  if (most > 1)
    sizes.push_back(most);
  return sizes;
}

namespace {
/// Groups to be timed; those of one row at the same time.
struct Rows {
  GroupTable table;
  std::vector<bool> isNetwork;

  void add(std::vector<std::vector<int>> groups, bool isBetweenHosts) {
    table.push_back(std::move(groups));
    isNetwork.push_back(isBetweenHosts);
  }
};
} // namespace

static std::vector<int> firstOf(const std::vector<int> &ranks, size_t count) {
  return {ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(count)};
}

static Rows listRows(const std::vector<std::vector<int>> &hosts) {
  Rows rows;
  std::vector<size_t> sizes;
  std::vector<int> leaders;
  for (const std::vector<int> &host : hosts) {
    leaders.push_back(host.front());
    for (size_t size : listSizes(host.size()))
      sizes.push_back(size);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  for (size_t size : sizes) {
    std::vector<std::vector<int>> groups;
    for (const std::vector<int> &host : hosts) {
      std::vector<size_t> own = listSizes(host.size());
      if (std::find(own.begin(), own.end(), size) != own.end())
        groups.push_back(firstOf(host, size));
    }
    rows.add(std::move(groups), false);
  }
  for (size_t size : listSizes(leaders.size()))
    rows.add({firstOf(leaders, size)}, true);
  return rows;
}

//===-- Times -------------------------------------------------------------===//

/// Seconds of an all-reduce of `count` floats.
static double timeAllReduce(Collectives &group, int64_t count) {
  constexpr int Rounds = 5, Samples = 20, Calls = 4;
  std::vector<float> data(count);
  auto reduce = [&] {
    group.allReduce(data.data(), data.data(), count, CLEAVE_F32, CLEAVE_SUM,
                    "measurement");
  };
  for (int i = 0; i < Samples; ++i)
    reduce();
  double least = std::numeric_limits<double>::infinity();
  for (int round = 0; round < Rounds; ++round) {
    std::vector<double> times;
    for (int sample = 0; sample < Samples; ++sample) {
      group.barrier("measurement");
      auto start = std::chrono::steady_clock::now();
      for (int i = 0; i < Calls; ++i)
        reduce();
      std::chrono::duration<double> time =
          std::chrono::steady_clock::now() - start;
      times.push_back(time.count() / Calls);
    }
    std::nth_element(times.begin(), times.begin() + Samples / 2, times.end());
    least = std::min(least, times[Samples / 2]);
  }
  group.allReduce(&least, &least, 1, CLEAVE_F64, CLEAVE_MAX, "measurement");
  return least;
}

/// Times row `index`; every rank gets the times of all, 0 where it is in no
/// group of the row.
static std::vector<double> timeRow(Transport &transport, const Rows &rows,
                                   int index) {
  constexpr int64_t Small = 64, Large = 512 * 1024; // floats
  double own[2] = {0, 0};
  if (!groupsOfRank(rows.table, transport.rank())[index].empty()) {
    Collectives &group = transport.group(index);
    own[0] = timeAllReduce(group, Small);
    own[1] = timeAllReduce(group, Large);
  }
  std::vector<double> all(2 * static_cast<size_t>(transport.size()));
  transport.world().allGather(own, all.data(), 1, 2, CLEAVE_F64,
                              "end of a measurement");
  return all;
}

static json measure(Transport &transport, const std::string &text) {
  std::vector<std::string> names =
      gatherTexts(transport, hostName(), "start-up");
  std::vector<std::string> texts = gatherTexts(transport, text, "start-up");
  std::vector<std::vector<int>> hosts = listHosts(names);
  int64_t localSize = transport.localSize();
  std::vector<int64_t> localSizes(names.size());
  transport.world().allGather(&localSize, localSizes.data(), 1, 1, CLEAVE_I64,
                              "start-up");
  Rows rows = listRows(hosts);
  transport.connect(rows.table);

  json result = {{"ranks", json::array()}, {"samples", json::array()}};
  for (size_t rank = 0; rank < names.size(); ++rank)
    result["ranks"].push_back({{"host", names[rank]},
                               {"localSize", localSizes[rank]},
                               {"text", texts[rank]}});
  for (size_t row = 0; row < rows.table.size(); ++row) {
    std::vector<double> times = timeRow(transport, rows, static_cast<int>(row));
    for (const std::vector<int> &group : rows.table[row]) {
      int first = group.front();
      result["samples"].push_back({{"first", first},
                                   {"ranks", group.size()},
                                   {"isNetwork", bool(rows.isNetwork[row])},
                                   {"small", times[2 * first]},
                                   {"large", times[2 * first + 1]}});
    }
  }
  transport.finish();
  return result;
}

} // namespace cleave::rt

int cleaveMeasureLinks(const char *text, void (*take)(void *to, const char *),
                       void *to) {
  using namespace cleave::rt;
  std::unique_ptr<Transport> transport;
  std::optional<Failure> failure = catchFailure([&] {
    Launched launched =
        findLaunched().value_or(Launched{"no launcher", 0, 1, 0, 1});
    transport = joinRanks(launched, {Patient});
    json result = measure(*transport, text);
    if (transport->rank() == 0)
      take(to, result.dump().c_str());
  });
  if (!failure)
    return ExitDone;
  logLine(LogLevel::Error, failure->what());
  if (transport)
    transport->abort(failure->code, failure->what());
  return failure->code;
}
