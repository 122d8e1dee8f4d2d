//===- Problem.h - choices with costs on single ones and on pairs ---------===//
//
// A plain optimisation problem, apart from any IR: variables with small
// domains, a cost for each value of a variable, and a cost for each pair of
// values of two variables that meet. A solution picks one value a variable; its
// cost is the sum. An infinite cost forbids a value or a pair.
//
// Example: two ops in a row, each whole (0) or split (1). `costs` of the ops
// are their times; the edge between them costs a collective where the choices
// differ.
//
//===----------------------------------------------------------------------===//

#ifndef CLEAVE_PASSES_PLAN_PROBLEM_H
#define CLEAVE_PASSES_PLAN_PROBLEM_H

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace cleave::plan {

/// Cost of what must not be chosen.
constexpr double kForbidden = std::numeric_limits<double>::infinity();

struct Variable {
  std::string name;          ///< for messages
  std::vector<double> costs; ///< one per value
};

struct Edge {
  size_t first, second;      ///< two different variables
  std::vector<double> costs; ///< row-major: [value of first][value of second]
};

struct Problem {
  std::vector<Variable> variables;
  std::vector<Edge> edges;

  /// Adds a variable with one cost per value; returns its number.
  size_t addVariable(std::string name, std::vector<double> costs);
  /// Adds a pairwise cost. Several edges between the same two variables add up.
  void addEdge(size_t first, size_t second, std::vector<double> costs);

  size_t getDomain(size_t variable) const {
    return variables[variable].costs.size();
  }
  /// Cost of a complete assignment.
  double getCost(const std::vector<size_t> &values) const;
};

/// What is wrong with the problem itself (an empty domain, an edge whose table
/// has the wrong size, ends that do not exist or are equal); empty if nothing
/// is.
std::string verify(const Problem &problem);

} // namespace cleave::plan

#endif
