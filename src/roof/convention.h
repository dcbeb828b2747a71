// Which FLOPs count. A multiply and an add are two. Causal attention counts the (query, key) pairs that the mask lets
// through, half of the square, for masked pairs need not be computed; recomputation, padding, quantization and
// dequantization do not count as the model's FLOPs. Memory traffic counts each weight and each cached key and value
// once a step, each activation once a reader and once a writer.
#pragma once

namespace ridge::roof {

// What part of its bound the kernels of a good implementation reach, and how far measurements spread: the estimate's
// factors. A first guess from CPUs (docs/results); the bound does not know them.
struct Efficiency {
  double memory = 0.85, cache = 0.5, compute = 0.6;
  double low = 0.8, high = 1.6;  // of the estimate
};

}  // namespace ridge::roof
