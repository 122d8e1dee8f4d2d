//===- Segment.h - memory that the ranks of a communicator share ----------===//
//
// A memory file that one rank makes and the others open through /proc, so that
// nothing is left behind however they end. Only what is written takes memory.
//
// Each rank posts the pieces of a sequence (one for control, one for the data
// of collectives): piece k becomes visible with `posted = k`. A rank posts
// k + 1 only when it has read piece k of all, so two buffers are enough.
// Messages between two ranks have a buffer for each pair.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace cudaemu {

/// What an operation of a communicator is; equal on all its ranks.
struct Operation {
  enum Kind : int32_t {
    AllReduce,
    Reduce,
    Broadcast,
    AllGather,
    ReduceScatter,
    Send,
    Receive,
  };
  Kind kind;
  int32_t type, op, root; ///< -1 where there is none; the peer of a message.
  uint64_t count;

  bool operator==(const Operation &) const = default;
  /// `all_reduce of 10 float32 (sum)`
  std::string text() const;
};

/// One posted piece.
struct Posted {
  Operation operation;
  bool hasMarks; ///< After the bytes follow their marks (Memory.h).
};

class Segment {
public:
  static constexpr size_t controlBytes = 256;
  static constexpr size_t payloadBytes = 2ull << 30; ///< Of a piece.

  /// Where to find a segment.
  struct Address {
    int64_t magic, pid, file, ranks;
  };
  static Address create(int ranks);
  /// Throws std::runtime_error.
  explicit Segment(const Address &address);
  ~Segment();
  Segment(const Segment &) = delete;
  Segment &operator=(const Segment &) = delete;

  struct Sequence {
    std::atomic<uint64_t> posted;
    Posted pieces[2];
  };
  struct Rank {
    Sequence data;
    std::atomic<uint64_t> control;
    char controls[2][controlBytes];
  };
  /// Messages from one rank to another.
  struct Pair {
    std::atomic<uint64_t> sent, received;
    Posted piece;
  };

  int ranks() const { return size; }
  Rank &rank(int index) const;
  Pair &pair(int from, int to) const;
  char *payload(int rank, uint64_t piece) const;
  char *message(int from, int to) const;

private:
  int size;
  size_t bytes;
  char *memory = nullptr;
};

} // namespace cudaemu
