//===- ConvolutionTests.cpp - convolutions against plain loops ------------===//

#include "abi/Cudnn.h"
#include "tests/Device.h"

#include <bit>

using namespace cudnn;

namespace {
struct Image {
  int n, c, h, w, format;
  Tensor *layout = nullptr;
  std::vector<float> values;
  cuda::DevicePtr at = 0;

  Image(int n, int c, int h, int w, int format)
      : n(n), c(c), h(h), w(w), format(format), values(n * c * h * w) {
    EXPECT_EQ(cudnnCreateTensorDescriptor(&layout), 0);
    EXPECT_EQ(cudnnSetTensor4dDescriptor(layout, format, Float, n, c, h, w), 0);
  }
  ~Image() { EXPECT_EQ(cudnnDestroyTensorDescriptor(layout), 0); }
  float &operator()(int in, int ic, int ih, int iw) {
    return values[format == Nchw ? ((in * c + ic) * h + ih) * w + iw
                                 : ((in * h + ih) * w + iw) * c + ic];
  }
};

class Convolutions : public DeviceTest {
protected:
  void SetUp() override {
    DeviceTest::SetUp();
    ASSERT_EQ(cudnnCreate(&handle), 0);
    ASSERT_EQ(cudnnCreateConvolutionDescriptor(&convolution), 0);
    ASSERT_EQ(cuMemAlloc_v2(&workspace, 1 << 16), 0);
    set(groups);
  }
  void TearDown() override {
    EXPECT_EQ(cudnnDestroyConvolutionDescriptor(convolution), 0);
    EXPECT_EQ(cudnnDestroy(handle), 0);
    DeviceTest::TearDown();
  }
  void set(int count) {
    groups = count;
    ASSERT_EQ(cudnnSetConvolution2dDescriptor(convolution, 1, 2, 2, 1, 1, 2,
                                              CrossCorrelate, Float),
              0);
    ASSERT_EQ(cudnnSetConvolutionGroupCount(convolution, groups), 0);
    ASSERT_EQ(cudnnSetConvolutionMathType(convolution, FmaMath), 0);
  }
  void fill(Image &m, int seed) {
    for (size_t i = 0; i < m.values.size(); ++i)
      m.values[i] = static_cast<float>((i * 7 + seed * 13) % 11) - 5;
    m.at = upload(m.values);
  }
  void fetch(Image &m) { m.values = download<float>(m.at, m.values.size()); }
  static void *pointer(cuda::DevicePtr p) { return std::bit_cast<void *>(p); }
  /// Calls f(x place, w place, y place) for all that meet.
  template <class F> void forAll(Image &x, Image &w, Image &y, F f) {
    for (int n = 0; n < y.n; ++n)
      for (int k = 0; k < y.c; ++k)
        for (int oh = 0; oh < y.h; ++oh)
          for (int ow = 0; ow < y.w; ++ow)
            for (int c = 0; c < w.c; ++c)
              for (int fh = 0; fh < w.h; ++fh)
                for (int fw = 0; fw < w.w; ++fw) {
                  int ih = oh * 2 - 1 + fh, iw = ow - 2 + fw * 2;
                  int channel = k / (y.c / groups) * w.c + c;
                  if (ih >= 0 && ih < x.h && iw >= 0 && iw < x.w)
                    f(x(n, channel, ih, iw), w(k, c, fh, fw), y(n, k, oh, ow));
                }
  }
  Handle *handle = nullptr;
  ConvolutionDescriptor *convolution = nullptr;
  cuda::DevicePtr workspace = 0;
  int groups = 1;
};
constexpr float one = 1, two = 2, three = 3, zero = 0;
} // namespace

