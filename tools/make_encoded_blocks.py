#!/usr/bin/env python3
"""Makes tests/goldens/blocks/encoded.safetensors: values and what ggml's encoders make of them.

Usage: make_encoded_blocks.py LIBGGML_BASE.so OUT   (needs numpy and safetensors; the library is llama.cpp's)
"""
import ctypes
import sys

import numpy as np
from safetensors.numpy import save_file

TYPES = {"Q4_0": (2, 32, 18), "Q4_1": (3, 32, 20), "Q5_0": (6, 32, 22), "Q5_1": (7, 32, 24), "Q8_0": (8, 32, 34),
         "Q4_K": (12, 256, 144), "Q5_K": (13, 256, 176), "Q6_K": (14, 256, 210), "MXFP4": (39, 32, 17)}


def values():
    random = np.random.default_rng(7)
    normal = random.standard_normal((8, 512))
    rows = [
        normal[:4] * 0.03,                                                  # what weights look like
        random.standard_t(3, (2, 512)) * 0.02,                              # heavy tails
        np.abs(normal[4:5]), -np.abs(normal[5:6]),                          # one sign only
        np.zeros((1, 512)), np.full((1, 512), 0.7), np.full((1, 512), -0.7),
        normal[6:7] * 1e-6, normal[7:8] * 1e3,
        np.where(np.arange(512) % 97 == 0, 5.0, 0.01 * normal[:1]),         # outliers
        np.where(np.arange(512) < 300, 0.0, normal[1:2]),                   # groups of zeros beside others
        np.round(normal[2:3] * 4) / 8,                                      # ties
    ]
    return np.concatenate(rows).astype(np.float32)


def main(library, out):
    ggml = ctypes.CDLL(library)
    ggml.ggml_quantize_chunk.restype = ctypes.c_size_t
    x = np.ascontiguousarray(values())
    tensors = {"x": x}
    for name, (number, elems, size) in TYPES.items():
        raw = np.zeros((x.shape[0], x.shape[1] // elems * size), np.uint8)
        written = ggml.ggml_quantize_chunk(
            ctypes.c_int(number), x.ctypes.data_as(ctypes.c_void_p), raw.ctypes.data_as(ctypes.c_void_p),
            ctypes.c_int64(0), ctypes.c_int64(x.shape[0]), ctypes.c_int64(x.shape[1]), None)
        assert written == raw.nbytes, (name, written, raw.nbytes)
        tensors[name] = raw
    save_file(tensors, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
