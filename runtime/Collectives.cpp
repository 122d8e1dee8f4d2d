//===- Collectives.cpp - the ABI's collectives and messages ---------------===//
//
// Hands each call to the transport, with its time to the trace.
//
//===----------------------------------------------------------------------===//

#include "runtime/Context.h"
#include "runtime/support/Dtype.h"

using namespace cleave::rt;

/// Runs one communication of a step.
template <typename Body>
static void communicate(CleaveContext *context, const char *kind,
                        const char *op, Body &&body) {
  guarded(context, [&] {
    if (!context->trace)
      return body();
    Trace::Clock::time_point start = Trace::Clock::now();
    body();
    context->trace->communication(kind, op, start);
  });
}

void cleaveAllReduce(CleaveContext *context, int32_t group, const void *in,
                     void *out, int64_t count, int32_t dtype, int32_t reduction,
                     const char *op) {
  communicate(context, "all_reduce", op, [&] {
    context->transport->group(group).allReduce(in, out, count, dtype, reduction,
                                               op);
  });
}

// The transports bring their own working memory: `workspace` stays unused.
void cleaveAllGather(CleaveContext *context, int32_t group, const void *in,
                     void *out, int64_t outer, int64_t chunk, int32_t dtype,
                     void *workspace, const char *op) {
  communicate(context, "all_gather", op, [&] {
    context->transport->group(group).allGather(in, out, outer, chunk, dtype,
                                               op);
  });
}

void cleaveReduceScatter(CleaveContext *context, int32_t group, const void *in,
                         void *out, int64_t outer, int64_t chunk, int32_t dtype,
                         int32_t reduction, void *workspace, const char *op) {
  communicate(context, "reduce_scatter", op, [&] {
    context->transport->group(group).reduceScatter(in, out, outer, chunk, dtype,
                                                   reduction, op);
  });
}

void cleaveAllToAll(CleaveContext *context, int32_t group, const void *in,
                    void *out, int64_t chunk, int32_t dtype, const char *op) {
  communicate(context, "all_to_all", op, [&] {
    context->transport->group(group).allToAll(in, out, chunk, dtype, op);
  });
}

void cleaveBroadcast(CleaveContext *context, int32_t group, void *buffer,
                     int64_t count, int32_t dtype, int32_t root,
                     const char *op) {
  communicate(context, "broadcast", op, [&] {
    context->transport->group(group).broadcast(buffer, count, dtype, root, op);
  });
}

void cleaveSend(CleaveContext *context, int32_t route, const void *buffer,
                int64_t count, int32_t dtype, int32_t tag, const char *op) {
  communicate(context, "send", op, [&] {
    for (int to : context->receivers(route))
      context->transport->send(to, buffer, count * dtypeBytes(dtype), tag, op);
  });
}

void cleaveRecv(CleaveContext *context, int32_t route, void *buffer,
                int64_t count, int32_t dtype, int32_t tag, const char *op) {
  communicate(context, "recv", op, [&] {
    if (std::optional<int> from = context->sender(route))
      context->transport->recv(*from, buffer, count * dtypeBytes(dtype), tag,
                               op);
  });
}
