#include "io/gguf.h"

#include <fcntl.h>

#include <chrono>

#include "io/gguf_write.h"
#include "io/hostile_files_test.h"

namespace ridge::io {
namespace {

const std::string goldens = RIDGE_SOURCE_DIR "/tests/goldens/";

// A small file with every kind of value, a nested array and two tensors.
Bytes tiny_gguf() {
  Bytes b;
  b.text = "GGUF";
  b.number(std::uint32_t(3)).number(std::uint64_t(2)).number(std::uint64_t(7));
  const auto key = [&](std::string_view k, std::uint32_t type) -> Bytes& { return b.string(k).number(type); };
  key("general.alignment", 4).number(std::uint32_t(64));
  key("general.architecture", 8).string("llama");
  key("a.float", 6).plain(2.5f);
  key("a.bool", 7).number(std::uint8_t(1));
  key("a.strings", 9).number(std::uint32_t(8)).number(std::uint64_t(3)).string("one").string("").string("three");
  key("a.numbers", 9).number(std::uint32_t(5)).number(std::uint64_t(3)).plain(-1).plain(2).plain(3);
  key("a.nested", 9).number(std::uint32_t(9)).number(std::uint64_t(2));
  b.number(std::uint32_t(8)).number(std::uint64_t(1)).string("x");
  b.number(std::uint32_t(0)).number(std::uint64_t(2)).plain(std::uint16_t(0x0201));
  b.string("first")
      .number(std::uint32_t(2))
      .number(std::uint64_t(32))
      .number(std::uint64_t(2))
      .number(std::uint32_t(8))
      .number(std::uint64_t(0));
  b.string("second")
      .number(std::uint32_t(1))
      .number(std::uint64_t(4))
      .number(std::uint32_t(0))
      .number(std::uint64_t(128));
  b.pad(64);
  b.text += std::string(128, 'a') + std::string(16, 'b');
  return b;
}

void touch_everything(std::span<const std::byte> bytes) {
  const GgufHeader h = parse_gguf(bytes, "spoilt");
  for (const GgufValue& v : h.metadata.all()) {
    EXPECT_FALSE(v.key.empty());
    if (v.element == GgufType::string) {
      for (std::string_view s : h.metadata.get_strings(v.key)) EXPECT_LE(s.size(), bytes.size());
    }
    text_of(v);
  }
  for (const GgufTensor& t : h.tensors) {
    ASSERT_LE(t.offset, bytes.size());
    ASSERT_LE(t.bytes.value_or(0), bytes.size() - t.offset);
  }
}

TEST(gguf, reads_a_small_file) {
  const Bytes b = tiny_gguf();
  const GgufHeader h = parse_gguf(b.span(), "tiny");
  const GgufMetadata& m = h.metadata;
  EXPECT_EQ(h.alignment, 64u);
  EXPECT_EQ(m.get_string("general.architecture"), "llama");
  EXPECT_EQ(m.get_f64("a.float"), 2.5);
  EXPECT_TRUE(m.get_bool("a.bool"));
  EXPECT_EQ(m.get_u64("none", 7), 7u);
  const auto strings = m.get_strings("a.strings");
  EXPECT_EQ(std::vector<std::string>(strings.begin(), strings.end()), (std::vector<std::string>{"one", "", "three"}));
  EXPECT_EQ(m.get_i32s("a.numbers"), (std::vector<std::int32_t>{-1, 2, 3}));
  EXPECT_EQ(text_of(*m.find("a.numbers"), 2), "[-1, 2, ... 3 in all]");
  EXPECT_EQ(text_of(*m.find("a.nested")), "[2 arrays]");
  ASSERT_EQ(h.tensors.size(), 2u);
  EXPECT_EQ(h.tensors[0].name, "first");
  EXPECT_EQ(h.tensors[0].shape[0], 2);
  EXPECT_EQ(h.tensors[0].shape[1], 32);
  EXPECT_EQ(h.tensors[0].bytes, 68u);
  EXPECT_EQ(char(b.span()[h.tensors[1].offset]), 'b');
}

TEST(gguf, wrong_kinds_are_refused_with_key_and_offset) {
  const Bytes b = tiny_gguf();
  const GgufHeader h = parse_gguf(b.span(), "tiny");
  const GgufMetadata& m = h.metadata;
  EXPECT_HAS(error_of([&] { m.get_u64("general.architecture"); }),
             "tiny: at byte 89: key 'general.architecture': is of type string");
  EXPECT_HAS(error_of([&] { m.get_string("a.float"); }), "is of type f32; a string is accepted");
  EXPECT_HAS(error_of([&] { m.get_u64("a.numbers"); }), "is an array of 3 i32");
  EXPECT_HAS(error_of([&] { m.get_f32s("a.strings"); }), "holds string; numbers are accepted");
  EXPECT_HAS(error_of([&] { m.get_strings("a.nested"); }), "holds array; strings are accepted");
  EXPECT_HAS(error_of([&] { m.get_u64("gone"); }), "has no key 'gone'");
}

TEST(gguf, no_spoilt_file_does_harm) {
  const Bytes b = tiny_gguf();
  touch_everything(b.span());
  EXPECT_GT(spoil_everything(b, touch_everything), 700);
}

// One tensor of the given type, innermost-first shape and offset, in a file with 256 bytes of data.
std::string one_tensor(std::vector<std::uint64_t> dims, std::uint32_t type, std::uint64_t offset,
                       std::uint64_t alignment = 0) {
  Bytes b;
  b.text = "GGUF";
  b.plain(std::uint32_t(3)).plain(std::uint64_t(1)).plain(std::uint64_t(alignment ? 1 : 0));
  if (alignment) b.string("general.alignment").plain(std::uint32_t(10)).plain(alignment);
  b.string("t").plain(std::uint32_t(dims.size()));
  for (auto d : dims) b.plain(d);
  b.plain(type).plain(offset).pad(32);
  b.text += std::string(256, 'x');
  return b.text;
}
GgufHeader parse(const std::string& text) { return parse_gguf(std::as_bytes(std::span(text)), "f.gguf"); }
std::string refusal(const std::string& text) {
  return error_of([&] { parse(text); });
}

TEST(gguf, traps_of_the_field) {
  EXPECT_HAS(refusal(one_tensor({4}, 0, 0, 0).replace(4, 4, std::string("\1\0\0\0", 4))), "version 1");
  EXPECT_HAS(refusal(one_tensor({4}, 0, 0, 0).replace(4, 4, std::string("\0\0\0\3", 4))), "big-endian");
  EXPECT_HAS(refusal(one_tensor({4}, 0, 0, 0).replace(4, 4, std::string("\4\0\0\0", 4))),
             "version 4; 2 and 3 are accepted");
  EXPECT_HAS(refusal("ELF...................."), "a GGUF file starts with 'GGUF'");
  std::string zero = one_tensor({4}, 0, 0, 32);
  zero.replace(zero.find("general.alignment") + 21, 8, std::string(8, '\0'));
  EXPECT_HAS(refusal(zero), "'general.alignment': is 0; a power of two");
  EXPECT_HAS(refusal(one_tensor({4}, 0, 0, 48)), "is 48; a power of two");
  EXPECT_HAS(refusal(one_tensor({4}, 0, 4)), "not a multiple of the alignment 32");
  EXPECT_HAS(refusal(one_tensor({65}, 0, 0)), "leaves the data, which has 256 bytes");
  EXPECT_HAS(refusal(one_tensor({4}, 0, std::uint64_t(0) - 32)), "leaves the data");
  EXPECT_HAS(refusal(one_tensor({std::uint64_t(1) << 62, 4}, 0, 0)), "more than 2^63 elements");
  EXPECT_HAS(refusal(one_tensor({std::uint64_t(1) << 62}, 0, 0)), "more than 2^64 bytes");  // would wrap to 0
  EXPECT_HAS(refusal(one_tensor({std::uint64_t(1) << 61, 2}, 27, 0)), "more than 2^64 bytes");
  EXPECT_HAS(refusal(one_tensor({33}, 8, 0)), "rows of 33 elements, not a multiple of its block of 32");
  EXPECT_HAS(refusal(one_tensor({4, 0}, 0, 0)), "has a dimension of 0");
  EXPECT_HAS(refusal(one_tensor({}, 0, 0)), "has 0 dimensions; 1 to 4");
  EXPECT_HAS(refusal(one_tensor({1, 1, 1, 1, 1}, 0, 0)), "has 5 dimensions");
  parse(one_tensor({64}, 0, 0));
}

TEST(gguf, twice_the_same_and_overlaps) {
  const auto two = [](std::string_view name, std::uint64_t offset) {
    Bytes b;
    b.text = "GGUF";
    b.plain(std::uint32_t(3)).plain(std::uint64_t(2)).plain(std::uint64_t(0));
    b.string("t").plain(std::uint32_t(1)).plain(std::uint64_t(9)).plain(std::uint32_t(0)).plain(std::uint64_t(0));
    b.string(name).plain(std::uint32_t(1)).plain(std::uint64_t(8)).plain(std::uint32_t(0)).plain(offset).pad(32);
    b.text += std::string(256, 'x');
    return b.text;
  };
  EXPECT_HAS(refusal(two("t", 64)), "tensor 't' is there twice");
  EXPECT_HAS(refusal(two("u", 0)), "overlap");
  EXPECT_HAS(refusal(two("u", 32)), "tensors 't' and 'u' overlap");
  parse(two("u", 64));

  Bytes b;
  b.text = "GGUF";
  b.plain(std::uint32_t(3)).plain(std::uint64_t(0)).plain(std::uint64_t(2));
  for (int i = 0; i < 2; ++i) b.string("k").plain(std::uint32_t(0)).plain(std::uint8_t(1));
  EXPECT_HAS(refusal(b.text), "key 'k' is there twice");
}

TEST(gguf, unknown_types_are_listed) {
  const std::string text = one_tensor({64}, 77, 0), known = one_tensor({256}, 16, 0);
  const GgufHeader h = parse(text);
  EXPECT_FALSE(h.tensors[0].bytes);
  EXPECT_EQ(ggml_type_name(h.tensors[0].type), "type 77");
  const GgufHeader k = parse(known);
  EXPECT_EQ(ggml_type_name(k.tensors[0].type), "IQ2_XXS");
  EXPECT_EQ(k.tensors[0].bytes, 66u);
}

TEST(gguf, a_tensor_of_unknown_size_must_start_in_the_file) {
  const std::string text = one_tensor({64}, 77, 0);
  EXPECT_HAS(refusal(text.substr(0, text.size() - 256)), "leaves the data, which has 0 bytes");
  EXPECT_HAS(refusal(text.substr(0, 60)), "leaves the data, which has 0 bytes");
  EXPECT_HAS(refusal(one_tensor({64}, 77, 256)), "leaves the data, which has 256 bytes");
  parse(one_tensor({64}, 77, 224));
}

TEST(gguf, every_dtype_of_ours_has_ggmls_size) {
  for (const DTypeInfo& t : all_dtypes())
    if (const GgmlType* g = ggml_type_of(t.id)) {
      EXPECT_EQ(t.name, g->name);
      EXPECT_EQ(t.block_elems, g->block_elems) << t.name;
      EXPECT_EQ(t.block_bytes, g->block_bytes) << t.name;
    }
}

TEST(gguf, deep_and_endless_arrays) {
  Bytes deep;
  deep.text = "GGUF";
  deep.plain(std::uint32_t(3)).plain(std::uint64_t(0)).plain(std::uint64_t(1)).string("k").plain(std::uint32_t(9));
  for (int i = 0; i < 100000; ++i) deep.plain(std::uint32_t(9)).plain(std::uint64_t(1));
  EXPECT_HAS(refusal(deep.text), "nests arrays more than 4 deep");

  Bytes endless;
  endless.text = "GGUF";
  endless.plain(std::uint32_t(3)).plain(std::uint64_t(0)).plain(std::uint64_t(1)).string("k").plain(std::uint32_t(9));
  endless.plain(std::uint32_t(8)).plain(~std::uint64_t(0)).pad(1024);
  EXPECT_HAS(refusal(endless.text), "cut short");
}

TEST(gguf, a_sparse_terabyte_of_nothing_is_refused_at_once) {
  TempFolder folder;
  Bytes b;
  b.text = "GGUF";
  b.plain(std::uint32_t(3)).plain(std::uint64_t(1) << 36).plain(std::uint64_t(1) << 36);
  write_bytes(folder / "f.gguf", b.text);
  std::error_code error;
  std::filesystem::resize_file(folder / "f.gguf", std::uint64_t(1) << 40, error);
  if (error) GTEST_SKIP() << "the file system has no sparse files of a terabyte";
  EXPECT_HAS(error_of([&] { open_gguf(folder / "f.gguf"); }), "metadata pairs are claimed");
}

TEST(gguf, what_is_written_is_read) {
  TempFolder folder;
  GgufPairs pairs;
  pairs.put_string("general.architecture", "llama");
  pairs.put_bool("b", true), pairs.put_u8("u8", 200), pairs.put_u16("u16", 65535), pairs.put_u64("u64", 1ull << 40);
  pairs.put_i32("i32", -5), pairs.put_f32("f32", 0.5f);
  pairs.put_strings("strings", std::vector<std::string>{"a", "", "c\n"});
  pairs.put_f32s("scores", std::vector<float>{1, -2.5f});
  const Bytes other = tiny_gguf();
  const GgufHeader o = parse_gguf(other.span(), "other");
  pairs.put(*o.metadata.find("a.nested")), pairs.put(*o.metadata.find("a.float"));
  const std::vector<TensorSpec> specs = {
      {"x", DType::f32, {2, 3}}, {"y", DType::q8_0, {2, 32}}, {"z", DType::bf16, {5}}};
  for (std::uint64_t alignment : {1, 32, 4096}) {
    GgufWriter writer(folder / "f.gguf", pairs, specs, alignment);
    EXPECT_FALSE(std::filesystem::exists(folder / "f.gguf") && alignment == 1);  // not before it is whole
    const std::string data = std::string(24, 'x') + std::string(68, 'y') + std::string(10, 'z');
    for (std::size_t at = 0; at < data.size(); at += 7)  // pieces across the borders
      writer.append(std::as_bytes(std::span(data).subspan(at, std::min<std::size_t>(7, data.size() - at))));
    writer.finish();
    const GgufFile file = open_gguf(folder / "f.gguf");
    EXPECT_EQ(file.metadata().get_u64("u64"), 1ull << 40);
    EXPECT_EQ(file.metadata().get_i64("i32"), -5);
    EXPECT_EQ(file.metadata().get_u64("u8"), 200u);
    EXPECT_EQ(file.metadata().get_f64("a.float"), 2.5);
    EXPECT_EQ(*++file.metadata().get_strings("strings").begin(), "");
    EXPECT_EQ(file.parts[0].header.alignment, alignment);
    for (const GgufTensor& t : file.parts[0].header.tensors)
      for (std::byte b : file.parts[0].file.subspan(t.offset, *t.bytes, "data")) EXPECT_EQ(char(b), t.name[0]);
  }
  EXPECT_HAS(error_of([&] {
               GgufWriter w(folder / "g", {}, {{"x", DType::q4_k, {2, 32}}});
             }),
             "needs a multiple of 256");
  EXPECT_HAS(error_of([&] { GgufWriter w(folder / "g", {}, {{"x", DType::f8_e4m3, {2}}}); }), "cannot hold F8_E4M3");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);  // no half files stay
}

void write_part(const std::filesystem::path& path, int number, int count, std::string_view tensor, int tensors_in_all) {
  GgufPairs pairs;
  pairs.put_u16("split.no", std::uint16_t(number)), pairs.put_u16("split.count", std::uint16_t(count));
  pairs.put_i32("split.tensors.count", tensors_in_all);
  GgufWriter writer(path, pairs, {{std::string(tensor), DType::f32, {1}}});
  const float value = float(number);
  writer.append(std::as_bytes(std::span(&value, 1)));
  writer.finish();
}

TEST(gguf, split_files_whichever_part_is_named) {
  TempFolder folder;
  const auto name = [&](int i) { return folder / fmt::format("m-{:05}-of-00003.gguf", i); };
  for (int i = 0; i < 3; ++i) write_part(name(i + 1), i, 3, fmt::format("t{}", i), 3);
  for (int i = 1; i <= 3; ++i) {
    const GgufFile file = open_gguf(name(i));
    ASSERT_EQ(file.parts.size(), 3u);
    for (std::size_t p = 0; p < 3; ++p) EXPECT_EQ(file.parts[p].header.tensors[0].name, fmt::format("t{}", p));
  }
  std::filesystem::copy_file(name(1), folder / "renamed.gguf");
  EXPECT_HAS(error_of([&] { open_gguf(folder / "renamed.gguf"); }), "its name must end in -00001-of-00003.gguf");
  write_part(name(2), 1, 3, "t0", 3);
  EXPECT_HAS(error_of([&] { open_gguf(name(1)); }), "tensor 't0' is also in");
  write_part(name(2), 2, 3, "t1", 3);
  EXPECT_HAS(error_of([&] { open_gguf(name(1)); }), "the parts are of different models");
  write_part(name(2), 1, 3, "t1", 3), write_part(name(1), 0, 3, "t0", 5);
  EXPECT_HAS(error_of([&] { open_gguf(name(1)); }), "split.tensors.count is 5, but the parts hold 3");
  std::filesystem::remove(name(2));
  EXPECT_HAS(error_of([&] { open_gguf(name(3)); }), "part 2 of 3 is missing");
}

TEST(gguf, reads_the_golden_files) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(goldens + "gguf")) {
    if (entry.path().extension() != ".gguf") continue;
    const GgufFile file = open_gguf(entry.path());
    EXPECT_EQ(file.metadata().get_string("tokenizer.ggml.model"), "none");
    const std::string architecture(file.metadata().get_string("general.architecture"));
    EXPECT_GT(file.metadata().get_u64(architecture + ".block_count"), 0u) << entry.path();
    EXPECT_GT(file.parts[0].header.tensors.size(), 10u);
    ++files;
  }
  EXPECT_EQ(files, 24);
}

}  // namespace
}  // namespace ridge::io
