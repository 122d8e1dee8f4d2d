//===- Messages.cpp - what ranks tell each other outside of steps ---------===//
//
// Lengths first, then all texts padded to the longest, in one gather each.
//
//===----------------------------------------------------------------------===//

#include "runtime/Messages.h"

#include "runtime/transport/Transport.h"

#include <algorithm>

namespace cleave::rt {

std::vector<std::string> gatherTexts(Transport &transport,
                                     const std::string &text, const char *op) {
  Collectives &world = transport.world();
  auto length = static_cast<int64_t>(text.size());
  std::vector<int64_t> lengths(world.size());
  world.allGather(&length, lengths.data(), 1, 1, CLEAVE_I64, op);
  int64_t longest = *std::max_element(lengths.begin(), lengths.end());

  std::string padded = text;
  padded.resize(longest);
  std::string all(longest * world.size(), '\0');
  world.allGather(padded.data(), all.data(), 1, longest, CLEAVE_U8, op);
  std::vector<std::string> texts;
  texts.reserve(world.size());
  for (int i = 0; i < world.size(); ++i)
    texts.push_back(all.substr(i * longest, lengths[i]));
  return texts;
}

} // namespace cleave::rt
