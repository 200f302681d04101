// Table of contents of hyperhop._core.
#include "module.h"

PYBIND11_MODULE(_core, m) {
  using namespace hyperhop::bindings;
  m.doc() = "Compiled kernels of hyperhop; use them through hyperhop.ghrr and its neighbours.";
  bind_runtime(m);
  bind_codebook(m);
  bind_codes(m);
  bind_product(m);
  bind_bundle(m);
  bind_normalize(m);
  bind_similarity(m);
  bind_pairwise(m);
  bind_encode_paths(m);
  bind_score_paths(m);
  bind_topk(m);
  bind_paths(m);
  bind_unitary_map(m);
  bind_graph_builder(m);
  bind_graph_export(m);
  bind_graph_names(m);
  bind_graph_folded(m);
  bind_graph_index(m);
  bind_graph_schema(m);
  bind_graph_walks(m);
  bind_graph_ball(m);
  bind_graph_change(m);
  bind_flow_graph(m);
  bind_flow(m);
  bind_hop(m);
  bind_backtrack(m);
  bind_sparse_flow(m);
  bind_hop_content(m);
  bind_content_score(m);
  bind_read(m);
  bind_feature_gradient(m);
  bind_entropy(m);
  bind_hypernode(m);
}
