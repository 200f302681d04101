// One function pointer per kernel, filled once per ISA by table.cpp.
#pragma once
#include "bundle.h"
#include "codebook.h"
#include "codes.h"
#include "composition.h"
#include "encode_paths.h"
#include "flow_kernels.h"
#include "normalize.h"
#include "pairwise.h"
#include "product.h"
#include "score_general.h"
#include "score_paths.h"
#include "similarity.h"
#include "topk.h"
#include "unitary_map.h"

namespace hyperhop {

struct KernelTable {
  const char* isa;
  CodebookKernel* codebook;
  CodeRowKernel* code_row;
  CodeProductsKernel* code_products;
  ProductKernel* product;
  EncodePathsKernel* encode_paths;
  ScorePathsKernel* score_paths;
  ScoreGeneralKernel* score_general;
  SimilarityKernel* similarity;
  PackPanelKernel* pack_panel;
  PairwiseKernel* pairwise;
  NormalizeKernel* normalize;
  UnitarizeKernel* unitarize;
  BundleKernel* bundle;
  TopkScanKernel<float>* topk_scan_f32;
  TopkScanKernel<double>* topk_scan_f64;
  UnitaryMapKernel* unitary_map;
  WidenRowKernel* widen_row;
  RowDotsKernel* row_dots;
  CompositionKernel* composition;
  FlowKernels<float> flow_f32;
  FlowKernels<double> flow_f64;

  template <class T>
  const FlowKernels<T>& flow() const;
};

template <>
HH_INLINE const FlowKernels<float>& KernelTable::flow<float>() const {
  return flow_f32;
}
template <>
HH_INLINE const FlowKernels<double>& KernelTable::flow<double>() const {
  return flow_f64;
}

}  // namespace hyperhop
