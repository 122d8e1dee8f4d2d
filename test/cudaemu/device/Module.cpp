//===- Module.cpp - decode a module and place its variables ---------------===//

#include "device/Module.h"
#include "exec/Decoder.h"

#include <algorithm>
#include <deque>
#include <set>

using namespace cudaemu;
using ptx::Space;

static void placeGlobals(Context &context, const ptx::Module &syntax,
                         Module &module, Symbols &symbols) {
  for (const ptx::Variable &v : syntax.variables) {
    if (v.space == Space::Shared)
      continue;
    const Allocation *made = context.memory.allocate(
        std::max<size_t>(v.bytes, 1), std::max<size_t>(v.align, 256),
        "variable '" + v.name + "'");
    if (!made)
      throw ImageError(2, "no memory for variable '" + v.name + "'");
    std::memset(made->host(made->begin), 0, v.bytes);
    std::memset(context.memory.initialised(made->begin), 1, v.bytes);
    if (!v.init.empty())
      std::memcpy(made->host(made->begin), v.init.data(), v.init.size());
    module.globals[v.name] = {made->begin, v.bytes};
    symbols.places[v.name] = {v.space, made->begin, false};
  }
  for (const ptx::Variable &v : syntax.variables)
    for (const ptx::Variable::Pointer &pointer : v.pointers) {
      auto target = module.globals.find(pointer.symbol);
      if (target == module.globals.end())
        throw ptx::Error(0, "initializer of '" + v.name + "' names '" +
                                pointer.symbol + "', which is no variable");
      uint64_t value = target->second.address + pointer.addend;
      uint64_t at = module.globals[v.name].address + pointer.offset;
      std::memcpy(context.memory.find(at)->host(at), &value,
                  ptx::bytesOf(v.type));
    }
}

static void namesIn(const ptx::Operand &op, std::set<std::string> &names) {
  if (!op.name.empty())
    names.insert(op.name);
  for (const ptx::Operand &part : op.parts)
    namesIn(part, names);
}

static std::set<std::string> namesIn(const ptx::Function &fn) {
  std::set<std::string> names;
  for (const ptx::Statement &st : fn.body)
    for (const ptx::Operand &op : st.operands)
      namesIn(op, names);
  return names;
}

namespace {
/// Gives the shared variables of a function their offsets, after `from`.
struct SharedLayout {
  size_t end = 0;
  void place(const ptx::Variable &v, Symbols &symbols) {
    if (v.space != Space::Shared)
      return;
    if (v.isUnsized) {
      symbols.places[v.name] = {Space::Shared, 0, true};
      return;
    }
    end = (end + v.align - 1) / v.align * v.align;
    symbols.places[v.name] = {Space::Shared, end, false};
    end += v.bytes;
  }
};
} // namespace

/// Bytes of stack of a lane: the function's and the most of what it calls.
static size_t stackOf(const Module &module, const ptx::Module &syntax,
                      const std::string &name, int depth) {
  auto fn = std::find_if(syntax.functions.begin(), syntax.functions.end(),
                         [&](const auto &f) { return f.name == name; });
  size_t below = 0;
  for (const std::string &used : namesIn(*fn))
    if (module.kernels.count(used) && depth < 64)
      below = std::max(below, stackOf(module, syntax, used, depth + 1));
  return module.kernels.at(name).program.localBytes + below;
}

std::unique_ptr<Module> cudaemu::loadPtx(Context &context,
                                         std::string_view text) {
  ptx::Module syntax = ptx::parse(text);
  auto module = std::make_unique<Module>();
  Symbols symbols;
  placeGlobals(context, syntax, *module, symbols);
  for (const ptx::Function &fn : syntax.functions)
    if (fn.hasBody) {
      if (module->kernels.count(fn.name))
        throw ptx::Error(fn.line, "'" + fn.name + "' is defined twice");
      Kernel &kernel = module->kernels[fn.name];
      kernel.module = module.get();
      kernel.program.name = fn.name;
      kernel.program.isEntry = fn.isEntry;
      kernel.program.maxThreads = fn.maxThreads;
      std::copy_n(fn.requiredThreads, 3, kernel.program.requiredThreads);
      symbols.programs[fn.name] = &kernel.program;
    }
  // What functions use has the same place in all kernels, what only a kernel
  // uses comes after that. Calls need the parameters of all functions, which
  // the constructor of a decoder lays out.
  std::deque<Symbols> seen;
  std::deque<Decoder> decoders;
  SharedLayout common;
  for (bool entries : {false, true})
    for (const ptx::Function &fn : syntax.functions) {
      if (!fn.hasBody || fn.isEntry != entries)
        continue;
      SharedLayout own = common;
      SharedLayout &layout = entries ? own : common;
      Symbols &names = seen.emplace_back(symbols);
      std::set<std::string> used = namesIn(fn);
      for (const ptx::Variable &v : syntax.variables)
        if (used.count(v.name) && !names.places.count(v.name)) {
          layout.place(v, names);
          if (!entries && names.places.count(v.name))
            symbols.places[v.name] = names.places[v.name];
        }
      for (const ptx::Variable &v : fn.variables)
        layout.place(v, names);
      Program &program = module->kernels[fn.name].program;
      decoders.emplace_back(fn, names, program);
      program.sharedBytes = layout.end;
    }
  for (Decoder &decoder : decoders)
    decoder.run();
  for (auto &[name, kernel] : module->kernels)
    if (kernel.program.isEntry)
      kernel.program.stackBytes = stackOf(*module, syntax, name, 0);
  return module;
}
