//===- Problem.cpp - builds and checks an optimisation problem ------------===//

#include "passes/plan/Problem.h"

#include <utility>

using namespace cleave::plan;

size_t Problem::addVariable(std::string name, std::vector<double> costs) {
  variables.push_back({std::move(name), std::move(costs)});
  return variables.size() - 1;
}

void Problem::addEdge(size_t first, size_t second, std::vector<double> costs) {
  edges.push_back({first, second, std::move(costs)});
}

double Problem::getCost(const std::vector<size_t> &values) const {
  double cost = 0;
  for (size_t i = 0; i < variables.size(); ++i)
    cost += variables[i].costs[values[i]];
  for (const Edge &edge : edges)
    cost += edge.costs[values[edge.first] * getDomain(edge.second) +
                       values[edge.second]];
  return cost;
}

std::string cleave::plan::verify(const Problem &problem) {
  for (const Variable &variable : problem.variables)
    if (variable.costs.empty())
      return "variable '" + variable.name + "' has no value";
  size_t count = problem.variables.size();
  for (const Edge &edge : problem.edges) {
    if (edge.first >= count || edge.second >= count ||
        edge.first == edge.second)
      return "an edge needs two different variables, found " +
             std::to_string(edge.first) + " and " + std::to_string(edge.second);
    size_t expected =
        problem.getDomain(edge.first) * problem.getDomain(edge.second);
    if (edge.costs.size() != expected)
      return "edge between '" + problem.variables[edge.first].name + "' and '" +
             problem.variables[edge.second].name + "' has " +
             std::to_string(edge.costs.size()) + " costs, expected " +
             std::to_string(expected);
  }
  return "";
}
