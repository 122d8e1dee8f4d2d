//===- Collectives.cpp - the ABI's collectives and messages ---------------===//
//
// Hands each call to the device, if there is one, or to the transport, with its
// time to the trace.
//
//===----------------------------------------------------------------------===//

#include "runtime/Context.h"
#include "runtime/support/Dtype.h"

using namespace cleave::rt;

/// Runs one communication of a step; the body returns how many bytes this rank
/// puts into it.
template <typename Body>
static void communicate(CleaveContext *context, const char *kind,
                        const char *op, Body &&body) {
  guarded(context, [&] {
    Trace::Clock::time_point start;
    if (context->trace)
      start = Trace::Clock::now();
    int64_t bytes = body();
    if (context->trace)
      context->trace->communication(kind, op, start, bytes);
  });
}

/// Notes the ends of messages, once they are under way or here.
template <typename Body>
static void traceMessages(CleaveContext *context, Body &&body) {
  if (context->trace && !context->failed())
    body(*context->trace, context->transport->rank());
}

void cleaveAllReduce(CleaveContext *context, int32_t group, const void *in,
                     void *out, int64_t count, int32_t dtype, int32_t reduction,
                     const char *op) {
  communicate(context, "all_reduce", op, [&] {
    context->group(group).allReduce(in, out, count, dtype, reduction, op);
    return count * dtypeBytes(dtype);
  });
}

void cleaveAllGather(CleaveContext *context, int32_t group, const void *in,
                     void *out, int64_t outer, int64_t chunk, int32_t dtype,
                     const char *op) {
  communicate(context, "all_gather", op, [&] {
    context->group(group).allGather(in, out, outer, chunk, dtype, op);
    return outer * chunk * dtypeBytes(dtype);
  });
}

void cleaveReduceScatter(CleaveContext *context, int32_t group, const void *in,
                         void *out, int64_t outer, int64_t chunk, int32_t dtype,
                         int32_t reduction, const char *op) {
  communicate(context, "reduce_scatter", op, [&] {
    Collectives &members = context->group(group);
    members.reduceScatter(in, out, outer, chunk, dtype, reduction, op);
    return outer * chunk * dtypeBytes(dtype) * members.size();
  });
}

void cleaveAllToAll(CleaveContext *context, int32_t group, const void *in,
                    void *out, int64_t chunk, int32_t dtype, const char *op) {
  communicate(context, "all_to_all", op, [&] {
    Collectives &members = context->group(group);
    members.allToAll(in, out, chunk, dtype, op);
    return chunk * dtypeBytes(dtype) * members.size();
  });
}

void cleaveBroadcast(CleaveContext *context, int32_t group, void *buffer,
                     int64_t count, int32_t dtype, int32_t root,
                     const char *op) {
  communicate(context, "broadcast", op, [&] {
    Collectives &members = context->group(group);
    members.broadcast(buffer, count, dtype, root, op);
    return members.index() == root ? count * dtypeBytes(dtype) : 0;
  });
}

void cleaveDefer(CleaveContext *context, int32_t group) {
  guarded(context, [&] { context->group(group).defer(); });
}

void cleaveFinish(CleaveContext *context, int32_t group, const char *op) {
  communicate(context, "finish", op, [&] {
    context->group(group).finish();
    return int64_t{0};
  });
}

void cleaveSend(CleaveContext *context, int32_t route, const void *buffer,
                int64_t count, int32_t dtype, int32_t tag, const char *op) {
  communicate(context, "send", op, [&] {
    int64_t bytes = count * dtypeBytes(dtype);
    const std::vector<int> &receivers = context->receivers(route);
    for (int to : receivers) {
      if (context->device)
        context->device->send(to, buffer, bytes, tag);
      else
        context->transport->send(to, buffer, bytes, tag, op);
    }
    return bytes * static_cast<int64_t>(receivers.size());
  });
  traceMessages(context, [&](Trace &trace, int self) {
    for (int to : context->receivers(route))
      trace.message(Trace::End::Sent, self, to, tag);
  });
}

void cleaveRecv(CleaveContext *context, int32_t route, void *buffer,
                int64_t count, int32_t dtype, int32_t tag, const char *op) {
  communicate(context, "recv", op, [&] {
    int64_t bytes = count * dtypeBytes(dtype);
    std::optional<int> from = context->sender(route);
    if (from && context->device)
      context->device->recv(*from, buffer, bytes, tag);
    else if (from)
      context->transport->recv(*from, buffer, bytes, tag, op);
    return int64_t{0};
  });
  traceMessages(context, [&](Trace &trace, int self) {
    if (std::optional<int> from = context->sender(route))
      trace.message(Trace::End::Received, *from, self, tag);
  });
}
