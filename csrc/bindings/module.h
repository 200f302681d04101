// One binding function per kernel file.
#pragma once
#include <pybind11/pybind11.h>

namespace hyperhop::bindings {

namespace py = pybind11;

void bind_runtime(py::module_& m);
void bind_codebook(py::module_& m);
void bind_codes(py::module_& m);
void bind_product(py::module_& m);
void bind_bundle(py::module_& m);
void bind_normalize(py::module_& m);
void bind_similarity(py::module_& m);
void bind_pairwise(py::module_& m);
void bind_content_score(py::module_& m);
void bind_encode_paths(py::module_& m);
void bind_read(py::module_& m);
void bind_score_paths(py::module_& m);
void bind_topk(py::module_& m);
void bind_paths(py::module_& m);
void bind_unitary_map(py::module_& m);
void bind_graph_ball(py::module_& m);
void bind_graph_builder(py::module_& m);
void bind_graph_export(py::module_& m);
void bind_graph_names(py::module_& m);
void bind_graph_folded(py::module_& m);
void bind_graph_index(py::module_& m);
void bind_graph_schema(py::module_& m);
void bind_graph_walks(py::module_& m);
void bind_graph_change(py::module_& m);
void bind_flow_graph(py::module_& m);
void bind_entropy(py::module_& m);
void bind_feature_gradient(py::module_& m);
void bind_flow(py::module_& m);
void bind_hop(py::module_& m);
void bind_backtrack(py::module_& m);
void bind_sparse_flow(py::module_& m);
void bind_hop_content(py::module_& m);
void bind_hypernode(py::module_& m);

}  // namespace hyperhop::bindings
