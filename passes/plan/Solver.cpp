//===- Solver.cpp - bucket elimination in min-fill order ------------------===//
//
// Worked example: a - b - c. Eliminating a leaves a table over b, which joins
// the edge b - c when b goes; c is left alone and takes its cheapest value;
// then b and a look their best values up, given what is known.
//
//===----------------------------------------------------------------------===//

#include "passes/plan/Solver.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

using namespace cleave::plan;

namespace {

/// Costs over the values of a few variables, row-major in the order of `scope`.
struct Table {
  std::vector<size_t> scope;
  std::vector<double> costs;
};

/// What a variable is fixed to, where a table would grow too large.
enum class Choice {
  Greedy, ///< its value in a first, greedy solution
  Bound,  ///< the value that costs least by the tables that it is in
};

class Elimination {
public:
  Elimination(const Problem &problem, const SolverOptions &options,
              Choice choice);
  /// The assignment, before refinement.
  Solution run();

private:
  size_t pickNext() const;
  size_t countFill(size_t variable) const;
  double getTableSize(size_t variable) const;
  void eliminate(size_t variable);
  void fix(size_t variable, size_t value);
  size_t chooseValue(size_t variable);
  size_t findLeastBound(size_t variable) const;
  std::vector<double> getOwnCosts(size_t variable) const;
  void addTable(const Table &table);
  double lookUp(const Table &table) const;
  void addColumn(const Table &table, size_t variable,
                 std::vector<double> &costs) const;
  void assignBack();
  void detach(size_t variable);

  const Problem &problem;
  const SolverOptions &options;
  Choice choice;
  std::vector<size_t> greedy; ///< made when it is needed
  std::vector<std::set<size_t>> neighbours;
  std::vector<bool> isGone;
  std::vector<size_t> fill;                ///< fill-in if it went now
  std::vector<std::vector<Table>> buckets; ///< live tables, at each variable
  std::vector<size_t> order;
  std::vector<std::vector<Table>> taken; ///< tables that left, as `order`
  Solution solution;
};

} // namespace

//===-- A first solution, and its improvement -----------------------------===//

/// Edges at each variable.
static std::vector<std::vector<const Edge *>>
getIncidence(const Problem &problem) {
  std::vector<std::vector<const Edge *>> incidence(problem.variables.size());
  for (const Edge &edge : problem.edges) {
    incidence[edge.first].push_back(&edge);
    incidence[edge.second].push_back(&edge);
  }
  return incidence;
}

static double getEdgeCost(const Problem &problem, const Edge &edge,
                          const std::vector<size_t> &values) {
  return edge.costs[values[edge.first] * problem.getDomain(edge.second) +
                    values[edge.second]];
}

/// Gives each variable in turn its best value, given the others. `isKnown`
/// limits the edges that count. Returns whether anything changed.
static bool sweep(const Problem &problem,
                  const std::vector<std::vector<const Edge *>> &incidence,
                  std::vector<size_t> &values, std::vector<bool> *isKnown) {
  bool changed = false;
  for (size_t v = 0; v < values.size(); ++v) {
    size_t before = values[v], best = before;
    double bestCost = kForbidden;
    for (size_t value = 0; value < problem.getDomain(v); ++value) {
      values[v] = value;
      double cost = problem.variables[v].costs[value];
      for (const Edge *edge : incidence[v]) {
        size_t other = edge->first == v ? edge->second : edge->first;
        if (!isKnown || (*isKnown)[other])
          cost += getEdgeCost(problem, *edge, values);
      }
      if (cost < bestCost) {
        bestCost = cost;
        best = value;
      }
    }
    values[v] = best;
    changed |= best != before;
    if (isKnown)
      (*isKnown)[v] = true;
  }
  return changed;
}

/// Each variable in order takes its best value, given those before it.
static std::vector<size_t> solveGreedily(const Problem &problem) {
  std::vector<size_t> values(problem.variables.size(), 0);
  std::vector<bool> isKnown(values.size(), false);
  sweep(problem, getIncidence(problem), values, &isKnown);
  return values;
}

static void refine(const Problem &problem, Solution &solution) {
  constexpr int kMaxSweeps = 50;
  auto incidence = getIncidence(problem);
  for (int i = 0; i < kMaxSweeps; ++i) {
    std::vector<size_t> next = solution.values;
    bool changed = sweep(problem, incidence, next, nullptr);
    double cost = problem.getCost(next);
    if (!changed || !(cost < solution.cost))
      return;
    solution.values = next;
    solution.cost = cost;
  }
}

//===-- Elimination -------------------------------------------------------===//

