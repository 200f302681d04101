// Complex numbers in float64, one a lane: from + - * / alone, so that their bits are the same on
// every ISA.
#pragma once
#include "simd.h"

namespace hyperhop::HH_ISA {

struct ComplexF64 {
  F64 re, im;
};

HH_INLINE ComplexF64 add(ComplexF64 a, ComplexF64 b) {
  return {a.re + b.re, a.im + b.im};
}
HH_INLINE ComplexF64 subtract(ComplexF64 a, ComplexF64 b) {
  return {a.re - b.re, a.im - b.im};
}
HH_INLINE ComplexF64 scale(F64 a, ComplexF64 b) {
  return {a * b.re, a * b.im};
}
HH_INLINE ComplexF64 multiply(ComplexF64 a, ComplexF64 b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
HH_INLINE ComplexF64 conj(ComplexF64 a) {
  return {a.re, -a.im};
}
HH_INLINE F64 norm_squared(ComplexF64 a) {
  return a.re * a.re + a.im * a.im;
}

}  // namespace hyperhop::HH_ISA
