// One vocabulary of native-width vectors, on the compiler's own vector types.
// Arithmetic operators on Vec work lane by lane; comparisons give masks for select().
#pragma once
#include <stdint.h>
#include <string.h>

#include "../portability.h"

namespace hyperhop::HH_ISA {

template <class T, int N>
struct VecOf {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};
template <class T, int N = HH_VECTOR_BYTES / int(sizeof(T))>
using Vec = typename VecOf<T, N>::type;

using F32 = Vec<float>;
using F64 = Vec<double>;
using U64 = Vec<uint64_t>;
using I64 = Vec<int64_t>;
constexpr int kF32Lanes = HH_VECTOR_BYTES / 4;
constexpr int kF64Lanes = HH_VECTOR_BYTES / 8;

template <class V, class T>
HH_INLINE V load(const T* p) noexcept {
  V v;
  memcpy(&v, p, sizeof(V));
  return v;
}

template <class V, class T>
HH_INLINE void store(T* p, V v) noexcept {
  memcpy(p, &v, sizeof(V));
}

using F4 = Vec<float, 4>;
using F8 = Vec<float, 8>;

// Lanes of a and b by constant index, those of b counted on from a's.
template <int... lanes>
HH_INLINE Vec<float, int(sizeof...(lanes))> shuffle(Vec<float, int(sizeof...(lanes))> a,
                                                    Vec<float, int(sizeof...(lanes))> b) {
#if defined(__clang__)
  return __builtin_shufflevector(a, b, lanes...);
#else
  return __builtin_shuffle(a, b, Vec<int32_t, int(sizeof...(lanes))>{lanes...});
#endif
}

// Copies `floats` (a multiple of 16) to 64-byte aligned memory past the caches, for outputs too
// large to stay in them: a plain store would first read the line it overwrites. End with
// stream_fence().
HH_INLINE void stream_copy(float* to, const float* from, int64_t floats) {
  for (int64_t i = 0; i < floats; i += kF32Lanes) {
    const F32 v = load<F32>(from + i);
#if defined(__clang__)
    __builtin_nontemporal_store(v, reinterpret_cast<F32*>(to + i));
#elif defined(__AVX512F__)
    __builtin_ia32_movntps512(to + i, v);
#elif defined(__AVX__)
    __builtin_ia32_movntps256(to + i, v);
#elif defined(__SSE__)
    __builtin_ia32_movntps(to + i, v);
#else
    store(to + i, v);
#endif
  }
}

HH_INLINE void stream_fence() {
#if defined(__SSE__)
  __builtin_ia32_sfence();
#endif
}

template <class To, class From>
HH_INLINE To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast needs equal sizes");
  To to;
  memcpy(&to, &from, sizeof(To));
  return to;
}

template <class Mask, class V>
HH_INLINE V select(Mask mask, V yes, V no) {
  return bit_cast<V>((mask & bit_cast<Mask>(yes)) | (~mask & bit_cast<Mask>(no)));
}

// float16 values widened to float32: exact, and a NaN becomes quiet, with the same bits on every
// ISA.
HH_INLINE F32 load_half(const uint16_t* p) {
#if defined(__AVX512F__)
  constexpr int kCurrentRounding = 4;
  return bit_cast<F32>(
      __builtin_ia32_vcvtph2ps512_mask(load<Vec<short, 16>>(p), F32{}, -1, kCurrentRounding));
#elif defined(__F16C__)
  return bit_cast<F32>(__builtin_ia32_vcvtph2ps256(load<Vec<short, 8>>(p)));
#else
  using U32 = Vec<uint32_t>;
  const U32 half = __builtin_convertvector(load<Vec<uint16_t, kF32Lanes>>(p), U32);
  const U32 size = half & 0x7fffu;
  const U32 usual = (size << 13) + (112u << 23);  // the exponent's bias grows from 15 to 127
  // Subnormals count 2^-24; they become normal by a subtraction, which no flush to zero disturbs.
  const U32 small = bit_cast<U32>(bit_cast<F32>(usual + (1u << 23)) - 0x1p-14f);
  const U32 quiet = bit_cast<U32>(size > 0x7c00u) & (1u << 22);
  const U32 special = (usual + (112u << 23)) | quiet;
  const U32 wide = select(bit_cast<U32>(size < 0x400u), small,
                          select(bit_cast<U32>(size > 0x7bffu), special, usual));
  return bit_cast<F32>(wide | ((half & 0x8000u) << 16));
#endif
}

