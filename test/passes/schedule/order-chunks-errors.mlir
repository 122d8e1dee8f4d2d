// RUN: not cleave-opt %s --cleave-order-chunks 2>&1 | FileCheck %s

// Tests that an unknown schedule is refused by name.

// CHECK: error: unknown schedule "zigzag"; expected gpipe or 1f1b
module attributes {cleave.schedule_kind = "zigzag"} {
}
