//===- Launched.h - what a launcher told this process ---------------------===//
//
// Rank and size from the environment, in this order: an MPI's launcher (Open
// MPI, MPICH's kin), torchrun, Slurm. Slurm is last: under mpirun in a batch
// job its variables describe mpirun's daemons.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_RUNTIME_MAIN_LAUNCHED_H
#define CLEAVE_RUNTIME_MAIN_LAUNCHED_H

#include <cstdlib>
#include <optional>

namespace cleave::rt {

struct Launched {
  const char *launcher; ///< "mpirun", "torchrun" or "srun"
  int rank;
  int size;
};

/// None when no launcher left its variables.
inline std::optional<Launched> findLaunched() {
  struct Variables {
    const char *launcher, *rank, *size;
  };
  static constexpr Variables Known[] = {
      {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
      {"mpirun", "PMI_RANK", "PMI_SIZE"},
      {"torchrun", "RANK", "WORLD_SIZE"},
      {"srun", "SLURM_PROCID", "SLURM_NTASKS"},
  };
  for (const Variables &names : Known) {
    const char *rank = std::getenv(names.rank), *size = std::getenv(names.size);
    if (rank && size)
      return Launched{names.launcher, std::atoi(rank), std::atoi(size)};
  }
  return std::nullopt;
}

} // namespace cleave::rt

#endif
