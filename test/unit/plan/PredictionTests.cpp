//===- PredictionTests.cpp - lengths of steps by hand ---------------------===//

#include "passes/plan/Prediction.h"

#include <gtest/gtest.h>

using namespace cleave::plan;

namespace {

StageCost makeStage(double compute, double communication, double once = 0) {
  StageCost stage;
  stage.compute = compute;
  stage.communication = communication;
  stage.once = once;
  return stage;
}

// Tests that one stage has no bubble, and that what is done once a step is not
// repeated for each micro-batch: 4 x (3 + 1) + 2.
TEST(Prediction, OneStage) {
  StepTime time = getStepTime({makeStage(3, 1, 2)}, 4, 0);
  EXPECT_DOUBLE_EQ(time.compute, 12);
  EXPECT_DOUBLE_EQ(time.communication, 6);
  EXPECT_DOUBLE_EQ(time.bubble, 0);
}

// Tests the fill and drain of a pipeline: two stages of 2 and 2 with 4
// micro-batches take 2 + 2 + 3 x 2 = 10, of which a rank computes 8: a bubble
// of (p - 1)/m = 1/4 of the ideal time.
TEST(Prediction, Bubble) {
  StepTime time = getStepTime({makeStage(2, 0), makeStage(2, 0)}, 4, 0);
  EXPECT_DOUBLE_EQ(time.getSeconds(), 10);
  EXPECT_DOUBLE_EQ(time.compute, 8);
  EXPECT_DOUBLE_EQ(time.bubble, 2);
}

// Tests that uneven stages wait for the slowest: 1 + 4 + 2 x 4 = 13, of which a
// rank computes (3 + 12) / 2.
TEST(Prediction, UnevenStages) {
  StepTime time = getStepTime({makeStage(1, 0), makeStage(3, 1)}, 3, 0);
  EXPECT_DOUBLE_EQ(time.getSeconds(), 13);
  EXPECT_DOUBLE_EQ(time.compute, 6);
  EXPECT_DOUBLE_EQ(time.communication, 1.5);
}

// Tests ranks that take turns: four that compute 3 each on two cores need 6,
// and their collectives come on top; a pipeline that keeps one core busy is not
// slowed down.
TEST(Prediction, Turns) {
  StepTime time = getStepTime({makeStage(3, 1)}, 1, 6);
  EXPECT_DOUBLE_EQ(time.getSeconds(), 7);
  EXPECT_DOUBLE_EQ(time.bubble, 3);
  StepTime pipe = getStepTime(
      {makeStage(2, 0), makeStage(2, 0), makeStage(2, 0), makeStage(2, 0)}, 1,
      4);
  EXPECT_DOUBLE_EQ(pipe.getSeconds(), 8);
}

} // namespace
