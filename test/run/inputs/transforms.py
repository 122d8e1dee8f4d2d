"""Runs Fourier transforms, interpolation and unpooling on several plans, against ONNX Runtime.

transforms.py WORK
"""

import sys

import numpy as np
from against_ort import check

HEAD = '<ir_version: 9, opset_import: ["" : 20]>\n'

SPECTRUM = HEAD + """
main (float[4,6,10,2] x) => (float[4,6,10,2] whole, float[4,8,10,2] back, float[4,6,6,2] half)
<int64 first = {1}, int64 second = {2}, int64 length = {8}, int64[1] zero = {0}, int64[1] one = {1}, int64[1] last = {3}>
{
  whole = DFT(x, , second)
  back = DFT <inverse = 1> (x, length, first)
  real = Slice(x, zero, one, last)
  half = DFT <onesided = 1> (real, , second)
}
"""

FRAMES = HEAD + """
main (float[4,16,1] x) => (float[4,6,4,2] y)
<int64 step = {2}, float[6] window = {0.1,0.5,1,1,0.5,0.1}, int64 length = {6}>
{
  y = STFT(x, step, window, length)
}
"""

UNPOOL = HEAD + """
main (float[4,2,3,3] peaks, int64[4,2,3,3] at) => (float[4,2,6,6] spread)
{
  spread = MaxUnpool <kernel_shape = [2,2], strides = [2,2]> (peaks, at)
}
"""

RESIZE = HEAD + """
main (float[4,2,8,6] x) => (float[4,2,5,9] small, float[4,2,12,9] cubic, float[4,2,3,5] crop)
<int64[2] sizes = {5,9}, float[2] scales = {1.5,1.5}, int64[2] part = {3,5}, float[4] roi = {0.2,-0.2,0.7,1.1}>
{
  small = Resize <mode = "linear", antialias = 1, axes = [2,3]> (x, , , sizes)
  cubic = Resize <mode = "cubic", exclude_outside = 1, axes = [2,3]> (x, , scales)
  crop = Resize <mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize", extrapolation_value = 7.0,
                 axes = [2,3]> (x, roi, , part)
}
"""


def main(work):
    random = np.random.default_rng(0)
    normal = lambda *shape: random.standard_normal(shape, np.float32)  # noqa: E731
    check("spectrum", SPECTRUM, {"x": normal(4, 6, 10, 2)}, work, 1e-5)
    check("frames", FRAMES, {"x": normal(4, 16, 1)}, work, 1e-5)
    check("resize", RESIZE, {"x": normal(4, 2, 8, 6)}, work, 1e-5)
    places = random.permutation(4 * 2 * 6 * 6)[: 4 * 2 * 3 * 3].reshape(4, 2, 3, 3)
    check("unpool", UNPOOL, {"peaks": normal(4, 2, 3, 3), "at": places}, work, 1e-6)


main(sys.argv[1])
