//===- Agree.cpp - what ranks tell each other before and between phases ---===//
//
// A failure travels as its code, a colon and its words.
//
//===----------------------------------------------------------------------===//

#include "runtime/main/Agree.h"

#include "runtime/Messages.h"

namespace cleave::rt {

void agree(Transport &transport, const std::optional<Failure> &own,
           const char *phase) {
  std::string text =
      own ? fmt::format("{}:{}", static_cast<int>(own->code), own->what()) : "";
  for (const std::string &outcome : gatherTexts(transport, text, phase)) {
    if (outcome.empty())
      continue;
    size_t colon = outcome.find(':');
    throw AgreedFailure(
        static_cast<ExitCode>(std::stoi(outcome.substr(0, colon))),
        outcome.substr(colon + 1));
  }
}

void verifySameBuild(const Manifest &manifest, Transport &transport) {
  std::string identity =
      fmt::format("build {} plan {} world {}", manifest.build, manifest.plan,
                  manifest.world);
  std::vector<std::string> all = gatherTexts(transport, identity, "start-up");
  for (size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank] != all[0])
      throw AgreedFailure(ExitMismatch,
                          fmt::format("rank {} runs {}, rank 0 runs {}", rank,
                                      all[rank], all[0]));
}

} // namespace cleave::rt
