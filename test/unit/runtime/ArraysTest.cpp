//===- ArraysTest.cpp - array files of others, and our own ----------------===//
//
// The files in inputs/ were written by NumPy and onnx (inputs/make.py).
//
//===----------------------------------------------------------------------===//

#include "runtime/Arrays.h"
#include "runtime/support/Dtype.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>

using namespace cleave::rt;

static std::string input(const char *name) {
  return std::string(CLEAVE_TEST_INPUTS) + "/" + name;
}

template <typename T> static std::vector<T> values(const Array &array) {
  std::vector<T> result(array.data.size() / sizeof(T));
  if (!result.empty())
    std::memcpy(result.data(), array.data.data(), array.data.size());
  return result;
}

static const Array &named(const std::vector<Array> &arrays, const char *name) {
  for (const Array &array : arrays)
    if (array.name == name)
      return array;
  ADD_FAILURE() << "no array " << name;
  return arrays[0];
}

template <typename Body> static std::string failureOf(Body &&body) {
  try {
    body();
  } catch (const Failure &failure) {
    return failure.what();
  }
  return "no failure";
}

static const std::vector<float> Half = {0, 0.5, 1, 1.5, 2, 2.5};
static const std::vector<int64_t> Ids = {1, -2, int64_t{1} << 40};
using Shape = std::vector<int64_t>;

static void expectNumpyArrays(const std::vector<Array> &arrays) {
  ASSERT_EQ(arrays.size(), 6u);
  EXPECT_EQ(named(arrays, "half").shape, Shape({2, 3}));
  EXPECT_EQ(values<float>(named(arrays, "half")), Half);
  EXPECT_EQ(named(arrays, "ids").dtype, CLEAVE_I64);
  EXPECT_EQ(values<int64_t>(named(arrays, "ids")), Ids);
  EXPECT_EQ(named(arrays, "flags").dtype, CLEAVE_BOOL);
  EXPECT_EQ(values<char>(named(arrays, "flags")), std::vector<char>({1, 0}));
  EXPECT_EQ(named(arrays, "scalar").shape, Shape());
  EXPECT_EQ(values<double>(named(arrays, "scalar")), std::vector<double>{-1.5});
  EXPECT_EQ(named(arrays, "empty").shape, Shape({0, 3}));
  EXPECT_EQ(named(arrays, "small").dtype, CLEAVE_F16);
}

// Tests that stored and deflated members of NumPy's archives are read.
TEST(Arrays, ReadsNumpyArchives) {
  expectNumpyArrays(readArrays(input("stored.npz")));
  expectNumpyArrays(readArrays(input("deflated.npz")));
}

// Tests that an array in Fortran order becomes row-major.
TEST(Arrays, TurnsFortranOrder) {
  Array array = readArrays(input("fortran.npy"))[0];
  EXPECT_EQ(array.shape, Shape({2, 3, 4}));
  std::vector<int32_t> expected(24);
  for (int i = 0; i < 24; ++i)
    expected[i] = i;
  EXPECT_EQ(values<int32_t>(array), expected);
}

// Tests that bf16, metadata and entries out of order are read.
TEST(Arrays, ReadsSafetensors) {
  std::vector<Array> arrays = readArrays(input("two.safetensors"));
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays[0].name, "first");
  EXPECT_EQ(values<int64_t>(arrays[0]), std::vector<int64_t>{7});
  EXPECT_EQ(arrays[1].dtype, CLEAVE_BF16);
  std::vector<BFloat16> bits = values<BFloat16>(arrays[1]);
  ASSERT_EQ(bits.size(), 6u);
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(static_cast<float>(bits[i]), Half[i]);
}

// Tests that raw and typed tensors of ONNX give the same values.
TEST(Arrays, ReadsOnnxTensors) {
  for (const char *file : {"raw.pb", "floats.pb"}) {
    Array array = readArrays(input(file))[0];
    EXPECT_EQ(array.name, "half");
    EXPECT_EQ(array.shape, Shape({2, 3}));
    EXPECT_EQ(values<float>(array), Half);
  }
  std::vector<Float16> halfs =
      values<Float16>(readArrays(input("halfs.pb"))[0]);
  ASSERT_EQ(halfs.size(), 6u);
  EXPECT_EQ(static_cast<float>(halfs[5]), 2.5f);
  EXPECT_EQ(values<int64_t>(readArrays(input("ints.pb"))[0]), Ids);
  EXPECT_EQ(values<int8_t>(readArrays(input("bytes.pb"))[0]),
            std::vector<int8_t>({-1, 5}));
  EXPECT_EQ(values<double>(readArrays(input("doubles.pb"))[0]),
            std::vector<double>{-1.5});
}

// Tests that mapped arrays are those that are read, and that data stay in the
// file where it holds them as they are.
TEST(Arrays, MapsWhatItReads) {
  const std::pair<const char *, bool> files[] = {
      {"stored.npz", true},      {"wide.npz", true},
      {"two.safetensors", true}, {"deflated.npz", false},
      {"fortran.npy", false},    {"raw.pb", false}};
  for (auto [file, isMapped] : files) {
    std::vector<Array> expected = readArrays(input(file));
    std::vector<ArrayView> found = mapArrays(input(file));
    ASSERT_EQ(found.size(), expected.size()) << file;
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].name, expected[i].name);
      EXPECT_EQ(found[i].dtype, expected[i].dtype);
      EXPECT_EQ(found[i].shape, expected[i].shape);
      EXPECT_EQ(found[i].isMapped, isMapped) << file;
      EXPECT_TRUE(std::ranges::equal(found[i].data, expected[i].data)) << file;
    }
  }
}

