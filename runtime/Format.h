//===- Format.h - files of OUT: names and the shape of manifest.json ------===//
//
// Shared by codegen (writes) and the runtime (reads). Plain constants; the JSON
// layout is described here once.
//
//   {
//     "format": 1,
//     "build": "<digest of the compiler>", "plan": "<digest of plan.json>",
//     "model": "vit", "world": 4,
//     "axes": ["tp", ...], "axisSizes": [2, ...], // as CleaveStep::coords
//     "programs": [P...],
//     "ranks": [{"program": 0, "coords": [0, ...],
//                "weights": "weights/w0.safetensors"}],
//     "groups": [[[0,1],[2,3]], ...],        // lists of members, disjoint
//     "routes": [[[0,2],[1,3]], ...],        // pairs [from, to]
//     "channels": [[0,2,7], ...],            // from, to, tag of all messages
//     "inputs":  [{"name", "dtype", "shape"}],  // whole, the user's view
//     "outputs": [{"name", "dtype", "shape", "owner": rank,
//                  "node", "op", "position", // the node that makes it, if any,
//                            // and how many nodes that compute are before it
//                  "kept": bool}],           // by request: not the model's own
//     "files":   [{"path", "bytes", "sha256", "ranks": [0, ...]}],
//                            // "ranks": those that read it, where not all do
//     "requires": {"glibc": "2.34",          // the least version
//                  "mpi": "libmpi.so.40",    // where there are several ranks
//                  "cuda": ["sm_80", ...]},  // architectures with a binary
//     "arenaBytes": [per program],
//     "liveBytes": [per program],            // the least that an arena needs
//     "buckets": [{...}]     // other sizes of the same model, where there are:
//                            // each has its own "programs", "ranks", "inputs",
//                            // "outputs", "arenaBytes", "liveBytes"
//   }
//   P: {"name": "p0", "file": "programs/p0.so", "identity": "..",
//       "inputs": [I...], "outputs": [O...], "state": [S...],
//       "counts": {"matmul": 12, ...},       // of kernels and collectives
//       "flops": f,                          // of the products of a step
//       "schedule": [{"count": 3, "chunks": ["forward", "backward"]}, ...],
//                                            // loops over micro-batches
//       "device": {"launches": n, "binaries": {"sm_90": [K...]}}} // for CUDA
//   K: {"name", "registers", "spillBytes", "stackBytes", "sharedBytes",
//       "narrowLoads": why it loads no 8 or 16 bytes at once, or ""}
//   I, O: {"index": into inputs/outputs, "shape": local padded shape,
//          "split": [{"axes": [axis...], "chunk": c} per dim]} // outer first
//   S: {"name": "blocks.0.w", "dtype", "shape": local shape, "mutable": bool,
//       "role": "model" (default), "optimizer" or "setting",
//       "trueName": the user's, where it is another (a stage's "w@stage1"),
//       "whole": whole shape, "trueShape": the user's, where it is another,
//       "split": as of an input,
//       "setting": {"kind": "rate", "base": 0.0}} // a scalar that a run sets:
//       rate, clip, decay, samples, correction or root_correction (of base)
//
// A rank's part of dim d: index i = mixed radix of its coords over the dim's
// axes (axis sizes in "axisSizes", parallel to "axes"); start = i * chunk,
// valid = clamp(n - start, 0, chunk); the rest of the local shape is zero. An
// output with no split is whole on its owner, which hands it to rank 0. The
// state of a rank: its weights file holds each S by name in local shape.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_FORMAT_H
#define CLEAVE_RUNTIME_FORMAT_H

namespace cleave::format {
inline constexpr int Version = 1;
inline constexpr const char *ManifestFile = "manifest.json";
inline constexpr const char *PlanFile = "plan.json";
inline constexpr const char *ProgramDir = "programs";
inline constexpr const char *WeightDir = "weights";
inline constexpr const char *LibDir = "lib";
inline constexpr const char *IncludeDir = "include";
inline constexpr const char *RuntimeLib = "libcleave_rt.so";
inline constexpr const char *MpiLib = "libcleave_mpi.so";
inline constexpr const char *CudaLib = "libcleave_cuda.so";
inline constexpr const char *Launcher = "launch";
inline constexpr const char *RankPrefix = "rank-";
inline constexpr const char *ProgramSymbol = "cleave_program";
} // namespace cleave::format

#endif
