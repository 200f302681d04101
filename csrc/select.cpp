#include "select.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "dispatch.h"

namespace hyperhop {
namespace {

TopkScanKernel<float>* scan_kernel(float) {
  return kernels().topk_scan_f32;
}
TopkScanKernel<double>* scan_kernel(double) {
  return kernels().topk_scan_f64;
}

// A candidate, its value as an integer that orders alike: larger is better, 0 is NaN.
template <class Key>
struct Entry {
  Key key;
  int64_t index;
};
template <class Key>
bool operator<(const Entry<Key>& a, const Entry<Key>& b) {
  return a.key != b.key ? a.key > b.key : a.index < b.index;
}

template <class T>
struct KeyOf;
template <>
struct KeyOf<float> {
  using type = uint32_t;
};
template <>
struct KeyOf<double> {
  using type = uint64_t;
};

template <class T>
typename KeyOf<T>::type key_of(T value) {
  using Key = typename KeyOf<T>::type;
  if (std::isnan(value)) return 0;
  value += T(0);  // the two zeros are equal
  Key bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const Key sign = Key(1) << (8 * sizeof(Key) - 1);
  return bits & sign ? ~bits : bits | sign;
}

// The best values of one row, as the scan goes from left to right.
template <class T>
class Selection {
 public:
  Selection(const T* values, int64_t n, int64_t k, T sign)
      : args_{values, n, sign}, k_(k), capacity_(std::min(n, 2 * k + 256)) {
    pool_.reserve(size_t(capacity_));
    for (int64_t i = 0; i < k; ++i) add(i);
    found_.resize(size_t(std::max<int64_t>(k, 16)));
    keep_best();
  }

  std::vector<int64_t> run() {
    // The first k are candidates whatever they hold. From then on only values that strictly beat
    // the worst of the best k can matter, since an equal value has a higher index.
    int64_t total_found = 0;
    bool sampled = false;
    while (next_ < args_.n) {
      total_found += scan();
      if (int64_t(pool_.size()) > k_) keep_best();
      // Far more than a random order would let through: perhaps the values ascend.
      if (!sampled && total_found > 8 * k_ + 4096) {
        sample_rest();
        sampled = true;
      }
    }
    std::sort(pool_.begin(), pool_.end());
    std::vector<int64_t> best(static_cast<size_t>(k_));
    std::transform(pool_.begin(), pool_.end(), best.begin(), [](const E& e) { return e.index; });
    return best;
  }

 private:
  using E = Entry<typename KeyOf<T>::type>;

  T value(int64_t i) const { return args_.sign * args_.values[i]; }
  void add(int64_t i) { pool_.push_back({key_of(value(i)), i}); }

  void keep_best() {
    std::nth_element(pool_.begin(), pool_.begin() + (k_ - 1), pool_.end());
    pool_.resize(size_t(k_));
  }

  // Adds some of the values that come next and may matter; returns how many.
  int64_t scan() {
    const int64_t before = int64_t(pool_.size());
    const T worst = value(pool_[size_t(k_ - 1)].index);
    if (std::isnan(worst)) {  // any number beats it, which no threshold can say
      for (; next_ < args_.n && int64_t(pool_.size()) < capacity_; ++next_)
        if (!std::isnan(value(next_))) add(next_);
    } else {
      // A small first buffer tightens the threshold early.
      const int64_t room = std::min(capacity_ - before, int64_t(found_.size()));
      int64_t count = 0;
      next_ = scan_kernel(T{})(args_, next_, std::max(worst, floor_), found_.data(), room, &count);
      for (int64_t i = 0; i < count; ++i) add(found_[size_t(i)]);
    }
    return int64_t(pool_.size()) - before;
  }

  // The k-th best of a sample bounds the k-th best of all from below, whatever the order.
  void sample_rest() {
    const int64_t left = args_.n - next_;
    const int64_t count = std::min(std::max<int64_t>(64 * k_, 4096), left / 4);
    if (count < 4 * k_) return;
    std::vector<E> sample;
    sample.reserve(size_t(count));
    const int64_t stride = left / count;
    for (int64_t s = 0; s < count; ++s) {
      const int64_t i = next_ + s * stride;
      sample.push_back({key_of(value(i)), i});
    }
    std::nth_element(sample.begin(), sample.begin() + (k_ - 1), sample.end());
    const T bound = value(sample[size_t(k_ - 1)].index);
    // Values equal to the bound may be among the best: the floor is the next number below it.
    if (!std::isnan(bound)) floor_ = std::nextafter(bound, -std::numeric_limits<T>::infinity());
  }

  TopkScanArgs<T> args_;
  int64_t k_, capacity_;
  std::vector<E> pool_;
  std::vector<int64_t> found_;
  int64_t next_ = k_;
  T floor_ = -std::numeric_limits<T>::infinity();
};

}  // namespace

template <class T>
std::vector<int64_t> select_top(const T* values, int64_t n, int64_t k, T sign) {
  k = std::min(k, n);
  if (k == 0) return {};
  return Selection<T>(values, n, k, sign).run();
}

template std::vector<int64_t> select_top(const float*, int64_t, int64_t, float);
template std::vector<int64_t> select_top(const double*, int64_t, int64_t, double);

}  // namespace hyperhop
