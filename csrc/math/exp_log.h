// exp and log of whole vectors, float32 and float64, from + - * / alone: their bits are the same on
// every ISA. Largest errors: exp 2 ulp, log 3 ulp (a subnormal result of exp: 1 spacing). NaN stays
// NaN; exp(-inf) = 0, exp(inf) = inf; log(0) = -inf, log(inf) = inf, log of a negative number =
// NaN.
#pragma once
#include "simd.h"

namespace hyperhop::HH_ISA {

template <class T>
struct FloatFormat;
template <>
struct FloatFormat<float> {
  using Int = int32_t;
  static constexpr int kMantissaBits = 23;
  static constexpr Int kBias = 127;
  static constexpr float kRound = 0x1.8p23f;  // adding it rounds to the nearest integer
  static constexpr float kExpMax = 89.0f, kExpMin = -105.0f;  // beyond: inf, 0
  // ln 2 in two parts, the first short enough that a multiple of it is exact.
  static constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  static constexpr float kMinNormal = 0x1p-126f;
  static constexpr Int kSqrtHalf = 0x3f3504f3;
  static constexpr int kExpTerms = 7, kLogTerms = 4;
};
template <>
struct FloatFormat<double> {
  using Int = int64_t;
  static constexpr int kMantissaBits = 52;
  static constexpr Int kBias = 1023;
  static constexpr double kRound = 0x1.8p52;
  static constexpr double kExpMax = 710.0, kExpMin = -746.0;
  static constexpr double kLn2High = 0x1.62e42fefap-1, kLn2Low = 0x1.cf79abc9e3b3ap-40;
  static constexpr double kMinNormal = 0x1p-1022;
  static constexpr Int kSqrtHalf = 0x3fe6a09e667f3bcd;
  static constexpr int kExpTerms = 13, kLogTerms = 10;
};

// 2^n for n within the exponents of T.
template <class T, class I>
HH_INLINE Vec<T> power_of_two(I n) {
  using F = FloatFormat<T>;
  return bit_cast<Vec<T>>((n + F::kBias) << F::kMantissaBits);
}

// x = n ln 2 + r with |r| <= ln 2 / 2; e^r by its Taylor series.
template <class T>
HH_INLINE Vec<T> exp(Vec<T> x) {
  using F = FloatFormat<T>;
  using I = Vec<typename F::Int>;
  using V = Vec<T>;
  // Written so that a NaN passes.
  x = select(x > F::kExpMax, V{} + F::kExpMax, x);
  x = select(x < F::kExpMin, V{} + F::kExpMin, x);
  const V shifted = x * T(1.44269504088896340736) + F::kRound;
  const V n = shifted - F::kRound;
  const V r = (x - n * F::kLn2High) - n * F::kLn2Low;
  T factor[F::kExpTerms + 1] = {1};
  for (int k = 1; k <= F::kExpTerms; ++k) factor[k] = factor[k - 1] / T(k);
  V series = V{} + factor[F::kExpTerms];
  for (int k = F::kExpTerms - 1; k >= 2; --k) series = series * r + factor[k];
  series = (series * (r * r) + r) + T(1);
  // In two steps: n itself may lie beyond the exponents of T.
  const I whole = bit_cast<I>(shifted) - bit_cast<I>(V{} + F::kRound);
  const I half = whole >> 1;
  return series * power_of_two<T>(half) * power_of_two<T>(whole - half);
}

// x = 2^n f with f in [sqrt(1/2), sqrt 2); log f = 2 atanh(s), s = (f - 1) / (f + 1), by its
// series.
template <class T>
HH_INLINE Vec<T> log(Vec<T> x) {
  using F = FloatFormat<T>;
  using I = Vec<typename F::Int>;
  using V = Vec<T>;
  constexpr T kScale = sizeof(T) == 4 ? T(0x1p24) : T(0x1p54);
  const auto subnormal = x < F::kMinNormal;
  const V scaled = select(subnormal, x * kScale, x);
  const I bits = bit_cast<I>(scaled);
  const I exponent = (bits - F::kSqrtHalf) >> F::kMantissaBits;
  const V f = bit_cast<V>(bits - (exponent << F::kMantissaBits));
  const V s = (f - T(1)) / (f + T(1)), z = s * s;
  V series = V{} + T(1) / T(2 * F::kLogTerms + 1);
  for (int k = F::kLogTerms - 1; k >= 1; --k) series = series * z + T(1) / T(2 * k + 1);
  const V n = __builtin_convertvector(exponent, V) -
              select(subnormal, V{} + T(sizeof(T) == 4 ? 24 : 54), V{});
  // 2 s loses nothing; the series adds the small rest to it.
  const V twice = s + s;
  V result = n * F::kLn2High + (twice + (twice * (z * series) + n * F::kLn2Low));
  const V infinity = V{} + T(__builtin_inf());
  result = select(x == T(0), -infinity, result);
  result = select(x < T(0), V{} + T(__builtin_nan("")), result);
  return select(x < infinity, result, x);  // inf and NaN are their own logarithms
}

}  // namespace hyperhop::HH_ISA
