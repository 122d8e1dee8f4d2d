//===- Joins.cpp - where the lanes of a branch meet again -----------------===//
//
// The immediate post-dominator of each branch, by the algorithm of Cooper,
// Harvey and Kennedy ("A Simple, Fast Dominance Algorithm") on the reversed
// graph of basic blocks. The function's last instruction is its only exit.
//
//===----------------------------------------------------------------------===//

#include "exec/Blocks.h"
#include "exec/Decoder.h"
#include "exec/Handlers.h"

#include <algorithm>

using namespace cudaemu;

static bool isBranch(const Inst &inst) {
  return inst.run == branch || inst.run == branchIndexed;
}

std::vector<BasicBlock> cudaemu::basicBlocks(const Program &program) {
  const std::vector<Inst> &code = program.code;
  std::vector<char> starts(code.size() + 1);
  starts[0] = starts[code.size() - 1] = 1;
  for (size_t i = 0; i < code.size(); ++i) {
    if (!isBranch(code[i]) && code[i].run != exitLanes)
      continue;
    starts[i + 1] = 1;
    if (code[i].run == branch)
      starts[code[i].imm] = 1;
    if (code[i].run == branchIndexed)
      for (uint32_t target : code[i].list)
        starts[target] = 1;
  }
  std::vector<BasicBlock> blocks;
  std::vector<uint32_t> blockOf(code.size());
  for (uint32_t i = 0; i < code.size(); ++i) {
    if (starts[i])
      blocks.push_back({i, i, {}});
    blocks.back().end = i + 1;
    blockOf[i] = static_cast<uint32_t>(blocks.size() - 1);
  }
  for (BasicBlock &block : blocks) {
    const Inst &last = code[block.end - 1];
    bool isExit = last.run == exitLanes;
    if (block.end < code.size() &&
        (last.guard >= 0 || !(isBranch(last) || isExit)))
      block.next.push_back(blockOf[block.end]);
    if (last.run == branch)
      block.next.push_back(blockOf[last.imm]);
    if (last.run == branchIndexed)
      for (uint32_t target : last.list)
        block.next.push_back(blockOf[target]);
    if (isExit)
      block.next.push_back(static_cast<uint32_t>(blocks.size() - 1));
  }
  return blocks;
}

/// Blocks in postorder of the reversed graph, from the exit.
static std::vector<uint32_t>
reversedPostorder(const std::vector<BasicBlock> &blocks) {
  std::vector<std::vector<uint32_t>> previous(blocks.size());
  for (uint32_t b = 0; b < blocks.size(); ++b)
    for (uint32_t next : blocks[b].next)
      previous[next].push_back(b);
  std::vector<uint32_t> order;
  std::vector<char> seen(blocks.size());
  std::vector<std::pair<uint32_t, size_t>> stack;
  auto exit = static_cast<uint32_t>(blocks.size() - 1);
  stack.emplace_back(exit, 0);
  seen[exit] = 1;
  while (!stack.empty()) {
    auto &[block, i] = stack.back();
    if (i == previous[block].size()) {
      order.push_back(block);
      stack.pop_back();
    } else if (uint32_t p = previous[block][i++]; !seen[p]) {
      seen[p] = 1;
      stack.emplace_back(p, 0);
    }
  }
  return order;
}

void cudaemu::findJoins(Program &program) {
  std::vector<BasicBlock> blocks = basicBlocks(program);
  std::vector<uint32_t> order = reversedPostorder(blocks);
  constexpr uint32_t none = ~0u;
  std::vector<uint32_t> number(blocks.size(), none),
      dominator(blocks.size(), none);
  for (uint32_t i = 0; i < order.size(); ++i)
    number[order[i]] = i;
  uint32_t exit = order.back();
  dominator[exit] = exit;
  auto meet = [&](uint32_t a, uint32_t b) {
    while (a != b) {
      while (number[a] < number[b])
        a = dominator[a];
      while (number[b] < number[a])
        b = dominator[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = order.size() - 1; i-- > 0;) {
      uint32_t block = order[i], found = none;
      for (uint32_t next : blocks[block].next)
        if (dominator[next] != none)
          found = found == none ? next : meet(found, next);
      changed |= dominator[block] != found;
      dominator[block] = found;
    }
  }
  for (uint32_t b = 0; b < blocks.size(); ++b) {
    Inst &last = program.code[blocks[b].end - 1];
    // An endless loop has no post-dominator: its lanes meet at the exit.
    if (isBranch(last))
      last.join = blocks[dominator[b] == none ? exit : dominator[b]].begin;
  }
}
