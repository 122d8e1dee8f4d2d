//===- ArithmeticTests.cpp - instructions against arithmetic --------------===//

#include "tests/Device.h"

#include <cmath>
#include <cstring>

namespace {
/// Runs `code`, which takes %a0, %a1, ... of 64 bits and leaves %d of 64 bits,
/// on one thread.
class Arithmetic : public DeviceTest {
protected:
  /// `text` with the number in the place of each #.
  static std::string numbered(const std::string &text, size_t number) {
    std::string made;
    for (char c : text)
      made += c == '#' ? std::to_string(number) : std::string(1, c);
    return made;
  }
  uint64_t run(const std::string &code, std::vector<uint64_t> args) {
    std::string text = ".visible .entry k(.param .u64 out";
    for (size_t i = 0; i < args.size(); ++i)
      text += numbered(", .param .u64 p#", i);
    text += ") {\n.reg .b64 %a<4>, %d, %out; .reg .b32 %r<8>; .reg .b16 %h<8>;"
            " .reg .f32 %f<8>; .reg .f64 %g<8>; .reg .b64 %q<8>; .reg .pred "
            "%p<8>;\nmov.u64 %d, 0; ld.param.u64 %out, [out];\n";
    for (size_t i = 0; i < args.size(); ++i)
      text += numbered("ld.param.u64 %a#, [p#]; cvt.u32.u64 %r#, %a#;"
                       "cvt.u16.u64 %h#, %a#; mov.b32 %f#, %r#;"
                       "mov.b64 %g#, %a#;\n",
                       i);
    cuda::FunctionHandle f =
        kernel(text + code + "\nst.global.u64 [%out], %d;\nret;\n}");
    if (!f)
      return ~0ull;
    auto out = upload(std::vector<uint64_t>{0});
    std::vector<void *> params{&out};
    for (uint64_t &arg : args)
      params.push_back(&arg);
    EXPECT_EQ(
        cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, nullptr, params.data(), nullptr),
        0);
    return download<uint64_t>(out, 1)[0];
  }
  /// `op %r7, %r0, %r1, %r2` on 32-bit values.
  uint32_t run32(const std::string &op, const std::vector<uint64_t> &args) {
    std::string code = op + " %r7";
    for (size_t i = 0; i < args.size(); ++i)
      code += ", %r" + std::to_string(i);
    return static_cast<uint32_t>(run(code + "; cvt.u64.u32 %d, %r7;", args));
  }
  static uint64_t bits(float value) {
    uint32_t made;
    std::memcpy(&made, &value, 4);
    return made;
  }
  static float real(uint64_t value) {
    float made;
    std::memcpy(&made, &value, 4);
    return made;
  }
  /// `op %f7, %f0, ...` on floats.
  float runFloat(const std::string &op, const std::vector<float> &args) {
    std::string code = op + " %f7";
    std::vector<uint64_t> words;
    for (size_t i = 0; i < args.size(); ++i) {
      code += ", %f" + std::to_string(i);
      words.push_back(bits(args[i]));
    }
    return real(run(code + "; mov.b32 %r7, %f7; cvt.u64.u32 %d, %r7;", words));
  }
  /// `op %h7, %h0, ...` on 16-bit patterns.
  uint32_t run16(const std::string &op, const std::vector<uint64_t> &args) {
    std::string code = op + " %h7";
    for (size_t i = 0; i < args.size(); ++i)
      code += ", %h" + std::to_string(i);
    return static_cast<uint32_t>(run(code + "; cvt.u64.u16 %d, %h7;", args));
  }
};
constexpr uint32_t minus(uint32_t value) { return -value; }
} // namespace

