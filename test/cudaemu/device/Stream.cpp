//===- Stream.cpp - streams, events and graphs ----------------------------===//

#include "device/Stream.h"

#include <algorithm>

using namespace cudaemu;

static constexpr int captureUnjoined = 904, captureUnmatched = 903,
                     captureInvalidated = 901, captureMerge = 902,
                     illegalState = 401;

Streams::Streams(Context &context) : context(context) { add(false); }

Stream &Streams::add(bool waitsForNull) {
  all.push_back(std::make_unique<Stream>(context, waitsForNull));
  return *all.back();
}

void Streams::remove(Stream &stream) {
  std::erase_if(removed,
                [&](const WorkPtr &work) { return context.isDone(work); });
  removed.push_back(stream.last);
  std::erase_if(all, [&](const auto &one) { return one.get() == &stream; });
}

std::vector<WorkPtr> Streams::lasts() const {
  std::vector<WorkPtr> found = removed;
  for (const auto &stream : all)
    if (stream->last)
      found.push_back(stream->last);
  return found;
}

/// Lets what is captured next come after the node.
static void addTail(Stream &stream, size_t node) {
  if (std::find(stream.tails.begin(), stream.tails.end(), node) ==
      stream.tails.end())
    stream.tails.push_back(node);
}

/// Adds a node to the graph that the stream is captured into.
static void putNode(Stream &stream, std::string name, Action action) {
  Graph &graph = *stream.capture->graph;
  graph.nodes.push_back(
      {std::move(name), std::move(action), stream.tails, stream.captureLane});
  stream.tails = {graph.nodes.size() - 1};
}

WorkPtr Streams::put(Stream &stream, std::string name, Action action,
                     const std::vector<WorkPtr> &also) {
  if (stream.capture) {
    putNode(stream, std::move(name), std::move(action));
    return nullptr;
  }
  std::vector<WorkPtr> after = also;
  after.push_back(stream.last);
  if (stream.waitsForNull)
    after.push_back(null().last);
  if (&stream == &null())
    for (const auto &other : all)
      if (other->waitsForNull)
        after.push_back(other->last);
  stream.last =
      context.add(stream.lane, after, std::move(name), std::move(action));
  return stream.last;
}

void Streams::putChained(Stream &stream, std::string name, Action action,
                         const std::vector<Chain *> &chains) {
  std::vector<WorkPtr> also;
  for (const Chain *chain : chains) {
    also.push_back(chain->last);
    if (stream.capture && chain->capture == stream.capture)
      addTail(stream, chain->node);
  }
  WorkPtr work = put(stream, std::move(name), std::move(action), also);
  for (Chain *chain : chains)
    if (stream.capture) {
      chain->capture = stream.capture;
      chain->node = stream.tails[0];
    } else {
      chain->last = work;
    }
}

static bool doNothing(Work &) { return true; }

int cudaemu::record(Streams &streams, Event &event, Stream &stream) {
  event.capture = stream.capture;
  event.tails = stream.tails;
  if (!stream.capture)
    event.work = streams.put(stream, "event", doNothing);
  return 0;
}

int cudaemu::waitFor(Streams &streams, Stream &stream, Event &event) {
  if (!event.capture) {
    if (stream.capture)
      return 900; // of work before the capture: not supported within it
    if (event.work)
      streams.put(stream, "wait for an event", doNothing, {event.work});
    return 0;
  }
  if (stream.capture && stream.capture != event.capture)
    return captureMerge;
  if (!stream.capture) {
    stream.capture = event.capture;
    stream.captureLane = event.capture->graph->lanes++;
    stream.tails.clear();
    event.capture->streams.push_back(&stream);
  }
  for (size_t node : event.tails)
    addTail(stream, node);
  return 0;
}

int cudaemu::beginCapture(Stream &stream, bool isGlobal) {
  if (stream.capture)
    return illegalState;
  stream.capture = std::make_shared<Capture>();
  stream.capture->origin = &stream;
  stream.capture->isGlobal = isGlobal;
  stream.capture->streams = {&stream};
  stream.captureLane = 0;
  stream.tails.clear();
  stream.context.captures += isGlobal;
  return 0;
}

/// Whether everything captured comes before `tails`.
static bool isJoined(const Graph &graph, std::vector<size_t> tails) {
  std::vector<char> seen(graph.nodes.size());
  size_t count = 0;
  while (!tails.empty()) {
    size_t node = tails.back();
    tails.pop_back();
    if (seen[node])
      continue;
    seen[node] = 1;
    ++count;
    tails.insert(tails.end(), graph.nodes[node].after.begin(),
                 graph.nodes[node].after.end());
  }
  return count == graph.nodes.size();
}

int cudaemu::endCapture(Stream &stream, std::shared_ptr<Graph> &graph) {
  std::shared_ptr<Capture> capture = stream.capture;
  if (!capture)
    return illegalState;
  if (capture->origin != &stream)
    return captureUnmatched;
  bool joined = isJoined(*capture->graph, stream.tails);
  for (Stream *captured : capture->streams) {
    captured->capture = nullptr;
    captured->tails.clear();
  }
  stream.context.captures -= capture->isGlobal;
  if (capture->isInvalid)
    return captureInvalidated;
  if (!joined)
    return captureUnjoined;
  graph = capture->graph;
  return 0;
}

void cudaemu::launch(Streams &streams, GraphExec &exec, Stream &stream) {
  WorkPtr begin =
      streams.put(stream, "begin of a graph", doNothing, {exec.last});
  std::vector<WorkPtr> works{begin};
  while (exec.lanes.size() < exec.graph->lanes)
    exec.lanes.push_back(exec.context.makeLane());
  for (const Graph::Node &node : exec.graph->nodes) {
    std::vector<WorkPtr> after{begin};
    for (size_t earlier : node.after)
      after.push_back(works[earlier + 1]);
    works.push_back(
        exec.context.add(exec.lanes[node.lane], after, node.name, node.action));
  }
  exec.last = streams.put(stream, "end of a graph", doNothing, works);
}
