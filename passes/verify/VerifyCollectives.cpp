//===- VerifyCollectives.cpp - prove that no rank waits for ever ----------===//
//
// Writes down what each rank of each stage communicates, in program order, and
// runs it (Communication.h). All ranks of a stage run its one program; what a
// collective means to a rank follows from its coordinates, what a send means
// from its pairs. A run that gets stuck is an error: it names the first rank
// that waits, with a note for each op at which others wait.
//
//===----------------------------------------------------------------------===//

#include "passes/partition/ValueSharding.h"
#include "passes/verify/Communication.h"
#include "passes/verify/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace cleave {
#define GEN_PASS_DEF_VERIFYCOLLECTIVESPASS
#include "passes/verify/Passes.h.inc"
} // namespace cleave

using namespace cleave;
using namespace mlir;

namespace {

class Prover {
public:
  explicit Prover(ModuleOp module) : meshes(module) {}

  LogicalResult add(func::FuncOp program);
  LogicalResult prove();

private:
  LogicalResult visit(Operation *op, MeshAttr mesh);
  void addCollective(Operation *op, MeshAttr mesh, ArrayAttr axes);
  LogicalResult addMessages(Operation *op, MeshAttr mesh,
                            ArrayRef<int64_t> pairs, int64_t tag, unsigned own);

  MeshTable meshes;
  Communication communication;
  SmallVector<Operation *> places;
};

LogicalResult Prover::add(func::FuncOp program) {
  auto name = program->getAttrOfType<FlatSymbolRefAttr>("cleave.mesh");
  MeshAttr mesh = name ? meshes.get(name) : MeshAttr();
  if (!mesh)
    return program.emitError("has no mesh: its ranks are not known");
  for (int64_t rank : mesh.getRanks())
    communication.addRank(rank);
  WalkResult result = program.walk<WalkOrder::PreOrder>([&](Operation *op) {
    return failed(visit(op, mesh)) ? WalkResult::interrupt()
                                   : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult Prover::visit(Operation *op, MeshAttr mesh) {
  if (auto send = dyn_cast<SendOp>(op))
    return addMessages(op, mesh, send.getPairs(), send.getTag(), 0);
  if (auto recv = dyn_cast<RecvOp>(op))
    return addMessages(op, mesh, recv.getPairs(), recv.getTag(), 1);
  if (isa<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp>(op))
    addCollective(op, mesh, op->getAttrOfType<ArrayAttr>("axes"));
  return success();
}

/// The group of a rank: those of the same coordinates along all other axes.
void Prover::addCollective(Operation *op, MeshAttr mesh, ArrayAttr axes) {
  places.push_back(op);
  SmallVector<SmallVector<int64_t>> outside;
  for (int64_t position = 0; position < mesh.getSize(); ++position) {
    SmallVector<int64_t> coords = mesh.getCoords(position);
    for (StringRef axis : axes.getAsValueRange<StringAttr>())
      coords[mesh.getAxisPosition(axis)] = 0;
    outside.push_back(coords);
  }
  for (auto [position, rank] : llvm::enumerate(mesh.getRanks())) {
    CommunicationEvent event;
    event.meeting = "collective " + llvm::utostr(places.size());
    event.place = places.size() - 1;
    for (auto [other, peer] : llvm::enumerate(mesh.getRanks()))
      if (outside[other] == outside[position])
        event.members.push_back(peer);
    llvm::sort(event.members);
    communication.add(rank, event);
  }
}

/// Events of the ranks at place `own` of the pairs: 0 sends, 1 receives.
LogicalResult Prover::addMessages(Operation *op, MeshAttr mesh,
                                  ArrayRef<int64_t> pairs, int64_t tag,
                                  unsigned own) {
  places.push_back(op);
  for (size_t i = 0; i < pairs.size(); i += 2) {
    int64_t from = pairs[i], to = pairs[i + 1];
    int64_t rank = pairs[i + own];
    if (!llvm::is_contained(mesh.getRanks(), rank))
      return op->emitError()
             << "lists rank " << rank << " as " << (own ? "receiver" : "sender")
             << ", which is not in the mesh of its function";
    if (from == to)
      return op->emitError() << "sends from rank " << from << " to itself";
    CommunicationEvent event;
    event.meeting = "message " + llvm::utostr(from) + " to " +
                    llvm::utostr(to) + " tag " + llvm::itostr(tag);
    event.place = places.size() - 1;
    event.members = {std::min(from, to), std::max(from, to)};
    communication.add(rank, event);
  }
  return success();
}

LogicalResult Prover::prove() {
  if (communication.run())
    return success();
  SmallVector<int64_t> stuck = communication.getStuck();
  auto describe = [&](int64_t rank, auto &diagnostic) {
    const CommunicationEvent &event = communication.getCurrent(rank);
    diagnostic << "rank " << rank << " waits here for ";
    SmallVector<std::string> others;
    for (int64_t member : event.members)
      if (member != rank)
        others.push_back(std::to_string(member));
    diagnostic << (others.size() == 1 ? "rank " : "ranks ")
               << llvm::join(others, ", ");
  };
  auto getPlace = [&](int64_t rank) {
    return places[communication.getCurrent(rank).place];
  };
  InFlightDiagnostic error = getPlace(stuck.front())->emitError();
  error << "is never passed: ";
  describe(stuck.front(), error);
  for (int64_t rank : ArrayRef<int64_t>(stuck).drop_front()) {
    Diagnostic &note = error.attachNote(getPlace(rank)->getLoc());
    describe(rank, note);
  }
  return failure();
}

struct VerifyCollectivesPass
    : cleave::impl::VerifyCollectivesPassBase<VerifyCollectivesPass> {
  void runOnOperation() override {
    Prover prover(getOperation());
    for (auto program : getOperation().getOps<func::FuncOp>())
      if (failed(prover.add(program)))
        return signalPassFailure();
    if (failed(prover.prove()))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
