#include "table.h"

#include "../portability.h"

#define HH_STRING_(x) #x
#define HH_STRING(x) HH_STRING_(x)

namespace hyperhop::HH_ISA {

CodebookKernel codebook;
CodeRowKernel code_row;
CodeProductsKernel code_products;
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
WidenRowKernel widen_row;
RowDotsKernel row_dots;
CompositionKernel composition;

// Instantiated where they are defined.
template <class T>
void propagate(const PropagateArgs<T>&);
template <class T>
void propagate_backward(const PropagateBackwardArgs<T>&);
template <class T>
void hop_weigh(const HopArgs<T>&, int64_t, int64_t, T*, T*, T*);
template <class T>
void hop_combine(int64_t, int64_t, T*, T*);
template <class T>
void hop_scale(int64_t, int64_t, int64_t, T*, const T*, const T*);
template <class T>
void hop_dot(const T*, const T*, int64_t, int64_t, int64_t, T*);
template <class T>
void hop_peak(const T*, int64_t, int64_t, int64_t, int64_t*);
template <class T>
void hop_anchor(const HopAnchorArgs<T>&, T*, T*);
template <class T>
void hop_backward(const HopBackwardArgs<T>&, int64_t, int64_t, T*);
template <class T>
void content_score(const ContentScoreArgs<T>&, int64_t, int64_t);
template <class T>
void read(const ReadArgs<T>&, int64_t, int64_t, T*);
template <class T>
void read_total(int64_t, int64_t, int64_t, T*, T*);
template <class T>
void feature_gradient(const FeatureGradientArgs<T>&, int64_t, int64_t);
template <class T>
void hop_content(const HopContentArgs<T>&, int64_t, int64_t, T*);
template <class T>
void hop_content_total(int64_t, int64_t, int64_t, const T*, const T*, T*, T*);
template <class T>
void hop_content_backward(const HopContentBackwardArgs<T>&, int64_t, int64_t, T*);
template <class T>
void entropy(const EntropyArgs<T>&, int64_t, int64_t, T*);
template <class T>
void entropy_backward(const EntropyArgs<T>&, int64_t, int64_t, const T*, T*);

template <class T>
constexpr FlowKernels<T> flow_kernels = {
    propagate<T>,
    propagate_backward<T>,
    hop_weigh<T>,
    hop_combine<T>,
    hop_scale<T>,
    hop_dot<T>,
    hop_peak<T>,
    hop_anchor<T>,
    hop_backward<T>,
    content_score<T>,
    read<T>,
    read_total<T>,
    feature_gradient<T>,
    hop_content<T>,
    hop_content_total<T>,
    hop_content_backward<T>,
    entropy<T>,
    entropy_backward<T>,
};

extern const KernelTable kernel_table;
const KernelTable kernel_table = {
    HH_STRING(HH_ISA),
    codebook,
    code_row,
    code_products,
    product,
    encode_paths,
    score_paths,
    score_general,
    similarity,
    pack_panel,
    pairwise,
    normalize,
    unitarize,
    bundle,
    topk_scan_f32,
    topk_scan_f64,
    unitary_map,
    widen_row,
    row_dots,
    composition,
    flow_kernels<float>,
    flow_kernels<double>,
};

}  // namespace hyperhop::HH_ISA
