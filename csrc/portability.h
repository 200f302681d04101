// The only file that knows compilers and targets.
#pragma once

#if !defined(__GNUC__)
#error "hyperhop needs GCC or Clang"
#endif

#define HH_INLINE inline __attribute__((always_inline))
#define HH_INLINE_LAMBDA __attribute__((always_inline))
#define HH_NOINLINE __attribute__((noinline))
#define HH_RESTRICT __restrict__

// Before a loop whose short, constant trip count must disappear, so that its arrays become
// registers.
#if defined(__clang__)
#define HH_UNROLL _Pragma("clang loop unroll(full)")
#else
#define HH_UNROLL _Pragma("GCC unroll 16")
#endif

// Has the compiler store a variable here and read it again where it is next used, so that it does
// not hold registers that an inner loop needs.
#define HH_KEEP_IN_MEMORY(variable) __asm__ volatile("" : "+m"(variable))
// Has the compiler load a vector once for several uses, not once for each.
#if defined(__aarch64__)
#define HH_KEEP_IN_REGISTER(vector) __asm__("" : "+w"(vector))
#else
#define HH_KEEP_IN_REGISTER(vector) __asm__("" : "+x"(vector))
#endif

// Per-ISA files are compiled several times, each time with its own HH_ISA and flags; code that is
// compiled once never names hyperhop::HH_ISA.
#if defined(HH_ISA)
#if defined(__AVX512F__)
#define HH_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define HH_VECTOR_BYTES 32
#else
#define HH_VECTOR_BYTES 16
#endif
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
#define HH_HAS_FMA 1
#else
#define HH_HAS_FMA 0
#endif
#endif