TEST_F(Arithmetic, Integers) {
  EXPECT_EQ(run32("add.s32", {7, minus(9)}), minus(2));
  EXPECT_EQ(run32("add.sat.s32", {0x7fffffff, 1}), 0x7fffffffu);
  EXPECT_EQ(run32("sub.u32", {3, 5}), minus(2));
  EXPECT_EQ(run32("mul.lo.s32", {minus(7), 6}), minus(42));
  EXPECT_EQ(run32("mul.hi.u32", {0x80000000, 6}), 3u);
  EXPECT_EQ(run32("mul.hi.s32", {minus(1), 6}), minus(1));
  EXPECT_EQ(run32("mad.lo.u32", {5, 6, 7}), 37u);
  EXPECT_EQ(run32("div.s32", {minus(7), 2}), minus(3));
  EXPECT_EQ(run32("div.u32", {7, 0}), ~0u);
  EXPECT_EQ(run32("rem.s32", {minus(7), 2}), minus(1));
  EXPECT_EQ(run32("min.s32", {minus(1), 1}), minus(1));
  EXPECT_EQ(run32("min.u32", {minus(1), 1}), 1u);
  EXPECT_EQ(run32("max.s32", {minus(1), 1}), 1u);
  EXPECT_EQ(run32("abs.s32", {minus(5)}), 5u);
  EXPECT_EQ(run32("neg.s32", {5}), minus(5));
  EXPECT_EQ(run32("sad.s32", {minus(5), 3, 100}), 108u);
  EXPECT_EQ(run32("dp4a.s32.s32", {0x01ff0203, 0x02030405, 10}),
            10u + 3 * 5 + 2 * 4 - 3 + 2);
  EXPECT_EQ(run("mul.wide.s32 %d, %r0, %r1;", {minus(3), 5}), -15ull);
  EXPECT_EQ(run("mad.wide.u32 %d, %r0, %r1, %a2;", {~0u, 2, 3}),
            2 * 0xffffffffull + 3);
  EXPECT_EQ(run("mul.hi.u64 %d, %a0, %a1;", {1ull << 63, 6}), 3u);
  EXPECT_EQ(run("add.cc.u32 %r3, %r0, %r1; addc.u32 %r4, %r2, 0; mov.b64 %d, "
                "{%r3, %r4};",
                {~0u, 2, 7}),
            8ull << 32 | 1);
}

TEST_F(Arithmetic, Bits) {
  EXPECT_EQ(run32("shl.b32", {1, 33}), 0u);
  EXPECT_EQ(run32("shr.s32", {0x80000000, 40}), ~0u);
  EXPECT_EQ(run32("shr.u32", {0x80000000, 31}), 1u);
  EXPECT_EQ(run32("shf.l.wrap.b32", {0x80000000, 1, 4}), 0x18u);
  EXPECT_EQ(run32("shf.r.clamp.b32", {0x10, 0xf, 40}), 0xfu);
  EXPECT_EQ(run32("popc.b32", {0xf0f0}), 8u);
  EXPECT_EQ(run32("clz.b32", {1}), 31u);
  EXPECT_EQ(run32("brev.b32", {1}), 0x80000000u);
  EXPECT_EQ(run32("bfind.u32", {0x100}), 8u);
  EXPECT_EQ(run32("bfind.s32", {minus(1)}), ~0u);
  EXPECT_EQ(run32("bfe.u32", {0xabcd, 4, 8}), 0xbcu);
  EXPECT_EQ(run32("bfe.s32", {0xabcd, 4, 8}), 0xffffffbcu);
  EXPECT_EQ(run32("bfi.b32", {0xff, 0x12345678, 8, 8}), 0x1234ff78u);
  EXPECT_EQ(run32("prmt.b32", {0x33221100, 0x77665544, 0x7520}), 0x77552200u);
  EXPECT_EQ(run("lop3.b32 %r7, %r0, %r1, %r2, 0x96; cvt.u64.u32 %d, %r7;",
                {0xff00ff00, 0xf0f0f0f0, 0xcccccccc}),
            0xff00ff00u ^ 0xf0f0f0f0u ^ 0xccccccccu);
  EXPECT_EQ(run("setp.lt.s32 %p0, %r0, 0; setp.gt.and.s32 %p1|%p2, %r1, 5, %p0;"
                "selp.u64 %d, 1, 0, %p1; @%p2 add.u64 %d, %d, 2;",
                {minus(1), 7}),
            1u);
}

