// log and sin/cos from + - * / alone, so that their bits are the same on every ISA and device. They
// serve random sampling: arguments lie in (0, 1), absolute error below 1e-12.
#pragma once
#include "simd.h"

namespace hyperhop::HH_ISA {

// (word + 1/2) / 2^32 for a 32-bit word: in (0, 1), exact.
HH_INLINE F64 unit_interval(U64 word) {
  const U64 exponent = U64{} + 0x4330000000000000u;  // 2^52, whose last bits count units
  const F64 value = bit_cast<F64>(word | exponent) - 4503599627370496.0;
  return (value + 0.5) * 0x1p-32;
}

// Natural logarithm for x in (0, 1): x = 2^e f with f in [sqrt(1/2), sqrt 2), log f by the atanh
// series in s = (f - 1) / (f + 1), |s| < 0.172.
HH_INLINE F64 portable_log(F64 x) {
  const U64 bits = bit_cast<U64>(x);
  const U64 shifted = bits - (U64{} + 0x3fe6a09e667f3bcdu);  // bits of sqrt(1/2)
  const I64 exponent = bit_cast<I64>(shifted) >> 52;
  const F64 f = bit_cast<F64>(bits - (bit_cast<U64>(exponent) << 52));
  const F64 s = (f - 1.0) / (f + 1.0), z = s * s;
  F64 series = F64{} + 1.0 / 17;
  series = series * z + 1.0 / 15;
  series = series * z + 1.0 / 13;
  series = series * z + 1.0 / 11;
  series = series * z + 1.0 / 9;
  series = series * z + 1.0 / 7;
  series = series * z + 1.0 / 5;
  series = series * z + 1.0 / 3;
  series = series * z + 1.0;
  // The exponent becomes a double by the same trick as above, around 2^52 + 2^51.
  const I64 magic = I64{} + 0x4338000000000000;
  const F64 e = bit_cast<F64>(magic + exponent) - 6755399441055744.0;
  return e * 0.69314718055994530942 + 2.0 * s * series;
}

struct SinCos {
  F64 sin, cos;
};

// sin and cos of 2 pi t for t in (0, 1).
HH_INLINE SinCos portable_sincos_turn(F64 t) {
  const F64 quarters = t * 4.0;
  const F64 rounded = quarters + 6755399441055744.0;  // nearest integer, in the last bits
  const U64 quadrant = bit_cast<U64>(rounded) & (U64{} + 3u);
  const F64 x = (quarters - (rounded - 6755399441055744.0)) * 1.57079632679489661923;
  const F64 z = x * x;  // |x| <= pi / 4
  F64 s = F64{} + 1.0 / 6227020800.0;
  s = s * z - 1.0 / 39916800.0;
  s = s * z + 1.0 / 362880.0;
  s = s * z - 1.0 / 5040.0;
  s = s * z + 1.0 / 120.0;
  s = s * z - 1.0 / 6.0;
  s = (s * z + 1.0) * x;
  F64 c = F64{} - 1.0 / 87178291200.0;
  c = c * z + 1.0 / 479001600.0;
  c = c * z - 1.0 / 3628800.0;
  c = c * z + 1.0 / 40320.0;
  c = c * z - 1.0 / 720.0;
  c = c * z + 1.0 / 24.0;
  c = c * z - 0.5;
  c = c * z + 1.0;
  const U64 one = U64{} + 1u;
  const U64 odd = U64{} - (quadrant & one);  // all bits set where sin and cos change places
  const U64 sin_sign = (quadrant >> 1) << 63;
  const U64 cos_sign = ((quadrant + one) >> 1) << 63;
  return {bit_cast<F64>(bit_cast<U64>(select(odd, c, s)) ^ sin_sign),
          bit_cast<F64>(bit_cast<U64>(select(odd, s, c)) ^ cos_sign)};
}

}  // namespace hyperhop::HH_ISA
