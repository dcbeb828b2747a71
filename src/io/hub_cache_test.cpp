#include "io/hub_cache.h"

#include "io/cached_models.h"
#include "io/file_lock.h"
#include "io/find_model.h"
#include "io/folder.h"
#include "io/hostile_files_test.h"

namespace ridge::io {
namespace {

namespace fs = std::filesystem;
const std::string one = std::string(40, '1'), two = std::string(40, '2');

// A cache with files as huggingface_hub lays them out.
class Cache {
 public:
  void add(const std::string& repo, const std::string& commit, const std::string& file, const std::string& hash,
           std::size_t bytes) {
    const fs::path folder = hub() / repo_folder(repo);
    fs::create_directories(folder / "blobs");
    write_bytes(folder / "blobs" / hash, std::string(bytes, 'x'));
    link_blob(folder, commit, file, hash);
  }
  void ref(const std::string& repo, const std::string& revision, const std::string& commit) {
    write_ref(hub() / repo_folder(repo), revision, commit);
  }
  fs::path hub() const { return folder_.path() / "hub"; }
  fs::path own() const { return folder_.path() / "ridge"; }
  fs::path outside(const std::string& name) const { return folder_.path() / name; }
  CacheFolders folders() const { return {hub(), own()}; }
  fs::path find(const std::string& name) const { return find_model(name, folders()); }

