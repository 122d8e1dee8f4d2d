//===- Messages.h - what ranks tell each other outside of steps -----------===//
//
// Start-up checks, results and figures: small texts gathered over the world.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_MESSAGES_H
#define CLEAVE_RUNTIME_MESSAGES_H

#include <string>
#include <vector>

namespace cleave::rt {

class Transport;

/// Tags of the runtime's own messages, apart from those of programs.
enum MessageTag : int { OutputTag = 1 << 20 };

/// The texts of all ranks, on every rank.
std::vector<std::string> gatherTexts(Transport &transport,
                                     const std::string &text, const char *op);

} // namespace cleave::rt

#endif
