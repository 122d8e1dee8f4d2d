//===- Links.h - what is between the ranks that were started --------------===//
//
// For `cleave doctor --measure` under mpirun: the ranks meet as those of a
// program do, and time the all-reduces that programs call.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_MAIN_LINKS_H
#define CLEAVE_RUNTIME_MAIN_LINKS_H

extern "C" {

/// Meets the other ranks, hands round a text of each, and times all-reduces of
/// 256 bytes and 2 MiB between 2, 4 ... and all ranks of a host, and between
/// the first ranks of 2, 4 ... and all hosts. On rank 0 it gives `take` this
/// JSON:
///
///   {"ranks": [{"host": "a", "localSize": 2, "text": ".."}, ...],
///    "samples": [{"first": 0, "ranks": 2, "isNetwork": false,
///                 "small": 4.1e-6, "large": 3.8e-4}, ...]}   // seconds
///
/// `first` is the first rank of the group. Returns an exit code; what went
/// wrong has been told. All ranks call it, once.
int cleaveMeasureLinks(const char *text, void (*take)(void *to, const char *),
                       void *to);
using CleaveMeasureLinksFn = int(const char *, void (*)(void *, const char *),
                                 void *);
}

#endif