TEST_F(Arithmetic, Floats) {
  EXPECT_EQ(runFloat("add.f32", {1.5f, 2.25f}), 3.75f);
  EXPECT_EQ(runFloat("mul.rn.f32", {1.5f, -2}), -3.0f);
  EXPECT_EQ(runFloat("div.rn.f32", {1, 3}), 1.0f / 3);
  EXPECT_EQ(runFloat("add.rz.f32", {1, 0x1p-24f * 1.5f}), 1.0f);
  EXPECT_EQ(runFloat("add.rp.f32", {1, 0x1p-30f}), 1 + 0x1p-23f);
  EXPECT_EQ(runFloat("add.rm.f32", {1, -0x1p-30f}), 1 - 0x1p-24f);
  EXPECT_EQ(runFloat("fma.rn.f32", {1 + 0x1p-12f, 1 + 0x1p-12f, -1}),
            0x1p-11f + 0x1p-24f);
  EXPECT_EQ(runFloat("mul.ftz.f32", {0x1p-100f, 0x1p-30f}), 0.0f);
  EXPECT_EQ(runFloat("mul.f32", {0x1p-100f, 0x1p-30f}), 0x1p-130f);
  EXPECT_EQ(runFloat("add.sat.f32", {0.75f, 0.75f}), 1.0f);
  EXPECT_EQ(runFloat("min.f32", {NAN, 2}), 2.0f);
  EXPECT_TRUE(std::isnan(runFloat("max.NaN.f32", {NAN, 2})));
  EXPECT_TRUE(std::signbit(runFloat("min.f32", {0.0f, -0.0f})));
  EXPECT_EQ(runFloat("sqrt.rn.f32", {2}), std::sqrt(2.0f));
  EXPECT_EQ(runFloat("rcp.approx.f32", {4}), 0.25f);
  EXPECT_EQ(runFloat("rsqrt.approx.f32", {4}), 0.5f);
  EXPECT_EQ(runFloat("ex2.approx.f32", {-3}), 0.125f);
  EXPECT_EQ(runFloat("lg2.approx.f32", {8}), 3.0f);
  EXPECT_EQ(runFloat("abs.f32", {-8}), 8.0f);
  EXPECT_EQ(runFloat("neg.f32", {-8}), 8.0f);
  EXPECT_NEAR(runFloat("tanh.approx.f32", {0.5f}), std::tanh(0.5f), 1e-6);
  EXPECT_NEAR(runFloat("sin.approx.f32", {1}), std::sin(1.0f), 1e-6);
  EXPECT_NEAR(runFloat("cos.approx.f32", {1}), std::cos(1.0f), 1e-6);
  double third = 1.0 / 3;
  uint64_t word;
  std::memcpy(&word, &third, 8);
  EXPECT_EQ(run("div.rn.f64 %g7, 0d3FF0000000000000, 0d4008000000000000; "
                "mov.b64 %d, %g7;",
                {}),
            word);
}

