// Collects triples of names and makes the graph's arrays of them.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "csr.h"
#include "names.h"

namespace hyperhop::graph {

// A line (or row, or item) that is not a triple.
struct BadLine {
  std::int64_t number;  // from 1
  std::string found;    // what is wrong, in words
  std::string excerpt;  // the beginning of the line, as it came
};

struct BuiltGraph {
  NameBlob entities;
  NameBlob relations;
  BothOrders orders;
};

class TripleBuilder {
 public:
  static constexpr std::int64_t kMaxEntities = std::numeric_limits<std::int32_t>::max();
  static constexpr std::int64_t kMaxRelations = kMaxEntities / 2;  // 2 R symbols are int32 too
  static constexpr std::size_t kBadLinesKept = 10;

  // skip_bad: count bad lines instead of stopping at the first.
  explicit TripleBuilder(bool skip_bad, std::int64_t max_entities = kMaxEntities)
      : skip_bad_(skip_bad), entities_(max_entities), relations_(kMaxRelations) {}

  // Lines of "head DELIMITER relation DELIMITER tail", split at \n, with \r\n tolerated and nothing
  // quoted. Chunks may end anywhere; `last` flushes a final line without \n. Blank lines count but
  // are ignored. False at a bad line, unless bad lines are skipped.
  bool feed(std::string_view chunk, char delimiter, bool last);

  // The next line that is not blank is no triple.
  void skip_header() { skip_header_ = true; }

  // What is wrong with these fields, in words; empty if nothing is.
  static std::string fault(const std::vector<std::string_view>& fields);

  // Fields without a fault. Their bytes must stay where they are until flush().
  void add(const std::vector<std::string_view>& fields);

  // Takes in what was added. To be called before bytes that were added go away.
  void flush();

  // Ids of names for add_ids(), in order of first sight. A name need not be new; one that no triple
  // uses in the end is an entity (or relation) without facts.
  std::vector<std::int32_t> intern_entities(const NameView& names) {
    return intern(entities_, names);
  }
  std::vector<std::int32_t> intern_relations(const NameView& names) {
    return intern(relations_, names);
  }

  // `count` triples of interned ids. Throws std::out_of_range at an id that was never given out;
  // nothing is added then.
  void add_ids(const std::int32_t* heads, const std::int32_t* relations, const std::int32_t* tails,
               std::int64_t count);

  // False unless bad lines are skipped.
  bool reject(std::int64_t number, std::string found, std::string_view excerpt);

  // May be called once.
  BuiltGraph build();

  std::int64_t num_read() const { return num_read_; }
  std::int64_t num_bad() const { return num_bad_; }
  const std::vector<BadLine>& bad_lines() const { return bad_lines_; }

 private:
  bool split(std::string_view chunk, char delimiter, bool last);
  bool add_line(std::string_view line, char delimiter);
  static std::vector<std::int32_t> intern(NameTable& table, const NameView& names);

  bool skip_bad_;
  bool skip_header_ = false;
  std::int64_t line_number_ = 0;
  std::int64_t num_read_ = 0;
  std::int64_t num_bad_ = 0;
  std::vector<BadLine> bad_lines_;
  std::string unfinished_line_;
  std::vector<std::string_view> fields_;
  std::vector<std::string_view> waiting_entities_;  // head, tail, head, tail, ...
  std::vector<std::string_view> waiting_relations_;
  NameTable entities_;
  NameTable relations_;
  std::vector<Triple> triples_;
};

}  // namespace hyperhop::graph
