// The arithmetic kernel, included once for each instruction set inside its target region. Needs: V, width, load,
// bit_xor, fold.
//
// Twelve sums (`chains`) that do not depend on each other, each the sum of products of two operands that stay in
// registers: no memory, nothing but the multipliers. They are named one by one, since of an array GCC keeps a copy in
// memory.
template <class Products>  // Products::add(sum, a, b): sum + products of a and b
inline void multiply(V& sum, V& a, V& b) {
  asm volatile("" : "+v"(a), "+v"(b));  // hides the operands, or the compiler would make their product once for all
  sum = Products::add(sum, a, b);
}

template <class Products> inline double multiply_chains(std::int64_t iterations, const std::byte* random) {
  V a = load(random), b = load(random + 128);
  V s0 = a, s1 = b, s2 = a, s3 = b, s4 = a, s5 = b, s6 = a, s7 = b, s8 = a, s9 = b, s10 = a, s11 = b;
  for (std::int64_t i = 0; i < iterations; ++i) {
    multiply<Products>(s0, a, b), multiply<Products>(s1, a, b), multiply<Products>(s2, a, b);
    multiply<Products>(s3, a, b), multiply<Products>(s4, a, b), multiply<Products>(s5, a, b);
    multiply<Products>(s6, a, b), multiply<Products>(s7, a, b), multiply<Products>(s8, a, b);
    multiply<Products>(s9, a, b), multiply<Products>(s10, a, b), multiply<Products>(s11, a, b);
  }
  V all = s0;
  all = bit_xor(all, bit_xor(bit_xor(bit_xor(s1, s2), bit_xor(s3, s4)), bit_xor(bit_xor(s5, s6), bit_xor(s7, s8))));
  all = bit_xor(all, bit_xor(s9, bit_xor(s10, s11)));
  return double(fold(all));
}
