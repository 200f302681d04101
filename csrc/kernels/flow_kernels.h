// The kernels of hyperhop.flow, in one float type.
#pragma once
#include "flow.h"
#include "hop.h"

namespace hyperhop {

template <class T>
struct FlowKernels {
  PropagateKernel<T>* propagate;
  PropagateBackwardKernel<T>* propagate_backward;
  HopWeighKernel<T>* hop_weigh;
  HopCombineKernel<T>* hop_combine;
  HopScaleKernel<T>* hop_scale;
  HopDotKernel<T>* hop_dot;
  HopBackwardKernel<T>* hop_backward;
};

}  // namespace hyperhop
