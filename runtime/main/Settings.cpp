//===- Settings.cpp - numbers of a training step --------------------------===//

#include "runtime/main/Settings.h"

#include <cmath>
#include <numbers>

namespace cleave::rt {

double getRateShare(const TrainOptions &options, int64_t t, int64_t total) {
  int64_t warmup = options.warmup, done = t - 1;
  if (done < warmup)
    return static_cast<double>(t) / static_cast<double>(warmup);
  auto rest = static_cast<double>(std::max<int64_t>(total - warmup, 1));
  double progress = std::min(1.0, static_cast<double>(done - warmup) / rest);
  if (options.schedule == "linear")
    return 1 - progress;
  if (options.schedule == "cosine")
    return 0.5 * (1 + std::cos(std::numbers::pi * progress));
  return 1;
}

/// The flag that sets states of this kind, if it was given.
static std::optional<double> getFlag(const TrainOptions &options,
                                     const std::string &kind) {
  if (kind == "rate")
    return options.rate;
  if (kind == "clip")
    return options.clip;
  return kind == "decay" ? options.decay : std::nullopt;
}

static void verifyFlags(const TrainOptions &options, const Manifest &manifest) {
  const std::pair<const char *, const char *> flags[] = {
      {"rate", "--lr"}, {"clip", "--clip"}, {"decay", "--weight-decay"}};
  for (auto [kind, flag] : flags) {
    bool isKnown = false;
    for (const ProgramInfo &program : manifest.programs)
      for (const StateInfo &state : program.state)
        isKnown |= state.setting && state.setting->kind == kind;
    if (getFlag(options, kind) && !isKnown)
      fail(ExitUsage, "{}: '{}' was compiled without it", flag,
           manifest.directory.string());
  }
}

Settings::Settings(const TrainOptions &options, const Manifest &manifest,
                   const ProgramInfo &program, void *const *states,
                   int64_t total)
    : options(options), total(total) {
  verifyFlags(options, manifest);
  for (size_t i = 0; i < program.state.size(); ++i)
    if (const std::optional<SettingInfo> &info = program.state[i].setting) {
      auto *address = static_cast<float *>(states[i]);
      settings.push_back(
          {*info, address, getFlag(options, info->kind).value_or(*address)});
    }
}

void Settings::start(int64_t t) {
  for (const Setting &setting : settings) {
    const std::string &kind = setting.info.kind;
    double value = setting.value;
    if (kind == "rate")
      currentRate = value *= getRateShare(options, t, total);
    double left = 1 - std::pow(setting.info.base, static_cast<double>(t));
    if (kind == "correction")
      value = 1 / left;
    if (kind == "root_correction")
      value = 1 / std::sqrt(left);
    *setting.address = static_cast<float>(value);
  }
}

} // namespace cleave::rt
