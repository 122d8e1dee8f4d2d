//===- Stream.h - streams, events and graphs ------------------------------===//
#pragma once

#include "device/Context.h"

namespace cudaemu {

struct Stream;

/// Work with its dependencies, to be launched as a whole.
struct Graph {
  struct Node {
    std::string name;
    Action action;
    std::vector<size_t> after;
    size_t lane;
  };
  std::vector<Node> nodes;
  size_t lanes = 1;
};

/// Work that goes into a graph instead of running.
struct Capture {
  std::shared_ptr<Graph> graph = std::make_shared<Graph>();
  Stream *origin = nullptr;
  std::vector<Stream *> streams;
  bool isGlobal = false;
  bool isInvalid = false; ///< By a call that cannot be captured.
};

struct Stream {
  Context &context;
  uint32_t lane;
  bool waitsForNull; ///< A blocking stream: ordered with the null stream.
  WorkPtr last;
  std::shared_ptr<Capture> capture;
  size_t captureLane = 0;
  std::vector<size_t> tails; ///< Of the capture, what comes last here.

  Stream(Context &context, bool waitsForNull)
      : context(context), lane(context.makeLane()), waitsForNull(waitsForNull) {
  }
};

struct Event {
  Context &context;
  bool hasTime;
  WorkPtr work;
  std::shared_ptr<Capture> capture; ///< When it was recorded within one.
  std::vector<size_t> tails;

  Event(Context &context, bool hasTime) : context(context), hasTime(hasTime) {}
};

/// A graph that can be launched.
struct GraphExec {
  Context &context;
  std::shared_ptr<Graph> graph;
  std::vector<uint32_t> lanes;
  WorkPtr last;

  GraphExec(Context &context, std::shared_ptr<Graph> graph)
      : context(context), graph(std::move(graph)) {}
};

/// What comes one after the other whatever the streams: the operations of a
/// communicator.
struct Chain {
  WorkPtr last;
  std::shared_ptr<Capture> capture; ///< Of `node`, its last one in a graph.
  size_t node = 0;
};

/// The streams of a context; the first one is the null stream.
class Streams {
public:
  explicit Streams(Context &context);
  Stream &null() { return *all[0]; }
  Stream &add(bool waitsForNull);
  void remove(Stream &stream);
  /// Puts work after what is on the stream, and after `also`.
  WorkPtr put(Stream &stream, std::string name, Action action,
              const std::vector<WorkPtr> &also = {});
  /// Puts work that is the next one of the chains, too.
  void putChained(Stream &stream, std::string name, Action action,
                  const std::vector<Chain *> &chains);
  /// The last work of each stream.
  std::vector<WorkPtr> lasts() const;

private:
  Context &context;
  std::vector<std::unique_ptr<Stream>> all;
  std::vector<WorkPtr> removed; ///< The last work of streams that are gone.
};

// Errors of the following are those of the driver; 0 is success.
int record(Streams &streams, Event &event, Stream &stream);
int waitFor(Streams &streams, Stream &stream, Event &event);
int beginCapture(Stream &stream, bool isGlobal);
int endCapture(Stream &stream, std::shared_ptr<Graph> &graph);
void launch(Streams &streams, GraphExec &exec, Stream &stream);

} // namespace cudaemu
