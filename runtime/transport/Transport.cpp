//===- Transport.cpp - what all transports share --------------------------===//
//
// A rank's own member list of each group, checked against the world.
//
//===----------------------------------------------------------------------===//

#include "runtime/transport/Transport.h"

#include <algorithm>

namespace cleave::rt {

std::vector<std::vector<int>> groupsOfRank(const GroupTable &groups, int me) {
  std::vector<std::vector<int>> own(groups.size());
  for (size_t i = 0; i < groups.size(); ++i)
    for (const std::vector<int> &members : groups[i])
      if (std::find(members.begin(), members.end(), me) != members.end())
        own[i] = members;
  return own;
}

} // namespace cleave::rt
