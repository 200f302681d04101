// score_general: what score_paths computes, for codebooks whose blocks are not unitary. A path's
// blocks then have norms of their own, so each leaf's blocks are multiplied out, and the cosine's
// dot products and norms (PathHD eq. 4) are taken in the same pass; still no path vector is stored.
// Symbols are first scaled to blocks of norm sqrt m, which changes no cosine and keeps products in
// range. A query's planes have blocks of norm 1 (or 0); the result is the sum over one tile's
// blocks of Re <Q_j, P_j> / |P_j|, a zero block counting 0; the caller adds tiles in order and
// scales by 1 / D. One sum per lane: the bits depend only on the query and the leaf's own sequence.
#pragma once
#include "score_paths.h"

namespace hyperhop {

using ScoreGeneralKernel = void(const ScorePathsArgs&, int64_t tile);

}  // namespace hyperhop
