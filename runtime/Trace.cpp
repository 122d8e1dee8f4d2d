//===- Trace.cpp - slices of time of one rank -----------------------------===//
//
// Each rank formats its own events; rank 0 joins the texts.
//
//===----------------------------------------------------------------------===//

#include "runtime/Trace.h"

#include "runtime/Messages.h"
#include "runtime/support/Error.h"
#include "runtime/support/ReplaceFile.h"
#include "runtime/transport/Transport.h"

#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace cleave::rt {

enum Track { Operations = 0, Communication = 1 };

void Trace::operation(const char *name, const char *category) {
  double now = since(Clock::now());
  if (running)
    slices.back().end = now;
  // The running operation stays last: communications are put before it.
  slices.push_back({name, category, Operations, now, now});
  running = true;
}

void Trace::endStep() {
  if (running)
    slices.back().end = since(Clock::now());
  running = false;
}

void Trace::communication(const char *kind, const char *op,
                          Clock::time_point start, int64_t bytes) {
  Slice slice{op, kind, Communication, since(start), since(Clock::now())};
  slices.insert(running ? slices.end() - 1 : slices.end(), slice);
  int64_t before = counts.empty() ? 0 : counts.back().bytes;
  counts.push_back({slice.end, before + bytes});
}

/// The same for both ends: FNV-1a of the parts, as a number that JSON holds.
static uint64_t messageNumber(std::initializer_list<int> parts) {
  uint64_t hash = 0xcbf29ce484222325;
  for (int part : parts)
    hash = (hash ^ static_cast<uint32_t>(part)) * 0x100000001b3;
  return hash >> 12;
}

void Trace::message(End end, int from, int to, int tag) {
  int place = messages[{from, to, tag}]++;
  const Slice &slice = *(running ? slices.end() - 2 : slices.end() - 1);
  // Inside of the slice that it belongs to; it arrives at the end of a recv.
  double part = end == End::Sent ? 0.5 : 0.99;
  flows.push_back({end, messageNumber({from, to, tag, place}),
                   slice.begin + part * (slice.end - slice.begin)});
}

/// The track's name, as a metadata event.
static nlohmann::json named(const char *what, int rank, int track,
                            const std::string &name) {
  return {{"name", what},
          {"ph", "M"},
          {"pid", rank},
          {"tid", track},
          {"args", {{"name", name}}}};
}

std::string Trace::events(int rank) const {
  std::string text;
  auto add = [&](const nlohmann::json &event) {
    text += text.empty() ? "" : ",\n";
    text += event.dump();
  };
  add(named("process_name", rank, 0, fmt::format("rank {}", rank)));
  add(named("thread_name", rank, Operations, "operations"));
  add(named("thread_name", rank, Communication, "communication"));
  for (const Slice &slice : slices)
    add({{"name", slice.name},
         {"cat", slice.category},
         {"ph", "X"},
         {"ts", slice.begin},
         {"dur", slice.end - slice.begin},
         {"pid", rank},
         {"tid", slice.track}});
  for (const Flow &flow : flows) {
    bool isSent = flow.end == End::Sent;
    nlohmann::json event = {{"name", "message"},        {"cat", "message"},
                            {"ph", isSent ? "s" : "f"}, {"id", flow.number},
                            {"ts", flow.time},          {"pid", rank},
                            {"tid", Communication}};
    if (!isSent)
      event["bp"] = "e"; // the slice around it, not the next
    add(event);
  }
  for (const Count &count : counts)
    add({{"name", "bytes communicated"},
         {"ph", "C"},
         {"ts", count.time},
         {"pid", rank},
         {"args", {{"bytes", count.bytes}}}});
  return text;
}

void Trace::makeFolder(const std::filesystem::path &directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error || access(directory.c_str(), W_OK | X_OK) != 0)
    fail(ExitUsage, "cannot write to the folder '{}': {}", directory.string(),
         error ? error.message() : std::strerror(errno));
}

void Trace::write(const std::filesystem::path &directory,
                  Transport &transport) const {
  std::vector<std::string> texts =
      gatherTexts(transport, events(transport.rank()), "trace");
  if (transport.rank() == 0)
    replaceFile(directory / "trace.json",
                fmt::format("{{\"displayTimeUnit\": \"ms\", \"traceEvents\": "
                            "[\n{}\n]}}\n",
                            fmt::join(texts, ",\n")));
}

} // namespace cleave::rt
