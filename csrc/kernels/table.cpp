#include "table.h"

#include "../portability.h"

#define HH_STRING_(x) #x
#define HH_STRING(x) HH_STRING_(x)

namespace hyperhop::HH_ISA {

CodebookKernel codebook;
ProductKernel product;
EncodePathsKernel encode_paths;
ScorePathsKernel score_paths;
ScoreGeneralKernel score_general;
SimilarityKernel similarity;
PackPanelKernel pack_panel;
PairwiseKernel pairwise;
NormalizeKernel normalize;
UnitarizeKernel unitarize;
BundleKernel bundle;
TopkScanKernel<float> topk_scan_f32;
TopkScanKernel<double> topk_scan_f64;
UnitaryMapKernel unitary_map;

extern const KernelTable kernel_table;
const KernelTable kernel_table = {
    HH_STRING(HH_ISA), codebook,   product,       encode_paths,  score_paths,
    score_general,     similarity, pack_panel,    pairwise,      normalize,
    unitarize,         bundle,     topk_scan_f32, topk_scan_f64, unitary_map,
};

}  // namespace hyperhop::HH_ISA
