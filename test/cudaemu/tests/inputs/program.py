"""program.py - a CUDA program: loads the libraries by their names, runs kernels.

Its argument is the kernel of inputs/kernels.ptx to run, on 32 floats.
"""

import ctypes
import os
import sys

for name in ["libcublasLt.so.13", "libcudnn.so.9", "libnccl.so.2"]:
    ctypes.CDLL(name)
cuda = ctypes.CDLL("libcuda.so.1")


def check(status):
    if status:
        name = ctypes.c_char_p()
        cuda.cuGetErrorName(status, ctypes.byref(name))
        print("error", name.value.decode())
        sys.exit(1)


def entry(name):
    """Finds an entry point as a runtime library does."""
    found = ctypes.c_void_p()
    check(cuda.cuGetProcAddress_v2(name.encode(), ctypes.byref(found), 13000, ctypes.c_uint64(0), None))
    return ctypes.CFUNCTYPE(ctypes.c_int)(found.value)


check(cuda.cuInit(0))
context, module, kernel = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(cuda.cuCtxSetCurrent(context))
with open(os.path.join(os.path.dirname(__file__), "kernels.ptx"), "rb") as ptx:
    check(cuda.cuModuleLoadData(ctypes.byref(module), ptx.read()))
check(cuda.cuModuleGetFunction(ctypes.byref(kernel), module, sys.argv[1].encode()))
values = (ctypes.c_float * 32)(*range(32))
memory = ctypes.c_uint64()
check(cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(128)))
check(cuda.cuMemcpyHtoD_v2(memory, values, ctypes.c_size_t(128)))
arguments = (ctypes.c_void_p * 1)(ctypes.addressof(memory))
check(cuda.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, arguments, None))
check(entry("cuCtxSynchronize")())
check(cuda.cuMemcpyDtoH_v2(values, memory, ctypes.c_size_t(128)))
print("sum", sum(values))
