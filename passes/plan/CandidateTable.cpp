//===- CandidateTable.cpp - writes and prints the candidates --------------===//

#include "passes/plan/CandidateTable.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace cleave;
using namespace cleave::plan;
using namespace mlir;

static constexpr StringRef kAttribute = "cleave.candidates";

//===-- Write -------------------------------------------------------------===//

static Attribute toAttribute(Builder &b, const Candidate &candidate) {
  SmallVector<NamedAttribute> entries;
  auto add = [&](StringRef name, Attribute value) {
    entries.push_back(b.getNamedAttr(name, value));
  };
  add("plan", b.getStringAttr(printSizes(candidate.sizes)));
  if (!candidate.refusal.empty()) {
    add("why_not", b.getStringAttr(candidate.refusal));
    return b.getDictionaryAttr(entries);
  }
  const Prediction &prediction = candidate.prediction;
  add("seconds", b.getF64FloatAttr(prediction.time.getSeconds()));
  add("compute_seconds", b.getF64FloatAttr(prediction.time.compute));
  add("communication_seconds",
      b.getF64FloatAttr(prediction.time.communication));
  add("bubble_seconds", b.getF64FloatAttr(prediction.time.bubble));
  int64_t memory = prediction.stages[prediction.getFullestStage()].memoryBytes;
  add("memory_bytes", b.getI64IntegerAttr(memory));
  if (candidate.isIdle)
    add("note",
        b.getStringAttr("no split along tp pays: its ranks do the same"));
  return b.getDictionaryAttr(entries);
}

void cleave::plan::writeCandidates(ModuleOp module,
                                   ArrayRef<Candidate> candidates) {
  Builder builder(module.getContext());
  SmallVector<Attribute> entries;
  for (const Candidate &candidate : candidates)
    entries.push_back(toAttribute(builder, candidate));
  module->setAttr(kAttribute, builder.getArrayAttr(entries));
}

//===-- Print -------------------------------------------------------------===//

static StringRef getText(DictionaryAttr entry, StringRef key) {
  auto text = entry.getAs<StringAttr>(key);
  return text ? text.getValue() : "";
}

static void printFigures(llvm::raw_ostream &out, DictionaryAttr entry) {
  for (StringRef key : {"seconds", "compute_seconds", "communication_seconds",
                        "bubble_seconds"})
    out << llvm::format("%12.3f",
                        1e3 * entry.getAs<FloatAttr>(key).getValueAsDouble());
  double bytes = entry.getAs<IntegerAttr>("memory_bytes").getInt();
  out << llvm::format("%12.1f", bytes / (1 << 20));
}

std::string cleave::printCandidates(ModuleOp module) {
  auto entries = module->getAttrOfType<ArrayAttr>(kAttribute);
  if (!entries)
    return "";
  size_t width = 4;
  for (auto entry : entries.getAsRange<DictionaryAttr>())
    width = std::max(width, getText(entry, "plan").size());
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "  " << llvm::left_justify("plan", width)
      << "     time ms     compute     network      bubble  memory MiB\n";
  bool isChosen = true;
  for (auto entry : entries.getAsRange<DictionaryAttr>()) {
    out << (isChosen ? "* " : "  ")
        << llvm::left_justify(getText(entry, "plan"), width);
    if (StringRef why = getText(entry, "why_not"); !why.empty())
      out << "   cannot be: " << why;
    else
      printFigures(out, entry);
    if (StringRef note = getText(entry, "note"); !note.empty())
      out << "   " << note;
    out << "\n";
    isChosen = false;
  }
  return text;
}
