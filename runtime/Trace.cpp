//===- Trace.cpp - slices of time of one rank -----------------------------===//
//
// Each rank formats its own events; rank 0 joins the texts.
//
//===----------------------------------------------------------------------===//

#include "runtime/Trace.h"

#include "runtime/Messages.h"
#include "runtime/support/Error.h"
#include "runtime/transport/Transport.h"

#include <fstream>
#include <nlohmann/json.hpp>

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
                          Clock::time_point start) {
  Slice slice{op, kind, Communication, since(start), since(Clock::now())};
  slices.insert(running ? slices.end() - 1 : slices.end(), slice);
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
  return text;
}

void Trace::write(const std::filesystem::path &directory,
                  Transport &transport) const {
  std::vector<std::string> texts =
      gatherTexts(transport, events(transport.rank()), "trace");
  if (transport.rank() != 0)
    return;
  std::filesystem::create_directories(directory);
  std::filesystem::path file = directory / "trace.json";
  std::ofstream stream(file);
  stream << "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n"
         << fmt::format("{}", fmt::join(texts, ",\n")) << "\n]}\n";
  stream.close();
  if (!stream)
    fail(ExitUsage, "cannot write '{}'", file.string());
}

} // namespace cleave::rt
