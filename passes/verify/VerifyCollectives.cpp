//===- VerifyCollectives.cpp - prove that no rank waits for ever ----------===//
//
// Writes down what each rank of each stage communicates, in the order in which
// it runs, and plays it to the end (Communication.h). All ranks of a stage run
// its one program; what a collective means to a rank follows from its
// coordinates, what a send means from its pairs; chunks run as the schedule
// calls them. A collective over micro-batches only is no communication.
//
// A play that gets stuck is an error: it names the first rank that waits, with
// a note for each other. So is a message that nobody receives.
//
//===----------------------------------------------------------------------===//

#include "passes/partition/ValueSharding.h"
#include "passes/verify/Communication.h"
#include "passes/verify/Passes.h"

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
  Prover(ModuleOp module, bool rendezvous)
      : meshes(module), rendezvous(rendezvous) {}

  LogicalResult add(func::FuncOp program);
  LogicalResult prove();

private:
  LogicalResult addBlock(Block &block, MeshAttr mesh);
  LogicalResult addSchedule(ScheduleOp schedule, MeshAttr mesh);
  LogicalResult addOp(Operation *op, MeshAttr mesh);
  void addCollective(Operation *op, MeshAttr mesh, ArrayAttr axes);
  LogicalResult addMessages(Operation *op, MeshAttr mesh,
                            ArrayRef<int64_t> pairs, int64_t tag, Type type,
                            bool sends);
  int64_t addPlace(Operation *op) {
    places.push_back(op);
    return places.size() - 1;
  }

  MeshTable meshes;
  bool rendezvous;
  Communication communication;
  SmallVector<Operation *> places;
};

LogicalResult Prover::add(func::FuncOp program) {
  auto name = program->getAttrOfType<FlatSymbolRefAttr>("cleave.mesh");
  MeshAttr mesh = name ? meshes.get(name) : MeshAttr();
  if (!mesh)
    return program.emitError("has no mesh: its ranks are not known");
  if (!program.getOps<ChunkOp>().empty() &&
      program.getOps<ScheduleOp>().empty())
    return program.emitError("has chunks but no schedule that calls them");
  for (int64_t rank : mesh.getRanks())
    communication.addRank(rank);
  return addBlock(program.front(), mesh);
}

/// Chunks do nothing where they stand: a schedule calls them.
LogicalResult Prover::addBlock(Block &block, MeshAttr mesh) {
  for (Operation &op : block)
    if (failed(addOp(&op, mesh)))
      return failure();
  return success();
}

LogicalResult Prover::addSchedule(ScheduleOp schedule, MeshAttr mesh) {
  auto program = schedule->getParentOfType<func::FuncOp>();
  for (auto loop : schedule.getLoops().getAsRange<LoopAttr>())
    for (int64_t turn = 0; turn < loop.getCount(); ++turn)
      for (ChunkCallAttr call : loop.getCalls())
        for (auto chunk : program.getOps<ChunkOp>())
          if (chunk.getName() == call.getChunk() &&
              failed(addBlock(chunk.getBody().front(), mesh)))
            return failure();
  return success();
}

LogicalResult Prover::addOp(Operation *op, MeshAttr mesh) {
  if (auto schedule = dyn_cast<ScheduleOp>(op))
    return addSchedule(schedule, mesh);
  if (auto send = dyn_cast<SendOp>(op))
    return addMessages(op, mesh, send.getPairs(), send.getTag(),
                       send.getX().getType(), /*sends=*/true);
  if (auto recv = dyn_cast<RecvOp>(op))
    return addMessages(op, mesh, recv.getPairs(), recv.getTag(), recv.getType(),
                       /*sends=*/false);
  if (isa<AllReduceOp, AllGatherOp, ReduceScatterOp, AllToAllOp>(op))
    addCollective(op, mesh, op->getAttrOfType<ArrayAttr>("axes"));
  return success();
}

