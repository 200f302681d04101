// Philox 4x32-10 (Salmon et al., SC 2011): a counter-based generator, so that every random number
// is a pure function of its place. 32-bit words are kept in 64-bit lanes, where a product is exact.
#pragma once
#include "simd.h"

namespace hyperhop::HH_ISA {

struct Philox4 {
  U64 word[4];
};

HH_INLINE U64 low_word(U64 x) {
  return x & (U64{} + 0xffffffffu);
}

HH_INLINE Philox4 philox(Philox4 counter, uint32_t key0, uint32_t key1) {
  constexpr uint64_t kMultiplier0 = 0xD2511F53u, kMultiplier1 = 0xCD9E8D57u;
  constexpr uint32_t kWeyl0 = 0x9E3779B9u, kWeyl1 = 0xBB67AE85u;
  for (int round = 0; round < 10; ++round) {
    const U64 product0 = counter.word[0] * kMultiplier0;
    const U64 product1 = counter.word[2] * kMultiplier1;
    counter = {{(product1 >> 32) ^ counter.word[1] ^ uint64_t(key0), low_word(product1),
                (product0 >> 32) ^ counter.word[3] ^ uint64_t(key1), low_word(product0)}};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return counter;
}

}  // namespace hyperhop::HH_ISA
