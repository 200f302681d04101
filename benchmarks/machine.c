/* The limits of one core, measured: peak of fused multiply-adds and read bandwidth of a memory range. */
#include <stddef.h>

#if defined(__x86_64__)
#define TARGET(name) __attribute__((target(name)))
#else
#define TARGET(name)
#endif

/* Twelve independent chains hide the latency of two FMA units; returns the floating-point operations. */
#define DEFINE_FMA_PEAK(NAME, BYTES, ATTRIBUTE)                                                 \
  typedef float NAME##_vec __attribute__((vector_size(BYTES)));                                 \
  ATTRIBUTE double NAME(long rounds, float* sink) {                                             \
    NAME##_vec x[12], a, b;                                                                     \
    for (int i = 0; i < BYTES / 4; ++i) a[i] = 1.0000001f, b[i] = 1e-9f;                        \
    for (int c = 0; c < 12; ++c)                                                                \
      for (int i = 0; i < BYTES / 4; ++i) x[c][i] = (float)(c + i);                             \
    for (long r = 0; r < rounds; ++r) {                                                         \
      x[0] = x[0] * a + b, x[1] = x[1] * a + b, x[2] = x[2] * a + b, x[3] = x[3] * a + b;       \
      x[4] = x[4] * a + b, x[5] = x[5] * a + b, x[6] = x[6] * a + b, x[7] = x[7] * a + b;       \
      x[8] = x[8] * a + b, x[9] = x[9] * a + b, x[10] = x[10] * a + b, x[11] = x[11] * a + b;   \
    }                                                                                           \
    for (int c = 1; c < 12; ++c) x[0] += x[c];                                                  \
    for (int i = 0; i < BYTES / 4; ++i) sink[i] = x[0][i];                                      \
    return 2.0 * 12 * (BYTES / 4) * (double)rounds;                                             \
  }

#if defined(__x86_64__)
DEFINE_FMA_PEAK(peak_avx512, 64, TARGET("avx512f,fma"))
DEFINE_FMA_PEAK(peak_avx2, 32, TARGET("avx2,fma"))
#endif
DEFINE_FMA_PEAK(peak_baseline, 16, )

double fma_peak(long rounds, float* sink) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return peak_avx512(rounds, sink);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return peak_avx2(rounds, sink);
#endif
  return peak_baseline(rounds, sink);
}

/* Sums `count` floats (a multiple of 128) `rounds` times. The sums have names: an array of them would
   live in memory, and that would be measured. */
#define DEFINE_READ(NAME, BYTES, ATTRIBUTE)                                                     \
  typedef float NAME##_vec __attribute__((vector_size(BYTES), aligned(4)));                     \
  ATTRIBUTE void NAME(const float* data, size_t count, long rounds, float* sink) {              \
    NAME##_vec a, b, c, d, e, f, g, h;                                                          \
    for (int i = 0; i < BYTES / 4; ++i) a[i] = 0;                                               \
    b = c = d = e = f = g = h = a;                                                              \
    for (long r = 0; r < rounds; ++r)                                                           \
      for (size_t i = 0; i < count; i += 8 * (BYTES / 4)) {                                     \
        const NAME##_vec* v = (const NAME##_vec*)(data + i);                                    \
        a += v[0], b += v[1], c += v[2], d += v[3], e += v[4], f += v[5], g += v[6], h += v[7]; \
      }                                                                                         \
    a += b + c + d + e + f + g + h;                                                             \
    for (int i = 0; i < BYTES / 4; ++i) sink[i] = a[i];                                         \
  }

#if defined(__x86_64__)
DEFINE_READ(read_avx512, 64, TARGET("avx512f"))
DEFINE_READ(read_avx2, 32, TARGET("avx2"))
#endif
DEFINE_READ(read_baseline, 16, )

void read_memory(const float* data, size_t count, long rounds, float* sink) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) {
    read_avx512(data, count, rounds, sink);
    return;
  }
  if (__builtin_cpu_supports("avx2")) {
    read_avx2(data, count, rounds, sink);
    return;
  }
#endif
  read_baseline(data, count, rounds, sink);
}