Elimination::Elimination(const Problem &problem, const SolverOptions &options,
                         Choice choice)
    : problem(problem), options(options), choice(choice),
      neighbours(problem.variables.size()),
      isGone(problem.variables.size(), false),
      fill(problem.variables.size(), 0), buckets(problem.variables.size()) {
  for (const Edge &edge : problem.edges)
    addTable({{edge.first, edge.second}, edge.costs});
  for (size_t v = 0; v < problem.variables.size(); ++v)
    buckets[v].push_back({{v}, problem.variables[v].costs});
  for (size_t v = 0; v < problem.variables.size(); ++v)
    fill[v] = countFill(v);
}

/// A table is kept at each of its variables until the first of them goes.
void Elimination::addTable(const Table &table) {
  for (size_t v : table.scope) {
    for (size_t other : table.scope)
      if (other != v)
        neighbours[v].insert(other);
    buckets[v].push_back(table);
  }
}

/// Pairs of neighbours that do not meet yet.
size_t Elimination::countFill(size_t variable) const {
  size_t missing = 0;
  const std::set<size_t> &around = neighbours[variable];
  for (auto a = around.begin(); a != around.end(); ++a)
    for (auto b = std::next(a); b != around.end(); ++b)
      missing += !neighbours[*a].count(*b);
  return missing;
}

double Elimination::getTableSize(size_t variable) const {
  double size = problem.getDomain(variable);
  for (size_t other : neighbours[variable])
    size *= problem.getDomain(other);
  return size;
}

/// Least fill-in, then smallest table, then lowest number.
size_t Elimination::pickNext() const {
  size_t best = isGone.size();
  for (size_t v = 0; v < isGone.size(); ++v) {
    if (isGone[v] || (best < isGone.size() && fill[v] > fill[best]))
      continue;
    if (best == isGone.size() || fill[v] < fill[best] ||
        getTableSize(v) < getTableSize(best))
      best = v;
  }
  return best;
}

double Elimination::lookUp(const Table &table) const {
  size_t index = 0;
  for (size_t v : table.scope)
    index = index * problem.getDomain(v) + solution.values[v];
  return table.costs[index];
}

/// Adds what each value of `variable` costs in `table`, given the other values.
void Elimination::addColumn(const Table &table, size_t variable,
                            std::vector<double> &costs) const {
  size_t first = 0, stride = 0;
  for (size_t v : table.scope) {
    size_t domain = problem.getDomain(v);
    first = first * domain + (v == variable ? 0 : solution.values[v]);
    stride = v == variable ? 1 : stride * domain;
  }
  for (size_t value = 0; value < costs.size(); ++value)
    costs[value] += table.costs[first + value * stride];
}

/// Takes `variable` out of the graph and out of its neighbours' buckets.
void Elimination::detach(size_t variable) {
  isGone[variable] = true;
  for (size_t other : neighbours[variable]) {
    neighbours[other].erase(variable);
    std::erase_if(buckets[other], [&](const Table &table) {
      return std::count(table.scope.begin(), table.scope.end(), variable);
    });
  }
}

/// Leaves, for each assignment of the neighbours, the cost of the best value.
void Elimination::eliminate(size_t variable) {
  Table left;
  left.scope.assign(neighbours[variable].begin(), neighbours[variable].end());
  size_t size = 1;
  for (size_t v : left.scope)
    size *= problem.getDomain(v);
  left.costs.resize(size);
  std::vector<double> costs(problem.getDomain(variable));
  for (size_t i = 0; i < size; ++i) {
    size_t rest = i;
    for (size_t k = left.scope.size(); k-- > 0;) {
      solution.values[left.scope[k]] = rest % problem.getDomain(left.scope[k]);
      rest /= problem.getDomain(left.scope[k]);
    }
    std::fill(costs.begin(), costs.end(), 0);
    for (const Table &table : buckets[variable])
      addColumn(table, variable, costs);
    left.costs[i] = *std::min_element(costs.begin(), costs.end());
  }
  detach(variable);
  order.push_back(variable);
  taken.push_back(std::move(buckets[variable]));
  std::vector<size_t> touched = left.scope;
  if (!left.scope.empty())
    addTable(left);
  std::set<size_t> dirty(touched.begin(), touched.end());
  for (size_t v : touched)
    dirty.insert(neighbours[v].begin(), neighbours[v].end());
  for (size_t v : dirty)
    fill[v] = countFill(v);
}

/// Gives `variable` one value for good: its tables lose that dimension.
void Elimination::fix(size_t variable, size_t value) {
  std::vector<Table> tables = std::move(buckets[variable]);
  std::set<size_t> around = neighbours[variable];
  detach(variable);
  for (const Table &table : tables) {
    Table left;
    for (size_t v : table.scope)
      if (v != variable)
        left.scope.push_back(v);
    size_t before = 1, after = 1;
    bool passed = false;
    for (size_t v : table.scope) {
      passed |= v == variable;
      if (v != variable)
        (passed ? after : before) *= problem.getDomain(v);
    }
    for (size_t b = 0; b < before; ++b)
      for (size_t a = 0; a < after; ++a)
        left.costs.push_back(
            table.costs[(b * problem.getDomain(variable) + value) * after + a]);
    if (!left.scope.empty())
      addTable(left);
  }
  Table choice{{variable},
               std::vector<double>(problem.getDomain(variable), kForbidden)};
  choice.costs[value] = 0;
  order.push_back(variable);
  taken.push_back({choice});
  solution.exact = false;
  solution.fixed.push_back(variable);
  for (size_t v : around)
    fill[v] = countFill(v);
}

