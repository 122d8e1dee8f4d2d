//===- Launched.h - what a launcher told this process ---------------------===//
//
// Rank, size and place on the host from the environment, in this order: an
// MPI's launcher (Open MPI, MPICH's kin), torchrun, Slurm. Slurm is last: under
// mpirun in a batch job its variables describe mpirun's daemons.
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
  int localRank; ///< place among the ranks of this host
  int localSize; ///< ranks of this host; `size` where nobody says
};

/// None when no launcher left its variables.
inline std::optional<Launched> findLaunched() {
  struct Variables {
    const char *launcher, *rank, *size, *local, *localSize;
  };
  static constexpr Variables Known[] = {
      {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
       "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
      {"mpirun", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
      {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
      {"srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID",
       "SLURM_NTASKS_PER_NODE"},
  };
  for (const Variables &names : Known) {
    const char *rank = std::getenv(names.rank), *size = std::getenv(names.size);
    const char *local = std::getenv(names.local);
    const char *localSize = std::getenv(names.localSize);
    if (rank && size)
      return Launched{names.launcher, std::atoi(rank), std::atoi(size),
                      std::atoi(local ? local : rank),
                      std::atoi(localSize ? localSize : size)};
  }
  return std::nullopt;
}

} // namespace cleave::rt

#endif