// Tests forward and both gradients, in groups and in both orders of memory.
TEST_F(Convolutions, ForwardAndBackward) {
  for (int format : {Nchw, Nhwc})
    for (int count : {1, 2}) {
      set(count);
      Image x(2, 4, 7, 6, format), w(6, 4 / count, 3, 2, format);
      Image y(2, 6, 4, 8, format);
      fill(x, 1);
      fill(w, 2);
      fill(y, 3);
      Image expected(2, 6, 4, 8, format);
      for (size_t i = 0; i < y.values.size(); ++i)
        expected.values[i] = 3 * y.values[i];
      forAll(x, w, expected, [](float in, float weight, float &out) {
        out += 2 * in * weight;
      });
      AlgorithmPerformance found[2];
      int returned = 0;
      ASSERT_EQ(cudnnGetConvolutionForwardAlgorithm_v7(
                    handle, x.layout, w.layout, convolution, y.layout, 2,
                    &returned, found),
                0);
      ASSERT_EQ(returned, 2);
      ASSERT_EQ(cudnnConvolutionForward(handle, &two, x.layout, pointer(x.at),
                                        w.layout, pointer(w.at), convolution,
                                        found[0].algorithm, pointer(workspace),
                                        found[0].memory, &three, y.layout,
                                        pointer(y.at)),
                0);
      fetch(y);
      EXPECT_EQ(y.values, expected.values);

      Image dx(2, 4, 7, 6, format), dw(6, 4 / count, 3, 2, format);
      Image sumX(2, 4, 7, 6, format), sumW(6, 4 / count, 3, 2, format);
      fill(dx, 4);
      fill(dw, 5);
      forAll(sumX, w, y,
             [](float &in, float weight, float out) { in += weight * out; });
      forAll(x, sumW, y,
             [](float in, float &weight, float out) { weight += in * out; });
      ASSERT_EQ(cudnnConvolutionBackwardData(
                    handle, &one, w.layout, pointer(w.at), y.layout,
                    pointer(y.at), convolution, Algorithm0, nullptr, 0, &zero,
                    dx.layout, pointer(dx.at)),
                0);
      ASSERT_EQ(cudnnConvolutionBackwardFilter(
                    handle, &one, x.layout, pointer(x.at), y.layout,
                    pointer(y.at), convolution, Algorithm0, nullptr, 0, &zero,
                    dw.layout, pointer(dw.at)),
                0);
      fetch(dx);
      fetch(dw);
      EXPECT_EQ(dx.values, sumX.values);
      EXPECT_EQ(dw.values, sumW.values);
    }
}

// Tests what follows a fused one: relu(conv + 2 z + bias).
TEST_F(Convolutions, BiasAndActivation) {
  Image x(1, 2, 5, 5, Nchw), w(3, 2, 3, 2, Nchw), y(1, 3, 3, 7, Nchw);
  Image z(1, 3, 3, 7, Nchw), bias(1, 3, 1, 1, Nchw);
  for (Image *image : {&x, &w, &y, &z, &bias})
    fill(*image, image->h);
  Image expected(1, 3, 3, 7, Nchw);
  forAll(x, w, expected,
         [](float in, float weight, float &out) { out += in * weight; });
  ActivationDescriptor *relu;
  ASSERT_EQ(cudnnCreateActivationDescriptor(&relu), 0);
  ASSERT_EQ(cudnnSetActivationDescriptor(relu, Relu, 0, 0), 0);
  ASSERT_EQ(cudnnConvolutionBiasActivationForward(
                handle, &one, x.layout, pointer(x.at), w.layout, pointer(w.at),
                convolution, ImplicitGemm, nullptr, 0, &two, z.layout,
                pointer(z.at), bias.layout, pointer(bias.at), relu, y.layout,
                pointer(y.at)),
            0);
  fetch(y);
  for (size_t i = 0; i < y.values.size(); ++i)
    EXPECT_EQ(y.values[i], std::max(0.0f, expected.values[i] + 2 * z.values[i] +
                                              bias.values[i / 21]));
  EXPECT_EQ(cudnnDestroyActivationDescriptor(relu), 0);
}

// Tests that tf32 is used unless it is forbidden.
TEST_F(Convolutions, MathType) {
  Image x(1, 1, 1, 1, Nchw), w(1, 1, 1, 1, Nchw), y(1, 1, 1, 1, Nchw);
  x.at = upload(std::vector<float>{1 + 0x1p-12f});
  w.at = upload(std::vector<float>{1});
  y.at = upload(std::vector<float>{0});
  ASSERT_EQ(cudnnSetConvolution2dDescriptor(convolution, 0, 0, 1, 1, 1, 1,
                                            CrossCorrelate, Float),
            0);
  for (int math : {FmaMath, DefaultMath}) {
    ASSERT_EQ(cudnnSetConvolutionMathType(convolution, math), 0);
    ASSERT_EQ(cudnnConvolutionForward(handle, &one, x.layout, pointer(x.at),
                                      w.layout, pointer(w.at), convolution,
                                      ImplicitGemm, nullptr, 0, &zero, y.layout,
                                      pointer(y.at)),
              0);
    EXPECT_EQ(download<float>(y.at, 1)[0],
              math == FmaMath ? 1 + 0x1p-12f : 1.0f);
  }
}

TEST_F(Convolutions, Refuses) {
  Image x(1, 2, 5, 5, Nchw), w(3, 2, 3, 2, Nchw), y(1, 3, 3, 8, Nchw);
  int returned;
  AlgorithmPerformance found;
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudnnGetConvolutionForwardAlgorithm_v7(handle, x.layout, w.layout,
                                                   convolution, y.layout, 1,
                                                   &returned, &found),
            BadParam);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "cudaemu: cuDNN convolution: y has 8 in dimension 3, expected 7\n");
}