/// The group of a rank: those of the same coordinates along all other axes.
void Prover::addCollective(Operation *op, MeshAttr mesh, ArrayAttr axes) {
  int64_t place = addPlace(op);
  SmallVector<SmallVector<int64_t>> outside;
  for (int64_t position = 0; position < mesh.getSize(); ++position) {
    SmallVector<int64_t> coords = mesh.getCoords(position);
    for (StringRef axis : axes.getAsValueRange<StringAttr>())
      if (int64_t index = mesh.getAxisPosition(axis); index >= 0)
        coords[index] = 0;
    outside.push_back(coords);
  }
  for (auto [position, rank] : llvm::enumerate(mesh.getRanks())) {
    CommunicationEvent event;
    event.subject = "collective " + llvm::itostr(place);
    event.place = place;
    for (auto [other, peer] : llvm::enumerate(mesh.getRanks()))
      if (outside[other] == outside[position])
        event.members.push_back(peer);
    llvm::sort(event.members);
    if (event.members.size() > 1)
      communication.add(rank, event);
  }
}

/// Events of the senders, or of the receivers, of the pairs. Both ends must
/// agree on ranks, tag and type.
LogicalResult Prover::addMessages(Operation *op, MeshAttr mesh,
                                  ArrayRef<int64_t> pairs, int64_t tag,
                                  Type type, bool sends) {
  int64_t place = addPlace(op);
  for (size_t i = 0; i < pairs.size(); i += 2) {
    int64_t from = pairs[i], to = pairs[i + 1];
    int64_t rank = sends ? from : to;
    if (!llvm::is_contained(mesh.getRanks(), rank))
      return op->emitError() << "lists rank " << rank << " as "
                             << (sends ? "sender" : "receiver")
                             << ", which is not in the mesh of its function";
    if (from == to)
      return op->emitError() << "sends from rank " << from << " to itself";
    CommunicationEvent event;
    if (!rendezvous)
      event.kind = sends ? CommunicationKind::Send : CommunicationKind::Receive;
    llvm::raw_string_ostream subject(event.subject);
    subject << from << " to " << to << " tag " << tag << " of " << type;
    event.place = place;
    event.members = {std::min(from, to), std::max(from, to)};
    communication.add(rank, event);
  }
  return success();
}

/// "rank 2 waits here for ranks 0, 1".
static void describe(Diagnostic &diagnostic, int64_t rank,
                     const CommunicationEvent &event) {
  SmallVector<std::string> others;
  for (int64_t member : event.members)
    if (member != rank)
      others.push_back(std::to_string(member));
  diagnostic << "rank " << rank << " waits here for "
             << (others.size() == 1 ? "rank " : "ranks ")
             << llvm::join(others, ", ");
}

LogicalResult Prover::prove() {
  if (communication.run()) {
    SmallVector<int64_t> unreceived = communication.getUnreceived();
    if (unreceived.empty())
      return success();
    return places[unreceived.front()]->emitError(
        "sends what no rank receives: no recv of the same ranks, tag and type");
  }
  SmallVector<int64_t> stuck = communication.getStuck();
  auto getPlace = [&](int64_t rank) {
    return places[communication.getCurrent(rank).place];
  };
  InFlightDiagnostic error = getPlace(stuck.front())->emitError();
  error << "is never passed: ";
  describe(*error.getUnderlyingDiagnostic(), stuck.front(),
           communication.getCurrent(stuck.front()));
  for (int64_t rank : ArrayRef<int64_t>(stuck).drop_front())
    describe(error.attachNote(getPlace(rank)->getLoc()), rank,
             communication.getCurrent(rank));
  return failure();
}

struct VerifyCollectivesPass
    : cleave::impl::VerifyCollectivesPassBase<VerifyCollectivesPass> {
  using VerifyCollectivesPassBase::VerifyCollectivesPassBase;

  void runOnOperation() override {
    Prover prover(getOperation(), rendezvous);
    for (auto program : getOperation().getOps<func::FuncOp>())
      if (failed(prover.add(program)))
        return signalPassFailure();
    if (failed(prover.prove()))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