// Tests that an archive whose directory was overwritten is refused, not read
// beyond its end.
TEST(Arrays, RefusesDamagedDirectories) {
  std::ifstream stream(input("stored.npz"), std::ios::binary);
  std::string image(std::istreambuf_iterator<char>(stream), {});
  std::string file = testing::TempDir() + "damaged.npz";
  size_t directory = image.find("PK\1\2");
  ASSERT_NE(directory, image.npos);
  image.replace(directory + 42, 4, "\x01\x02\x03\x04"); // a member's offset
  std::ofstream(file, std::ios::binary) << image;
  std::string message = failureOf([&] { mapArrays(file); });
  EXPECT_NE(message.find(file), std::string::npos) << message;
}

// Tests that what is written is read back, in each format.
TEST(Arrays, WritesWhatItReads) {
  std::vector<Array> arrays = readArrays(input("stored.npz"));
  for (const char *name : {"again.npz", "again.safetensors"}) {
    std::string file = testing::TempDir() + name;
    writeArrays(file, arrays);
    expectNumpyArrays(readArrays(file));
  }
  std::string file = testing::TempDir() + "again.npy";
  writeArrays(file, std::span(arrays).first(1));
  EXPECT_EQ(values<float>(readArrays(file)[0]), Half);
}

// Tests that written safetensors data begins at a multiple of 64 bytes.
TEST(Arrays, AlignsSafetensors) {
  std::string file = testing::TempDir() + "aligned.safetensors";
  writeArrays(file, readArrays(input("stored.npz")));
  EXPECT_EQ(readSafetensorsTable(file)[0].offset % 64, 0);
}

// Tests that equal arrays give equal files.
TEST(Arrays, WritesTheSameBytes) {
  std::vector<Array> arrays = readArrays(input("stored.npz"));
  std::string images[2];
  for (std::string &image : images) {
    std::string file = testing::TempDir() + "same.npz";
    writeArrays(file, arrays);
    std::ifstream stream(file, std::ios::binary);
    image.assign(std::istreambuf_iterator<char>(stream), {});
  }
  EXPECT_EQ(images[0], images[1]);
}

// Tests that each error names the file, and the array where there is one.
TEST(Arrays, ErrorsAreLocated) {
  auto reading = [](const std::string &file) {
    return failureOf([&] { readArrays(file); });
  };
  EXPECT_EQ(reading("/nowhere/x.npz"),
            "cannot open '/nowhere/x.npz': No such file");
  EXPECT_EQ(reading(input("make.py")),
            "'" + input("make.py") +
                "' is of no known kind, expected .npz, .npy, .safetensors or "
                ".pb");
  EXPECT_EQ(reading(input("big-endian.npy")),
            "'" + input("big-endian.npy") +
                "': element type '>f4' is not supported");
  EXPECT_EQ(reading(input("cut-off.npy")),
            "'" + input("cut-off.npy") +
                "': holds 72 bytes of data, expected 400");
  EXPECT_EQ(reading(input("external.pb")),
            "'" + input("external.pb") +
                "': tensor 'half' has its data in another file");
}

// Tests that a failed write leaves nothing, and says what would work.
TEST(Arrays, RefusesWhatFormatsCannotHold) {
  std::vector<Array> arrays = readArrays(input("two.safetensors"));
  std::string file = testing::TempDir() + "bf16.npz";
  std::string message = failureOf([&] { writeArrays(file, arrays); });
  EXPECT_NE(message.find("array 'w' is bf16"), std::string::npos) << message;
  EXPECT_FALSE(std::ifstream(file).good());
  std::vector<std::pair<std::string, CleaveDtype>> two = {{"a", CLEAVE_F32},
                                                          {"b", CLEAVE_F32}};
  EXPECT_EQ(failureOf([&] { verifyHolds("y.npy", two); }),
            "'y.npy' can hold one array, but there are 2; use .npz or "
            ".safetensors");
  verifyHolds("y.npz", two);
  EXPECT_EQ(failureOf([] { verifyWritableKind("out.pb"); }),
            "cannot write 'out.pb': expected a name in .npz, .npy or "
            ".safetensors");
}

// Tests that folders are no arrays, and that places where nothing can be
// written are told from others.
TEST(Arrays, RefusesFolders) {
  std::string folder = testing::TempDir() + "folder.npz";
  std::filesystem::create_directories(folder);
  EXPECT_EQ(failureOf([&] { readArrays(folder); }),
            "cannot read '" + folder + "': it is a folder");
  EXPECT_EQ(failureOf([&] { verifyWritablePlace(folder); }),
            "cannot write '" + folder + "': it is a folder");
  EXPECT_EQ(failureOf([] { verifyWritablePlace("/nowhere/x.npz"); }),
            "cannot write '/nowhere/x.npz': folder '/nowhere': No such file or "
            "directory");
  EXPECT_EQ(failureOf([] { verifyWritablePlace("/dev/null/x.npz"); }),
            "cannot write '/dev/null/x.npz': folder '/dev/null': Not a "
            "directory");
  verifyWritablePlace("x.npz");
}
