//===- Warp.cpp - run a warp ----------------------------------------------===//

#include "exec/Block.h"
#include "exec/Decoder.h"
#include "exec/Handlers.h"

#include <bit>
#include <chrono>

using namespace cudaemu;

void Warp::start(const Program &program, uint32_t lanes) {
  state = Running;
  live = lanes;
  paths.clear();
  openCopies.clear();
  copyGroups.clear();
  depth = 0;
  localBytes = program.stackBytes;
  local.resize(localBytes * lanesOfWarp);
  localMarks.assign(checksMarks ? local.size() : 0, 1);
  frames.resize(std::max<size_t>(frames.size(), 1));
  enter(program, nullptr, lanes);
}

static uint64_t specialValue(const Warp &w, const ptx::Special &s,
                             unsigned lane) {
  const Launch &launch = w.block->launch;
  const unsigned *block = launch.block;
  unsigned thread = w.index * lanesOfWarp + lane;
  unsigned tid[3] = {thread % block[0], thread / block[0] % block[1],
                     thread / block[0] / block[1]};
  using S = ptx::Special;
  switch (s.kind) {
  case S::Tid:
    return tid[s.dim];
  case S::Ntid:
    return block[s.dim];
  case S::Ctaid:
    return w.block->index[s.dim];
  case S::Nctaid:
    return launch.grid[s.dim];
  case S::Laneid:
    return lane;
  case S::Warpid:
    return w.index;
  case S::Nwarpid:
    return w.block->warps.size();
  case S::Smid:
  case S::Zero:
    return 0;
  case S::Nsmid:
  case S::One:
    return 1;
  case S::Gridid:
    return launch.item;
  case S::LanemaskEq:
    return 1u << lane;
  case S::LanemaskLt:
    return (1u << lane) - 1;
  case S::LanemaskLe:
    return (2ull << lane) - 1;
  case S::LanemaskGt:
    return static_cast<uint32_t>(~((2ull << lane) - 1));
  case S::LanemaskGe:
    return ~((1u << lane) - 1);
  case S::Clock:
    return std::chrono::steady_clock::now().time_since_epoch().count() >>
           (s.dim * 32);
  case S::WarpSize:
    return lanesOfWarp;
  case S::DynamicSmem:
    return launch.dynamicShared;
  }
  return 0;
}

static void fill(Warp &w, const Setup &setup) {
  auto put = [&](unsigned lane, uint64_t bits, unsigned bytes) {
    std::memcpy(w.slots + setup.slot * slotBytes + lane * bytes, &bits, bytes);
  };
  uint64_t bits = setup.bits;
  if (setup.kind == Setup::LocalAddress)
    bits += w.frame().localBase;
  if (setup.kind == Setup::DynamicShared)
    bits += dynamicSharedOffset(*w.block->launch.program);
  for (unsigned lane = 0; lane < lanesOfWarp; ++lane)
    if (setup.kind == Setup::Special)
      put(lane, specialValue(w, *setup.special, lane), setup.bytes);
    else
      put(lane, bits, setup.bytes);
}

/// Frames keep their memory from block to block: of the same program only
/// what differs is filled again.
void Warp::enter(const Program &program, const Inst *site, uint32_t lanes) {
  if (site && frames.size() <= ++depth)
    frames.resize(depth + 1);
  Frame &frame = frames[depth];
  frame.localBase =
      site ? frames[depth - 1].localBase + frames[depth - 1].program->localBytes
           : 0;
  frame.pathsBelow = paths.size();
  frame.site = site;
  frame.lanes = lanes;
  size_t marksAt = program.slots * slotBytes;
  size_t paramsAt = marksAt + program.slots * sizeof(uint32_t);
  size_t bytes = paramsAt + program.paramBytes * lanesOfWarp;
  bool isNew = frame.program != &program;
  if (isNew) {
    if (bytes > frame.bytes) {
      frame.memory = std::make_unique<char[]>(bytes);
      frame.bytes = bytes;
    }
    std::memset(frame.memory.get(), 0, frame.bytes);
    frame.program = &program;
  }
  slots = frame.memory.get();
  marks = reinterpret_cast<uint32_t *>(slots + marksAt);
  if (checksMarks)
    std::memset(marks, 0, program.slots * sizeof(uint32_t));
  for (const Setup &setup : program.setup)
    if (isNew || setup.kind != Setup::Constant)
      fill(*this, setup);
  pc = 0;
  join = ~0u;
  active = lanes;
}

char *Warp::params(size_t depth, unsigned lane) const {
  const Frame &frame = frames[depth];
  return frame.memory.get() +
         frame.program->slots * (slotBytes + sizeof(uint32_t)) +
         lane * frame.program->paramBytes;
}

/// Copies the results to the caller and goes on there.
void Warp::leave() {
  if (depth == 0) {
    live = active = 0;
    return resume();
  }
  const Frame &frame = frames[depth];
  const Inst &site = *frame.site;
  size_t results = frame.program->results.size();
  for (unsigned lane = 0; lane < lanesOfWarp; ++lane)
    if (active >> lane & 1)
      for (size_t k = 0; k < results; ++k) {
        const Program::Param &from = frame.program->results[k];
        std::memcpy(params(depth - 1, lane) + site.list[k],
                    params(depth, lane) + from.offset, from.bytes);
      }
  resume();
}

void Warp::resume() {
  for (;;) {
    while (depth > 0 && paths.size() == frames[depth].pathsBelow) {
      const Frame &caller = frames[--depth];
      slots = caller.memory.get();
      marks = reinterpret_cast<uint32_t *>(slots +
                                           caller.program->slots * slotBytes);
    }
    if (paths.empty()) {
      state = Done;
      return;
    }
    Path path = paths.back();
    paths.pop_back();
    active = path.lanes & live;
    pc = path.pc;
    join = path.join;
    if (active)
      return;
  }
}

void Warp::run(int64_t budget) {
  for (; budget > 0 && state == Running; --budget) {
    if (pc == join) {
      resume();
      continue;
    }
    const Inst &i = frames[depth].program->code[pc++];
    exec = active;
    if (i.guard >= 0) {
      uint32_t p = predicate(i.guard);
      exec &= i.guardNot ? ~p : p;
      if (checksMarks && (marks[i.guard] & active))
        faultUninitialised(marks[i.guard] & active, "a condition");
      if (!exec)
        continue;
    }
    i.run(*this, i);
    if (checksMarks && i.marksResult) {
      uint32_t from = marks[i.a] | marks[i.b] | marks[i.c];
      marks[i.d] = (marks[i.d] & ~exec) | (from & exec);
    }
  }
}

void Warp::fault(unsigned lane, int code, const std::string &what) const {
  const Launch &launch = block->launch;
  unsigned thread = index * lanesOfWarp + lane;
  auto triple = [](unsigned x, unsigned y, unsigned z) {
    return "(" + std::to_string(x) + "," + std::to_string(y) + "," +
           std::to_string(z) + ")";
  };
  const unsigned *at = block->index, *dims = launch.block;
  std::string where = "kernel '" + launch.program->name + "' block " +
                      triple(at[0], at[1], at[2]) + " thread " +
                      triple(thread % dims[0], thread / dims[0] % dims[1],
                             thread / dims[0] / dims[1]);
  int line = pc ? program().code[pc - 1].line : 0;
  throw Fault{code,
              where + ": " + what + " (PTX line " + std::to_string(line) + ")"};
}

void Warp::faultUninitialised(uint32_t lanes, const char *use) const {
  fault(std::countr_zero(lanes), 719,
        std::string(use) + " depends on uninitialised memory");
}