// a * b + c. The only fused operation in the project; mul + add where the ISA has none.
HH_INLINE F32 fma(F32 a, F32 b, F32 c) {
#if HH_HAS_FMA
  F32 r;
  for (int i = 0; i < kF32Lanes; ++i) r[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return r;
#else
  return a * b + c;
#endif
}

HH_INLINE F64 fma(F64 a, F64 b, F64 c) {
#if HH_HAS_FMA
  F64 r;
  for (int i = 0; i < kF64Lanes; ++i) r[i] = __builtin_fma(a[i], b[i], c[i]);
  return r;
#else
  return a * b + c;
#endif
}

// The same for N lanes, for rows shorter than a native vector.
template <int N>
HH_INLINE Vec<float, N> fma_lanes(Vec<float, N> a, Vec<float, N> b, Vec<float, N> c) {
#if HH_HAS_FMA
  Vec<float, N> r;
  for (int i = 0; i < N; ++i) r[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return r;
#else
  return a * b + c;
#endif
}

// c - a * b
HH_INLINE F32 fnma(F32 a, F32 b, F32 c) {
  return fma(-a, b, c);
}

HH_INLINE F32 sqrt(F32 x) {
  F32 r;
  for (int i = 0; i < kF32Lanes; ++i) r[i] = __builtin_sqrtf(x[i]);
  return r;
}

HH_INLINE F64 sqrt(F64 x) {
  F64 r;
  for (int i = 0; i < kF64Lanes; ++i) r[i] = __builtin_sqrt(x[i]);
  return r;
}

// Whether every lane of a comparison is true.
template <class Mask>
HH_INLINE bool all(Mask mask) {
  using Words = Vec<uint64_t, int(sizeof(Mask)) / 8>;
  const Words words = bit_cast<Words>(mask);
  uint64_t both = words[0];
  for (int i = 1; i < int(sizeof(Mask)) / 8; ++i) both &= words[i];
  return both == ~uint64_t(0);
}

// Sum of all lanes in one fixed order: halves are added until one lane is left.
template <class T, int N>
struct SumLanes {
  static HH_INLINE T of(Vec<T, N> v) {
    Vec<T, N / 2> half[2];
    memcpy(half, &v, sizeof(v));
    return SumLanes<T, N / 2>::of(half[0] + half[1]);
  }
};
template <class T>
struct SumLanes<T, 2> {
  static HH_INLINE T of(Vec<T, 2> v) { return v[0] + v[1]; }
};
HH_INLINE float sum_lanes(F32 v) {
  return SumLanes<float, kF32Lanes>::of(v);
}
HH_INLINE double sum_lanes(F64 v) {
  return SumLanes<double, kF64Lanes>::of(v);
}

// Neighbouring lanes exchanged: re and im of each pair.
template <int N>
HH_INLINE Vec<float, N> swap_pairs(Vec<float, N> v) {
  static_assert(N == 4 || N == 8, "rows are 4 or 8 floats wide");
  if constexpr (N == 4)
    return shuffle<1, 0, 3, 2>(v, v);
  else
    return shuffle<1, 0, 3, 2, 5, 4, 7, 6>(v, v);
}

template <int N>
HH_INLINE F4 fold_to_four(Vec<float, N> v) {
  if constexpr (N == 4) {
    return v;
  } else {
    Vec<float, N / 2> half[2];
    memcpy(half, &v, sizeof(v));
    return fold_to_four<N / 2>(half[0] + half[1]);
  }
}

// sum_lanes of four vectors at once, bit for bit.
HH_INLINE void sum_lanes_of_four(const F32* v, float* out) {
  const F4 a = fold_to_four<kF32Lanes>(v[0]), b = fold_to_four<kF32Lanes>(v[1]);
  const F4 c = fold_to_four<kF32Lanes>(v[2]), d = fold_to_four<kF32Lanes>(v[3]);
  const F4 ab = shuffle<0, 1, 4, 5>(a, b) + shuffle<2, 3, 6, 7>(a, b);
  const F4 cd = shuffle<0, 1, 4, 5>(c, d) + shuffle<2, 3, 6, 7>(c, d);
  store(out, shuffle<0, 2, 4, 6>(ab, cd) + shuffle<1, 3, 5, 7>(ab, cd));
}

}  // namespace hyperhop::HH_ISA
