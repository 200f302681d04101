#include "read.h"

#include "rows.h"

namespace hyperhop::HH_ISA {

template <class T>
void read(const ReadArgs<T>& args, int64_t begin, int64_t end, T* sums) {
  memset(sums, 0, size_t(args.sum_size()) * sizeof(T));
  add_all(RowShape<T>(args.dim), args.features + begin * args.dim, end - begin,
          args.pi + begin * args.lanes, args.lanes, sums);
}

template <class T>
void read_total(int64_t lanes, int64_t dim, int64_t blocks, T* sums, T* out) {
  const RowShape<T> shape(dim);
  const int64_t row = padded_row<T>(dim), size = lanes * row;
  if (blocks == 0) {
    memset(out, 0, size_t(lanes * dim) * sizeof(T));
    return;
  }
  for (int64_t b = 1; b < blocks; ++b)
    for (int64_t i = 0; i < size; i += shape.kLanes)
      store(sums + i, load<Vec<T>>(sums + i) + load<Vec<T>>(sums + b * size + i));
  for (int64_t l = 0; l < lanes; ++l) shape.store_row(out + l * dim, sums + l * row);
}

#define HH_INSTANTIATE(T)                                       \
  template void read(const ReadArgs<T>&, int64_t, int64_t, T*); \
  template void read_total(int64_t, int64_t, int64_t, T*, T*);
HH_INSTANTIATE(float)
HH_INSTANTIATE(double)
#undef HH_INSTANTIATE

}  // namespace hyperhop::HH_ISA
