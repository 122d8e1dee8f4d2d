#include "tools/cleave/Verbs.h"
void cleave::addInspect(CLI::App &, Verb &) {}
