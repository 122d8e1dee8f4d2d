//===- Cleave.h - the whole dialect ---------------------------------------===//
#ifndef CLEAVE_IR_CLEAVE_H
#define CLEAVE_IR_CLEAVE_H

#include "ir/Composite.h"
#include "ir/Contraction.h"
#include "ir/Dialect.h"
#include "ir/Distribution.h"
#include "ir/Elementwise.h"
#include "ir/ElementwiseTable.h"
#include "ir/Movement.h"
#include "ir/Program.h"
#include "ir/Reduction.h"
#include "ir/State.h"

#endif