TEST_F(Arithmetic, HalfPrecision) {
  // 1.5 is 3e00 as f16 and 3fc0 as bf16, 2 is 4000 in both.
  EXPECT_EQ(run16("add.f16", {0x3e00, 0x4000}), 0x4300u);
  EXPECT_EQ(run16("mul.f16", {0x3e00, 0x4000}), 0x4200u);
  EXPECT_EQ(run16("fma.rn.f16", {0x3e00, 0x4000, 0x3c00}), 0x4400u);
  EXPECT_EQ(run16("fma.rn.bf16", {0x3fc0, 0x4000, 0x3f80}), 0x4080u);
  EXPECT_EQ(run16("max.bf16", {0xbfc0, 0x4000}), 0x4000u);
  EXPECT_EQ(run16("neg.bf16", {0x3fc0}), 0xbfc0u);
  EXPECT_EQ(run32("add.f16x2", {0x3e004000, 0x40003c00}), 0x43004200u);
  EXPECT_EQ(run32("fma.rn.bf16x2", {0x3fc04000, 0x40004000, 0x3f800000}),
            0x40804080u);
  // 2^-11 is half a unit of f16 at 1: the tie goes to even.
  EXPECT_EQ(run("cvt.rn.f16.f32 %h7, %f0; cvt.u64.u16 %d, %h7;",
                {bits(1 + 0x1p-11f)}),
            0x3c00u);
  EXPECT_EQ(run("cvt.rz.f16.f32 %h7, %f0; cvt.u64.u16 %d, %h7;",
                {bits(1 + 0x1p-10f + 0x1.8p-11f)}),
            0x3c01u);
  EXPECT_EQ(run("cvt.rn.bf16.f32 %h7, %f0; cvt.u64.u16 %d, %h7;",
                {bits(1 + 0x1.8p-8f)}),
            0x3f81u);
  EXPECT_EQ(run("cvt.rn.bf16x2.f32 %r7, %f0, %f1; cvt.u64.u32 %d, %r7;",
                {bits(1.5f), bits(2)}),
            0x3fc04000u);
  EXPECT_EQ(run("cvt.rn.relu.f16x2.f32 %r7, %f0, %f1; cvt.u64.u32 %d, %r7;",
                {bits(-1.5f), bits(2)}),
            0x00004000u);
  EXPECT_EQ(real(run("cvt.f32.bf16 %f7, %h0; mov.b32 %r7, %f7; cvt.u64.u32 %d, "
                     "%r7;",
                     {0x3fc0})),
            1.5f);
  EXPECT_EQ(run("cvt.rna.tf32.f32 %r7, %f0; cvt.u64.u32 %d, %r7;",
                {bits(1 + 0x1p-11f)}),
            bits(1 + 0x1p-10f));
}

TEST_F(Arithmetic, Conversions) {
  auto toInt = [&](const char *op, float value) {
    return static_cast<int>(run(
        std::string(op) + " %r7, %f0; cvt.u64.u32 %d, %r7;", {bits(value)}));
  };
  EXPECT_EQ(toInt("cvt.rni.s32.f32", 2.5f), 2);
  EXPECT_EQ(toInt("cvt.rzi.s32.f32", -2.7f), -2);
  EXPECT_EQ(toInt("cvt.rmi.s32.f32", -2.1f), -3);
  EXPECT_EQ(toInt("cvt.rpi.s32.f32", 2.1f), 3);
  EXPECT_EQ(toInt("cvt.rzi.s32.f32", 3e9f), 2147483647);
  EXPECT_EQ(toInt("cvt.rzi.s32.f32", NAN), 0);
  EXPECT_EQ(toInt("cvt.rzi.u32.f32", -5), 0);
  EXPECT_EQ(runFloat("cvt.rni.f32.f32", {2.5f}), 2.0f);
  EXPECT_EQ(runFloat("cvt.rpi.f32.f32", {2.1f}), 3.0f);
  EXPECT_EQ(runFloat("cvt.sat.f32.f32", {7}), 1.0f);
  EXPECT_EQ(real(run("cvt.rn.f32.s32 %f7, %r0; mov.b32 %r7, %f7; cvt.u64.u32 "
                     "%d, %r7;",
                     {minus(3)})),
            -3.0f);
  EXPECT_EQ(run("cvt.s64.s32 %d, %r0;", {minus(3)}), -3ull);
  EXPECT_EQ(run("cvt.s32.s8 %r7, %r0; cvt.s64.s32 %d, %r7;", {0x1ff}), ~0ull);
  EXPECT_EQ(run("cvt.u32.u8 %r7, %r0; cvt.u64.u32 %d, %r7;", {0x1ff}), 0xffull);
  EXPECT_EQ(run("cvt.sat.s8.s32 %r7, %r0; cvt.u64.u32 %d, %r7;", {300}),
            127ull);
  EXPECT_EQ(run("cvt.sat.u8.s32 %r7, %r0; cvt.u64.u32 %d, %r7;", {minus(3)}),
            0ull);
}
