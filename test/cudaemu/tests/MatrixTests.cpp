//===- MatrixTests.cpp - tensor cores and asynchronous copies -------------===//

#include "tests/Device.h"

#include <cmath>

namespace {
class Matrices : public DeviceTest {
protected:
  /// D = A B + C for fragments of one warp, of `shape` with operands of `type`:
  /// lane l loads the words of its fragments from rows of 32 at x, stores D.
  cuda::FunctionHandle product(const std::string &shape,
                               const std::string &type, int b) {
    auto list = [](char name, int count) {
      std::string made = "{";
      for (int k = 0; k < count; ++k)
        made += (k ? ", %" : "%") + std::string(1, name) + std::to_string(k);
      return made + "}";
    };
    std::string text = R"(
.visible .entry k(.param .u64 x, .param .u64 y) {
  .reg .b32 %a<8>, %b<4>, %r<3>; .reg .f32 %c<4>, %d<4>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %laneid;
  mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
)";
    int word = 0;
    for (auto [name, count] :
         {std::pair{'a', 2 * b}, std::pair{'b', b}, std::pair{'c', 4}})
      for (int k = 0; k < count; ++k)
        text += std::string("ld.global.b32 %") + name + std::to_string(k) +
                ", [%rd4+" + std::to_string(128 * word++) + "];\n";
    text += "mma.sync.aligned." + shape + ".row.col.f32." + type + "." + type +
            ".f32 " + list('d', 4) + ", " + list('a', 2 * b) + ", " +
            list('b', b) + ", " + list('c', 4) + ";\n";
    for (int k = 0; k < 4; ++k)
      text += "st.global.f32 [%rd5+" + std::to_string(128 * k) + "], %d" +
              std::to_string(k) + ";\n";
    return kernel(text + "ret; }");
  }
};
uint32_t bits(float value) {
  uint32_t made;
  memcpy(&made, &value, 4);
  return made;
}
int valueA(int row, int k) { return (row * 5 + k * 3) % 7 - 3; }
int valueB(int k, int col) { return (k * 2 + col * 3) % 5 - 2; }
int valueC(int row, int col) { return row * 8 + col; }
/// Small integers in each type.
uint32_t encode(const std::string &type, int value) {
  if (type == "f16") {
    static const uint16_t table[] = {0xc200, 0xc000, 0xbc00, 0,
                                     0x3c00, 0x4000, 0x4200};
    return table[value + 3];
  }
  uint32_t full = bits(static_cast<float>(value));
  return type == "bf16" ? full >> 16 : full;
}
} // namespace

// Tests mma.sync against the definition, with the fragments as the PTX manual
// draws them: for 16-bit types two neighbours in k share a register.
TEST_F(Matrices, Products) {
  struct Case {
    const char *shape, *type;
    int depth, registersB;
  };
  for (Case c : {Case{"m16n8k16", "bf16", 16, 2},
                 {"m16n8k16", "f16", 16, 2},
                 {"m16n8k8", "f16", 8, 1},
                 {"m16n8k8", "tf32", 8, 2},
                 {"m16n8k4", "tf32", 4, 1}}) {
    cuda::FunctionHandle f = product(c.shape, c.type, c.registersB);
    bool isWide = std::string(c.type) == "tf32";
    std::vector<uint32_t> words;
    auto word = [&](auto value, int k) { // of the element or pair from k on
      return isWide ? encode(c.type, value(k))
                    : encode(c.type, value(k)) | encode(c.type, value(k + 1))
                                                     << 16;
    };
    int half = c.registersB == 2 ? c.depth / 2 : 0;
    int step = isWide ? 1 : 2;
    for (int r = 0; r < 2 * c.registersB; ++r)
      for (int lane = 0; lane < 32; ++lane)
        words.push_back(
            word([&](int k) { return valueA(lane / 4 + (r % 2) * 8, k); },
                 lane % 4 * step + r / 2 * half));
    for (int r = 0; r < c.registersB; ++r)
      for (int lane = 0; lane < 32; ++lane)
        words.push_back(word([&](int k) { return valueB(k, lane / 4); },
                             lane % 4 * step + r * half));
    for (int v = 0; v < 4; ++v)
      for (int lane = 0; lane < 32; ++lane)
        words.push_back(bits(static_cast<float>(
            valueC(lane / 4 + v / 2 * 8, lane % 4 * 2 + v % 2))));
    auto x = upload(words), y = upload(std::vector<float>(128, 0));
    ASSERT_EQ(launch(f, 1, 32, x, y), 0);
    std::vector<float> got = download<float>(y, 128);
    for (int v = 0; v < 4; ++v)
      for (int lane = 0; lane < 32; ++lane) {
        int row = lane / 4 + v / 2 * 8, col = lane % 4 * 2 + v % 2;
        int expected = valueC(row, col);
        for (int k = 0; k < c.depth; ++k)
          expected += valueA(row, k) * valueB(k, col);
        EXPECT_EQ(got[32 * v + lane], expected) << c.shape << c.type;
      }
  }
}

