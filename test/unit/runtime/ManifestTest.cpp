//===- ManifestTest.cpp - reading and checking manifest.json --------------===//

#include "runtime/program/Manifest.h"
#include "runtime/support/Error.h"

#include <gtest/gtest.h>

#include <fstream>

using namespace cleave::rt;

static const char *Good = R"({
  "format": 1, "build": "b", "plan": "p", "model": "m", "world": 2,
  "axes": ["tp"], "axisSizes": [2],
  "programs": [{"name": "p0", "file": "programs/p0.so", "identity": "i",
    "inputs": [{"index": 0, "shape": [2, 3], "split": [{"axes": [], "chunk": 2}, {"axes": [0], "chunk": 3}]}],
    "outputs": [{"index": 0, "shape": [2], "split": []}],
    "state": [{"name": "w", "dtype": "f32", "shape": [3], "mutable": true}]}],
  "ranks": [{"program": 0, "coords": [0], "weights": "weights/w0.safetensors"},
            {"program": 0, "coords": [1], "weights": "weights/w1.safetensors"}],
  "groups": [[[0, 1]]], "routes": [[[0, 1]]],
  "inputs": [{"name": "x", "dtype": "f32", "shape": [2, 5]}],
  "outputs": [{"name": "y", "dtype": "i64", "shape": [2], "owner": 1}]
})";

static Buckets readAll(const std::string &text) {
  std::filesystem::path folder = testing::TempDir();
  std::ofstream(folder / "manifest.json") << text;
  return readManifest(folder);
}

static Manifest read(const std::string &text) { return readAll(text).front(); }

static std::string failureWith(const std::string &from, const std::string &to) {
  std::string text = Good;
  text.replace(text.find(from), from.size(), to);
  try {
    read(text);
  } catch (const Failure &failure) {
    std::string message = failure.what();
    return message.substr(message.find("': ") + 3);
  }
  return "no failure";
}

// Tests that all entries arrive where the runtime looks for them.
TEST(Manifest, Reads) {
  Manifest manifest = read(Good);
  EXPECT_EQ(manifest.world, 2);
  const ProgramInfo &program = manifest.programOf(1);
  EXPECT_EQ(program.inputs[0].split[1].axes, std::vector<int>{0});
  EXPECT_EQ(program.inputs[0].split[1].chunk, 3);
  EXPECT_EQ(program.outputs[0].split.size(), 1u);
  EXPECT_TRUE(program.state[0].isMutable);
  EXPECT_EQ(manifest.outputs[0].owner, 1);
  EXPECT_EQ(manifest.outputs[0].dtype, CLEAVE_I64);
  EXPECT_EQ(manifest.groups[0][0], std::vector<int>({0, 1}));
  EXPECT_EQ(manifest.routes[0][0], (std::pair<int, int>(0, 1)));
}

// Tests that a bucket has its own sizes, and shares what it does not say.
TEST(Manifest, ReadsBuckets) {
  std::string text = Good;
  text.replace(text.rfind('}'), 1, R"(, "buckets": [{
    "inputs": [{"name": "x", "dtype": "f32", "shape": [1, 5]}],
    "programs": [{"name": "p0-1", "file": "f", "identity": "j", "inputs": [
      {"index": 0, "shape": [1, 3], "split": [{"axes": [], "chunk": 1}, {"axes": [0], "chunk": 3}]}]}]}]})");
  Buckets buckets = readAll(text);
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[0].inputs[0].shape, (std::vector<int64_t>{2, 5}));
  EXPECT_EQ(buckets[1].inputs[0].shape, (std::vector<int64_t>{1, 5}));
  EXPECT_EQ(buckets[1].programOf(1).name, "p0-1");
  EXPECT_EQ(buckets[1].groups, buckets[0].groups);
  EXPECT_EQ(buckets[1].ranks[1].weights, "weights/w1.safetensors");
}

// Tests that what does not fit together is refused, in words.
TEST(Manifest, RefusesNonsense) {
  EXPECT_EQ(failureWith("\"format\": 1", "\"format\": 9"),
            "has format 9, this runtime knows 1");
  EXPECT_EQ(failureWith("\"world\": 2", "\"world\": 3"),
            "world is 3, but there are 2 ranks");
  EXPECT_EQ(failureWith("\"owner\": 1", "\"owner\": 2"),
            "owner rank 2 is out of range, there are 2");
  EXPECT_EQ(failureWith("\"dtype\": \"i64\"", "\"dtype\": \"int\""),
            "unknown element type 'int'");
  EXPECT_EQ(failureWith("\"axes\": [0]", "\"axes\": [4]"),
            "mesh axis 4 is out of range, there are 1");
  EXPECT_EQ(failureWith("[[[0, 1]]], \"routes\"", "[[[0, 5]]], \"routes\""),
            "rank 5 is out of range, there are 2");
}