/// What each value of `variable` costs by the tables over it alone.
std::vector<double> Elimination::getOwnCosts(size_t variable) const {
  std::vector<double> costs(problem.getDomain(variable), 0);
  for (const Table &table : buckets[variable])
    if (table.scope.size() == 1)
      std::transform(costs.begin(), costs.end(), table.costs.begin(),
                     costs.begin(), std::plus<>());
  return costs;
}

/// Each table says what a value costs at least, whatever the others are, whose
/// own costs count, too. Tables that variables left which went know what these
/// needed.
size_t Elimination::findLeastBound(size_t variable) const {
  std::vector<double> bounds = getOwnCosts(variable);
  for (const Table &table : buckets[variable]) {
    if (table.scope.size() == 1)
      continue;
    std::vector<double> costs = table.costs;
    size_t stride = costs.size(), own = 0;
    for (size_t v : table.scope) {
      size_t domain = problem.getDomain(v);
      stride /= domain;
      if (v == variable) {
        own = stride;
        continue;
      }
      std::vector<double> other = getOwnCosts(v);
      for (size_t i = 0; i < costs.size(); ++i)
        costs[i] += other[i / stride % domain];
    }
    std::vector<double> least(bounds.size(), kForbidden);
    for (size_t i = 0; i < costs.size(); ++i) {
      double &best = least[i / own % bounds.size()];
      best = std::min(best, costs[i]);
    }
    std::transform(bounds.begin(), bounds.end(), least.begin(), bounds.begin(),
                   std::plus<>());
  }
  return std::min_element(bounds.begin(), bounds.end()) - bounds.begin();
}

size_t Elimination::chooseValue(size_t variable) {
  if (choice == Choice::Bound)
    return findLeastBound(variable);
  if (greedy.empty())
    greedy = solveGreedily(problem);
  return greedy[variable];
}

/// From the last that went to the first, each takes its best value.
void Elimination::assignBack() {
  for (size_t i = order.size(); i-- > 0;) {
    size_t variable = order[i], best = 0;
    double bestCost = kForbidden;
    for (size_t value = 0; value < problem.getDomain(variable); ++value) {
      solution.values[variable] = value;
      double cost = 0;
      for (const Table &table : taken[i])
        cost += lookUp(table);
      if (cost < bestCost) {
        bestCost = cost;
        best = value;
      }
    }
    solution.values[variable] = best;
  }
}

Solution Elimination::run() {
  solution.values.assign(problem.variables.size(), 0);
  for (size_t next; (next = pickNext()) < isGone.size();) {
    if (getTableSize(next) <= static_cast<double>(options.maxTableEntries)) {
      eliminate(next);
      continue;
    }
    // The widest neighbour goes: most entries saved for one fixed choice.
    size_t widest = next;
    for (size_t v : neighbours[next])
      if (problem.getDomain(v) > problem.getDomain(widest))
        widest = v;
    fix(widest, chooseValue(widest));
  }
  assignBack();
  solution.cost = problem.getCost(solution.values);
  return solution;
}

std::optional<Solution> cleave::plan::solve(const Problem &problem,
                                            const SolverOptions &options) {
  for (Choice choice : {Choice::Greedy, Choice::Bound}) {
    Solution solution = Elimination(problem, options, choice).run();
    if (!solution.exact)
      refine(problem, solution);
    if (!std::isinf(solution.cost))
      return solution;
    if (solution.exact)
      break;
  }
  return std::nullopt;
}

std::string cleave::plan::verify(const Problem &problem,
                                 const Solution &solution) {
  if (solution.values.size() != problem.variables.size())
    return "the solution has " + std::to_string(solution.values.size()) +
           " values, expected " + std::to_string(problem.variables.size());
  for (size_t v = 0; v < solution.values.size(); ++v)
    if (solution.values[v] >= problem.getDomain(v))
      return "value " + std::to_string(solution.values[v]) + " of '" +
             problem.variables[v].name + "' is out of range";
  double cost = problem.getCost(solution.values);
  if (std::isinf(cost))
    return "the solution makes a forbidden choice";
  if (std::abs(cost - solution.cost) > 1e-9 * std::max(1.0, std::abs(cost)))
    return "the solution says cost " + std::to_string(solution.cost) +
           ", its choices cost " + std::to_string(cost);
  return "";
}