// Tests ldmatrix, plain and transposed, on what a cp.async brought.
TEST_F(Matrices, CopyAndLoad) {
  for (bool transposed : {false, true}) {
    cuda::FunctionHandle f = kernel(std::string(R"(
.visible .entry k(.param .u64 x, .param .u64 y) {
  .shared .align 16 .b8 tile[512];
  .reg .b32 %r<9>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 16; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
  mov.u32 %r2, tile; shl.b32 %r3, %r1, 4; add.u32 %r4, %r2, %r3;
  cp.async.cg.shared.global [%r4], [%rd4], 16;
  cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;
  ldmatrix.sync.aligned.m8n8.x4)") + (transposed ? ".trans" : "") +
                                    R"(.shared.b16 {%r5, %r6, %r7, %r8}, [%r4];
  st.global.v4.u32 [%rd5], {%r5, %r6, %r7, %r8};
  ret;
})");
    std::vector<uint16_t> values(256);
    for (int i = 0; i < 256; ++i)
      values[i] = static_cast<uint16_t>(i);
    auto x = upload(values), y = upload(std::vector<uint16_t>(256, 0));
    ASSERT_EQ(launch(f, 1, 32, x, y), 0);
    std::vector<uint16_t> got = download<uint16_t>(y, 256);
    for (int lane = 0; lane < 32; ++lane)
      for (int m = 0; m < 4; ++m)
        for (int e = 0; e < 2; ++e) {
          int row = lane / 4, col = lane % 4 * 2 + e;
          EXPECT_EQ(got[8 * lane + 2 * m + e],
                    64 * m + (transposed ? 8 * col + row : 8 * row + col));
        }
  }
}

// Tests that a copy is not there before it is waited for, that groups complete
// in order, and that what is beyond the size of the source is zero.
TEST_F(Matrices, CopyGroups) {
  cuda::FunctionHandle f = kernel(R"(
.visible .entry k(.param .u64 x, .param .u64 y) {
  .shared .align 16 .b8 tile[48];
  .reg .b32 %r<9>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
  mov.u32 %r1, tile; mov.u32 %r2, 7; mov.u32 %r3, 4;
  st.shared.u32 [%r1], %r2; st.shared.u32 [%r1+16], %r2;
  cp.async.ca.shared.global [%r1], [%rd1], 4; cp.async.commit_group;
  cp.async.ca.shared.global [%r1+16], [%rd1+8], 8, %r3; cp.async.commit_group;
  cp.async.wait_group 1;
  ld.shared.u32 %r4, [%r1]; ld.shared.u32 %r5, [%r1+16];
  cp.async.wait_all;
  ld.shared.u32 %r6, [%r1+16]; ld.shared.u32 %r7, [%r1+20];
  st.global.v4.u32 [%rd2], {%r4, %r5, %r6, %r7};
  ret;
})");
  auto x = upload(std::vector<int>{1, 2, 3, 4});
  auto y = upload(std::vector<int>(4, -1));
  ASSERT_EQ(launch(f, 1, 1, x, y), 0);
  EXPECT_EQ(download<int>(y, 4), (std::vector<int>{1, 7, 3, 0}));
}
