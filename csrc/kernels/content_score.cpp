#include "content_score.h"

#include "rows.h"

namespace hyperhop::HH_ISA {

template <class T>
void content_score(const ContentScoreArgs<T>& args, int64_t begin, int64_t end) {
  dot_all(RowShape<T>(args.dim), args.features + begin * args.dim, end - begin, args.queries,
          args.lanes, args.out + begin * args.lanes);
}

template void content_score(const ContentScoreArgs<float>&, int64_t, int64_t);
template void content_score(const ContentScoreArgs<double>&, int64_t, int64_t);

}  // namespace hyperhop::HH_ISA
