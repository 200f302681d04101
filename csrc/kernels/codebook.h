// codebook: random unitary blocks (PathHD eq. 1), a pure function of (symbol key, block, m,
// family):
//   haar         Haar-distributed U(m): Stewart's product of reflections of Gaussian vectors
//   householder  m complex reflections times a diagonal of random phases
//   diagonal     diag(e^{i phi}): commutative, kept for the ablation
// The bits are the same on every ISA and device: a counter-based generator (Philox 4x32-10, keyed
// by 128 bits of the symbol) and float64 arithmetic from + - * / sqrt alone, never fused, rounded
// once to float32. Blocks are unitary to a few float32 eps. Block j does not depend on D.
#pragma once
#include "blocks.h"

namespace hyperhop {

enum class Family { haar, householder, diagonal };

struct CodebookArgs {
  BlockShape shape;
  Family family;
  const uint32_t* keys;  // [R][4]
  float* planes;         // [R][m][m][2][D]
};
using CodebookKernel = void(const CodebookArgs&, int64_t row_begin, int64_t row_end);

}  // namespace hyperhop
