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

bool hasSetting(const Manifest &manifest, const std::string &kind) {
  for (const ProgramInfo &program : manifest.programs)
    for (const StateInfo &state : program.state)
      if (state.setting && state.setting->kind == kind)
        return true;
  return false;
}

static void verifyFlags(const TrainOptions &options, const Manifest &manifest) {
  const std::pair<const char *, const char *> flags[] = {
      {"rate", "--lr"}, {"clip", "--clip"}, {"decay", "--weight-decay"}};
  for (auto [kind, flag] : flags)
    if (getFlag(options, kind) && !hasSetting(manifest, kind))
      fail(ExitUsage, "{}: '{}' was compiled without it", flag,
           manifest.directory.string());
}

Settings::Settings(const TrainOptions &options, const Manifest &manifest,
                   const ProgramInfo &program, void *const *states)
    : options(options) {
  verifyFlags(options, manifest);
  for (size_t i = 0; i < program.state.size(); ++i)
    if (const std::optional<SettingInfo> &info = program.state[i].setting) {
      auto *address = static_cast<float *>(states[i]);
      settings.push_back(
          {*info, address, getFlag(options, info->kind).value_or(*address)});
    }
}

void Settings::start(const StepNumbers &numbers) {
  int64_t t = numbers.step;
  for (const Setting &setting : settings) {
    const std::string &kind = setting.info.kind;
    double value = setting.value;
    if (kind == "rate")
      currentRate = value *= getRateShare(options, t, numbers.total);
    if (kind == "samples" && numbers.samples)
      value = static_cast<double>(numbers.samples);
    double left = 1 - std::pow(setting.info.base, static_cast<double>(t));
    if (kind == "correction")
      value = 1 / left;
    if (kind == "root_correction")
      value = 1 / std::sqrt(left);
    *setting.address = static_cast<float>(value);
  }
}

} // namespace cleave::rt