 private:
  TempFolder folder_;
};

TEST(hub_cache, links_and_refs_are_as_python_makes_them) {
  Cache c;
  c.add("org/name", one, "config.json", "aa", 3);
  c.add("org/name", one, "sub/deep/model.gguf", "bb", 5);
  c.ref("org/name", "main", one);
  c.ref("org/name", "refs/pr/1", one);
  const fs::path repo = c.hub() / "models--org--name";
  EXPECT_EQ(fs::read_symlink(repo / "snapshots" / one / "config.json"), "../../blobs/aa");
  EXPECT_EQ(fs::read_symlink(repo / "snapshots" / one / "sub/deep/model.gguf"), "../../../../blobs/bb");
  EXPECT_EQ(read_bytes(repo / "refs/main"), one);
  EXPECT_EQ(read_bytes(repo / "refs/refs/pr/1"), one);
  const auto read = cached_repo(c.hub(), "org/name");
  ASSERT_TRUE(read && read->snapshots.size() == 1);
  EXPECT_EQ(read->snapshots[0].refs, (std::vector<std::string>{"main", "refs/pr/1"}));
  ASSERT_EQ(read->snapshots[0].files.size(), 2u);
  EXPECT_EQ(read->snapshots[0].files[1].name, "sub/deep/model.gguf");
  EXPECT_EQ(read->snapshots[0].files[1].blob, repo / "blobs/bb");
  EXPECT_EQ(read->snapshots[0].bytes(), 8u);
  int left = 0;  // nothing temporary stays
  for (const auto& e : fs::directory_iterator(repo))
    left += e.path().filename() != "blobs" && e.path().filename() != "refs" && e.path().filename() != "snapshots";
  EXPECT_EQ(left, 0);
}

TEST(hub_cache, a_link_in_the_place_of_a_folder_is_not_followed) {
  Cache c;
  c.add("org/name", one, "config.json", "aa", 3);
  fs::create_directory(c.outside("elsewhere"));
  fs::create_directory_symlink(c.outside("elsewhere"), c.hub() / "models--org--name/snapshots" / one / "sub");
  EXPECT_HAS(error_of([&] { link_blob(c.hub() / "models--org--name", one, "sub/x.json", "aa"); }),
             "a link is not followed");
  EXPECT_TRUE(fs::is_empty(c.outside("elsewhere")));
}

TEST(hub_cache, revisions) {
  Cache c;
  c.add("org/name", one, "m.gguf", "aa", 3);
  EXPECT_EQ(c.find("org/name"), c.hub() / "models--org--name/snapshots" / one / "m.gguf");  // the only one
  c.add("org/name", two, "m.gguf", "bb", 3);
  EXPECT_HAS(error_of([&] { c.find("org/name"); }),
             "several revisions are in the cache; name one: org/name@111111111111, org/name@222222222222");
  c.ref("org/name", "main", two);
  c.ref("org/name", "v1", one);
  EXPECT_HAS(c.find("org/name").string(), two);
  EXPECT_HAS(c.find("org/name@v1").string(), one);
  EXPECT_HAS(c.find("org/name@" + one).string(), one);
  EXPECT_HAS(c.find("org/name@1111111").string(), one);
  EXPECT_HAS(error_of([&] { c.find("org/name@v2"); }),
             "org/name@v2: is not in the cache; 'ridge pull org/name --revision v2' fetches it");
}

TEST(find_model, names_and_short_names) {
  Cache c;
  c.add("org/Folder", one, "config.json", "aa", 3);
  c.add("org/Folder", one, "model.safetensors", "bb", 3);
  c.add("org/Files", one, "a-Q4_0.gguf", "aa", 3);
  c.add("org/Files", one, "a-Q8_0.gguf", "bb", 3);
  c.add("other/Same", one, "b.gguf", "aa", 3);
  c.add("org/Same", one, "c.gguf", "aa", 3);
  fs::create_directory(c.own());
  write_bytes(c.own() / "Own.Q4_1.gguf", "x");
  write_bytes(c.own() / "b.gguf", "x");
  const fs::path hub = c.hub();
  const auto in = [&](const char* repo, const char* file) {
    return hub / repo_folder(repo) / "snapshots" / one / file;
  };
  EXPECT_EQ(c.find("org/Folder"), hub / "models--org--Folder/snapshots" / one);
  EXPECT_EQ(c.find("Folder"), hub / "models--org--Folder/snapshots" / one);
  EXPECT_EQ(c.find("folder"), hub / "models--org--Folder/snapshots" / one);
  EXPECT_EQ(c.find("org/Folder:config.json"), in("org/Folder", "config.json"));
  EXPECT_EQ(c.find("org/Files:q8_0"), in("org/Files", "a-Q8_0.gguf"));
  EXPECT_EQ(c.find("Files:a-Q4_0.gguf"), in("org/Files", "a-Q4_0.gguf"));
  EXPECT_EQ(c.find("a-Q4_0"), in("org/Files", "a-Q4_0.gguf"));
  EXPECT_EQ(c.find("c.gguf"), in("org/Same", "c.gguf"));
  EXPECT_EQ(c.find("Own.Q4_1"), c.own() / "Own.Q4_1.gguf");
  EXPECT_EQ(c.find("own.q4_1.gguf"), c.own() / "Own.Q4_1.gguf");
  EXPECT_HAS(error_of([&] { c.find("Files"); }),
             "in the cache, org/Files: has 2 GGUF models; name one, or its type (org/Files:Q4_K_M): "
             "org/Files:a-Q4_0.gguf (3.00 B), org/Files:a-Q8_0.gguf (3.00 B)");
  EXPECT_HAS(error_of([&] { c.find("org/Files:Q2_K"); }), "'ridge pull org/Files:Q2_K' fetches it");
  EXPECT_HAS(error_of([&] { c.find("Same"); }),
             "several models in the caches are called so; name one: org/Same, other/Same");
  EXPECT_HAS(error_of([&] { c.find("b"); }), "several models in the caches");
  EXPECT_HAS(error_of([&] { c.find("org/none"); }), "'ridge pull org/none' fetches it from the hub");
  EXPECT_HAS(error_of([&] { c.find("none.gguf"); }), "none.gguf: there is no such file or folder");
  for (const char* odd : {"", "../none", "/none", "org/Files:../../x", "a\nb"})
    EXPECT_HAS(error_of([&] { c.find(odd); }), "there is no such file or folder");
}

TEST(find_model, a_path_that_is_there_wins) {
  Cache c;
  c.add("org/name", one, "m.gguf", "aa", 3);
  const fs::path before = fs::current_path();
  fs::create_directories(c.outside("work/org"));
  write_bytes(c.outside("work/org/name"), "x");
  fs::current_path(c.outside("work"));
  EXPECT_EQ(c.find("org/name"), "org/name");
  fs::current_path(before);
}

TEST(cached_models, what_there_is) {
  Cache c;
  c.add("org/Folder", one, "config.json", "aa", 3);
  c.add("org/Folder", one, "model.safetensors", "bb", 30);
  c.ref("org/Folder", "main", one);
  c.add("org/Files", two, "a-00001-of-00002.gguf", "aa", 4);
  c.add("org/Files", two, "a-00002-of-00002.gguf", "bb", 5);
  write_bytes(c.hub() / "models--org--Files/blobs/cc.incomplete", "1234567");
  fs::create_directory(c.own());
  write_bytes(c.own() / "Own.gguf", "123456");
  write_bytes(c.own() / "ceilings.json", "{}");
  const auto models = cached_models(c.folders());
  ASSERT_EQ(models.size(), 4u);
  const auto text = [](const CachedModel& m) {
    return fmt::format("{} {} {} {} {}", m.name, m.revision, m.format, m.files.size(), m.bytes);
  };
  EXPECT_EQ(text(models[0]), "Own  GGUF 1 6");
  EXPECT_EQ(text(models[1]), "org/Files:a-00001-of-00002.gguf 222222222222 GGUF 2 9");
  EXPECT_EQ(text(models[2]), "org/Folder main safetensors 2 33");
  EXPECT_EQ(text(models[3]), "org/Files  unfinished 1 7");
  for (const CachedModel& m : std::span(models).first(3)) EXPECT_EQ(c.find(m.name), m.path);
  EXPECT_TRUE(cached_models({c.outside("none"), ""}).empty());
  EXPECT_EQ(bytes_on_disk(c.folders()), 33u + 9 + 7 + 6);
  c.add("org/Files", one, "b.gguf", "aa", 4);  // the same blob once more
  EXPECT_EQ(bytes_on_disk(c.folders()), 33u + 9 + 7 + 6);
}

TEST(cached_models, removing_a_file_keeps_blobs_that_others_need) {
  Cache c;
  c.add("org/name", one, "a-Q4_0.gguf", "aa", 10);
  c.add("org/name", one, "a-Q8_0.gguf", "bb", 20);
  c.add("org/name", two, "a-Q8_0.gguf", "bb", 20);
  c.ref("org/name", "main", one);
  c.ref("org/name", "v2", two);
  const fs::path repo = c.hub() / "models--org--name";
  Removal r = plan_removal("org/name@main:Q8_0", c.folders());  // v2 still has it
  EXPECT_EQ(r.bytes, 0u);
  remove(r);
  EXPECT_TRUE(fs::exists(repo / "blobs/bb"));
  EXPECT_FALSE(fs::exists(repo / "snapshots" / one / "a-Q8_0.gguf"));
  r = plan_removal("org/name:Q8_0", c.folders());
  EXPECT_EQ(r.bytes, 20u);
  remove(r);
  EXPECT_FALSE(fs::exists(repo / "blobs/bb"));
  EXPECT_FALSE(fs::exists(repo / "refs/v2"));  // its snapshot had nothing else
  EXPECT_FALSE(fs::exists(repo / "snapshots" / two));
  EXPECT_TRUE(fs::exists(repo / "blobs/aa"));
  EXPECT_HAS(error_of([&] { plan_removal("org/name:Q8_0", c.folders()); }), "has no file or GGUF model called 'Q8_0'");
  remove(plan_removal("name:Q4_0", c.folders()));
  EXPECT_FALSE(fs::exists(repo));
}

TEST(cached_models, removing_a_repository_or_an_own_file) {
  Cache c;
  c.add("org/name", one, "m.gguf", "aa", 10);
  c.add("org/other", one, "m.gguf", "aa", 10);
  write_bytes(c.hub() / "models--org--name/blobs/cc.incomplete", "1234567");
  fs::create_directory(c.own());
  write_bytes(c.own() / "Own.gguf", "123456");
  const Removal r = plan_removal("org/name", c.folders());
  EXPECT_EQ(r.bytes, 17u);
  {
    FileLock busy;
    ASSERT_TRUE(busy.try_lock(c.hub() / ".locks/models--org--name/cc.lock"));
    EXPECT_HAS(error_of([&] { remove(r); }), "is being downloaded; nothing was removed");
    EXPECT_TRUE(fs::exists(c.hub() / "models--org--name/snapshots" / one / "m.gguf"));
  }
  remove(r);
  EXPECT_FALSE(fs::exists(c.hub() / "models--org--name"));
  EXPECT_TRUE(fs::exists(c.hub() / "models--org--other/blobs/aa"));
  const Removal own = plan_removal("Own", c.folders());
  EXPECT_EQ(own.bytes, 6u);
  remove(own);
  EXPECT_FALSE(fs::exists(c.own() / "Own.gguf"));
  EXPECT_HAS(error_of([&] { plan_removal("org/name", c.folders()); }), "no model in the caches is called so");
}

TEST(cached_models, removal_never_goes_through_a_link) {
  Cache c;
  c.add("org/name", one, "m.gguf", "aa", 10);
  c.add("org/name", one, "n.gguf", "bb", 10);
  fs::create_directories(c.outside("precious"));
  write_bytes(c.outside("precious/file"), "x");
  const fs::path snapshot = c.hub() / "models--org--name/snapshots" / one;
  fs::create_symlink(c.outside("precious/file"), snapshot / "evil.gguf");
  fs::create_directory_symlink(c.outside("precious"), snapshot / "folder");
  const Removal r = plan_removal("org/name:evil.gguf", c.folders());
  EXPECT_EQ(r.bytes, 0u);
  remove(r);
  EXPECT_FALSE(fs::is_symlink(snapshot / "evil.gguf"));
  EXPECT_TRUE(fs::exists(c.outside("precious/file")));
  remove(plan_removal("org/name", c.folders()));
  EXPECT_TRUE(fs::exists(c.outside("precious/file")));

  c.add("org/linked", one, "m.gguf", "aa", 10);
  fs::rename(c.hub() / "models--org--linked", c.outside("moved"));
  fs::create_directory_symlink(c.outside("moved"), c.hub() / "models--org--linked");
  EXPECT_HAS(error_of([&] { plan_removal("org/linked", c.folders()); }),
             "is a link, which is not followed; remove it by hand");
  EXPECT_EQ(c.find("org/linked").filename(), "m.gguf");  // reading is another thing
}

TEST(hub_cache, blobs_that_repositories_share) {  // as huggingface_hub 2 keeps them
  Cache c;
  c.add("org/name", one, "config.json", "aa", 3);
  fs::create_directories(c.hub() / "blobs/ff");
  write_bytes(c.hub() / "blobs/ff/ffff", "shared");
  const fs::path repo = c.hub() / "models--org--name", snapshot = repo / "snapshots" / one;
  fs::create_symlink("../../blobs/ff/ffff", repo / "blobs/bb");
  fs::create_symlink("../../blobs/bb", snapshot / "model.safetensors");
  EXPECT_HAS(error_of([&] { file_in(snapshot, "model.safetensors"); }), "leaves its folder");
  write_bytes(c.hub() / "blobs/.huggingface-shared-blobs", "1\n");
  EXPECT_EQ(file_in(snapshot, "model.safetensors"), snapshot / "model.safetensors");
  remove(plan_removal("org/name", c.folders()));
  EXPECT_TRUE(fs::exists(c.hub() / "blobs/ff/ffff"));  // whoever else refers to it
}

}  // namespace
}  // namespace ridge::io
