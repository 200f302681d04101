// The kernels of hyperhop.flow, in one float type.
#pragma once
#include "content_score.h"
#include "entropy.h"
#include "feature_gradient.h"
#include "flow.h"
#include "hop.h"
#include "hop_content.h"
#include "read.h"

namespace hyperhop {

template <class T>
struct FlowKernels {
  PropagateKernel<T>* propagate;
  PropagateBackwardKernel<T>* propagate_backward;
  HopWeighKernel<T>* hop_weigh;
  HopCombineKernel<T>* hop_combine;
  HopScaleKernel<T>* hop_scale;
  HopDotKernel<T>* hop_dot;
  HopPeakKernel<T>* hop_peak;
  HopAnchorKernel<T>* hop_anchor;
  HopBackwardKernel<T>* hop_backward;
  ContentScoreKernel<T>* content_score;
  ReadKernel<T>* read;
  ReadTotalKernel<T>* read_total;
  FeatureGradientKernel<T>* feature_gradient;
  HopContentKernel<T>* hop_content;
  HopContentTotalKernel<T>* hop_content_total;
  HopContentBackwardKernel<T>* hop_content_backward;
  EntropyKernel<T>* entropy;
  EntropyBackwardKernel<T>* entropy_backward;
};

}  // namespace hyperhop
