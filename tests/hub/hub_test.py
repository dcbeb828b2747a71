"""ridge pull, ridge models and names as model arguments, against a hub on loopback that misbehaves (hub_server.py).
Needs RIDGE, the program; ./test hub sets it."""
import fcntl
import json
import lzma
import os
import random
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

import hub_server as server
from hub_server import Hub, Repo, blob_name, git_hash

ROOT = Path(__file__).resolve().parents[2]
RIDGE = os.environ["RIDGE"]
COMMIT = "c" * 40
TOKEN = "hf_very_secret"


def random_bytes(count, seed=1):
    return random.Random(seed).randbytes(count)


def golden(folder):
    return {p.name: p.read_bytes() for p in (ROOT / "tests/goldens" / folder).iterdir() if p.name != "golden.safetensors"}


WEIGHTS = random_bytes(1 << 20)
FOLDER = {"config.json": b'{"model_type": "x"}', "tokenizer.json": b"{}", "model.safetensors": WEIGHTS, "README.md": b"# x\n",
          "pytorch_model.bin": b"pickle", "modeling_x.py": b"import os"}


class HubTest(unittest.TestCase):
    def setUp(self):
        self.hub = Hub()
        self.addCleanup(self.hub.close)
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.home = Path(scratch.name)
        self.cache = self.home / "hub"
        self.environment = {k: v for k, v in os.environ.items()
                            if not k.startswith(("HF_", "HUGGING", "XDG_")) and not k.lower().endswith("_proxy")}
        self.environment |= {"HOME": str(self.home), "HF_HUB_CACHE": str(self.cache), "HF_ENDPOINT": self.hub.endpoint}

    def start(self, *arguments, **variables):
        return subprocess.Popen([RIDGE, *arguments], cwd=self.home, env=self.environment | variables, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")

    def finish(self, process):
        out, err = process.communicate(timeout=60)
        self.assertNotIn(TOKEN, out + err)
        self.assertNotIn("SECRET", out + err)  # signatures of addresses
        self.assertNotIn("bug in ridge", err)
        return process.returncode, out, err

    def ridge(self, *arguments, **variables):
        return self.finish(self.start(*arguments, **variables))

    def pulled(self, *arguments, **variables):
        code, out, err = self.ridge("pull", *arguments, "--json", **variables)
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def refused(self, *arguments, **variables):
        """What is said on standard error by a pull that could not be done."""
        code, _, err = self.ridge("pull", *arguments, "--retries", "1", **variables)
        self.assertEqual(code, 2, err)
        return err

    def repo(self, name="org/name"):
        return self.cache / ("models--" + name.replace("/", "--"))

    def snapshot(self, name="org/name", commit=COMMIT):
        """File name -> contents, as the cache has them."""
        folder = self.repo(name) / "snapshots" / commit
        return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}

    def left_over(self):
        """Files that only a download under way may have."""
        return [p.name for p in self.cache.rglob("*") if p.suffix == ".incomplete" or p.name.startswith((".new", ".link"))]

    def one(self, files=None, name="org/name", **more):
        self.hub.repos[name] = Repo(FOLDER if files is None else files, **more)
        return self.hub.repos[name]


class WhatIsPulled(HubTest):
    def test_safetensors_and_what_belongs_to_them(self):
        self.one()
        code, out, err = self.ridge("pull", "org/name")
        self.assertEqual(code, 0, err)
        self.assertIn("not fetched, since they could execute code: pytorch_model.bin, modeling_x.py", err)
        wanted = {n: FOLDER[n] for n in ("config.json", "tokenizer.json", "model.safetensors")}
        self.assertEqual(self.snapshot(), wanted)
        repo = self.repo()
        self.assertEqual((repo / "refs/main").read_text(), COMMIT)
        self.assertEqual({p.name for p in (repo / "blobs").iterdir()}, {blob_name(n, d) for n, d in wanted.items()})
        self.assertEqual(os.readlink(repo / "snapshots" / COMMIT / "config.json"), "../../blobs/" + git_hash(FOLDER["config.json"]))
        self.assertTrue((self.cache / ".locks/models--org--name" / (blob_name("model.safetensors", WEIGHTS) + ".lock")).exists())
        self.assertEqual(self.left_over(), [])

    def test_the_second_time_nothing_comes(self):
        self.one()
        first, second = self.pulled("org/name"), self.pulled("org/name")
        self.assertEqual(first["fetched_bytes"], first["bytes"])
        self.assertEqual(first["bytes"], len(WEIGHTS) + 19 + 2)
        self.assertEqual(first["path"], str(self.repo() / "snapshots" / COMMIT))
        self.assertEqual(first["not_fetched"], ["pytorch_model.bin", "modeling_x.py"])
        self.assertEqual((second["fetched_bytes"], second["bytes"]), (0, first["bytes"]))
        self.assertEqual(len(self.hub.asked("cdn", "GET")), 1)

    def test_a_new_commit_shares_blobs(self):
        self.one()
        self.pulled("org/name")
        self.one(FOLDER | {"config.json": b"[]"}, commit="d" * 40)
        self.assertEqual(self.pulled("org/name")["fetched_bytes"], 2)
        self.assertEqual((self.repo() / "refs/main").read_text(), "d" * 40)
        self.assertEqual(self.snapshot()["config.json"], FOLDER["config.json"])

    def test_revisions(self):
        self.one(refs=["refs/pr/1", "v1"])
        self.assertEqual(self.pulled("org/name", "--revision", "refs/pr/1")["commit"], COMMIT)
        self.assertEqual((self.repo() / "refs/refs/pr/1").read_text(), COMMIT)
        self.pulled("org/name@v1")
        self.pulled("org/name", "--revision", COMMIT)
        self.assertFalse((self.repo() / "refs" / COMMIT).exists())
        self.assertIn("org/name: has no such revision", self.refused("org/name"))

    def test_shards_that_the_index_names(self):
        shards = {f"model-0000{i}-of-00002.safetensors": random_bytes(1000, i) for i in (1, 2)}
        index = json.dumps({"weight_map": {"a": list(shards)[0], "b": list(shards)[1], "c": list(shards)[0]}}).encode()
        self.one({"config.json": b"{}", "consolidated.safetensors": b"x" * 5000, "model.safetensors.index.json": index, **shards})
        self.pulled("org/name")
        self.assertEqual(self.snapshot(), {"config.json": b"{}", "model.safetensors.index.json": index, **shards})
        (self.repo() / "snapshots" / COMMIT / list(shards)[0]).unlink()
        self.assertIn("names the shard 'model-00001-of-00002.safetensors', which is not there", self.refused("org/name", "--offline"))

    def test_an_index_that_names_what_is_not_there(self):
        for shard in ("../../../evil", "/etc/passwd", "modeling_x.py", "missing.safetensors"):
            index = json.dumps({"weight_map": {"a": shard}}).encode()
            self.one({"config.json": b"{}", "a.safetensors": b"", "b.safetensors": b"", "modeling_x.py": b"", "model.safetensors.index.json": index},
                     commit=git_hash(index))
            self.assertIn("which is not there", self.refused("org/name"))

    def test_one_gguf_of_several(self):
        files = {f"m-{t}.gguf": random_bytes(2000, i) for i, t in enumerate(("Q4_K_M", "Q4_K_S", "Q8_0"))}
        self.one(files | {"config.json": b"{}"})
        err = self.refused("org/name")
        self.assertIn("has 3 GGUF models", err)
        self.assertIn("org/name:m-Q4_K_M.gguf (1.95 KiB)", err)
        self.pulled("org/name:q8_0")
        self.pulled("org/name:m-Q4_K_S.gguf")
        self.assertEqual(set(self.snapshot()), {"m-Q8_0.gguf", "m-Q4_K_S.gguf"})
        self.assertIn("has no file or GGUF model called 'Q2_K'", self.refused("org/name:Q2_K"))

    def test_every_part_of_a_split_gguf(self):
        files = {f"BF16/m-BF16-0000{i}-of-00003.gguf": random_bytes(500, i) for i in (1, 2, 3)}
        self.one(files)
        done = self.pulled("org/name:BF16/m-BF16-00002-of-00003.gguf")
        self.assertEqual(self.snapshot(), files)
        self.assertEqual(Path(done["path"]).name, "m-BF16-00001-of-00003.gguf")

    def test_nothing_that_executes(self):
        self.one({"config.json": b"{}", "pytorch_model.bin": b"x"})
        self.assertIn("pickled ('pytorch_model.bin'), which could execute code", self.refused("org/name"))
        self.assertIn("is not fetched, since it could execute code", self.refused("org/name:pytorch_model.bin"))
        self.one({"config.json": b"{}", "model.safetensors": b"x", "run.exe": b"x"})
        self.assertIn("'run.exe' is not fetched", self.refused("org/name:run.exe"))
        self.assertEqual(self.hub.asked("hub", "GET", "/resolve/"), [])

    def test_an_empty_file(self):
        self.one({"config.json": b"{}", "model.safetensors": b"", "merges.txt": b""})
        self.pulled("org/name")
        self.assertEqual(self.snapshot(), {"config.json": b"{}", "model.safetensors": b"", "merges.txt": b""})

    def test_names_that_need_escapes(self):
        self.one({"sub folder/m 100%#?é+Q4_0.gguf": WEIGHTS})
        self.pulled("org/name")
        self.assertEqual(list(self.snapshot()), ["sub folder/m 100%#?é+Q4_0.gguf"])


class Tokens(HubTest):
    def authorized(self):
        return {(r[0], r[3].get("Authorization")) for r in self.hub.requests}

    def test_the_token_goes_to_the_endpoint_alone(self):
        self.one()
        self.pulled("org/name", HF_TOKEN=TOKEN)
        self.assertEqual(self.authorized(), {("hub", f"Bearer {TOKEN}"), ("cdn", None)})

    def test_not_even_to_the_same_port_of_another_name(self):
        self.one()
        other = f"http://localhost:{self.hub.server.server_port}/elsewhere"
        for key in ("GET config.json", "HEAD config.json", "LIST org/name"):
            self.hub.faults = {key: server.redirect(other)}
            self.refused("org/name", HF_TOKEN=TOKEN)
            elsewhere = self.hub.asked("hub", self.hub.requests[-1][1], "/elsewhere")
            self.assertTrue(elsewhere, key)
            self.assertEqual({r[3].get("Authorization") for r in elsewhere}, {None}, key)

    def test_a_redirect_within_the_endpoint_keeps_it(self):
        self.one()
        self.hub.repos["new/name"] = self.hub.repos["org/name"]
        self.hub.faults = {"LIST org/name": server.redirect("/api/models/new/name/revision/main")}
        self.pulled("org/name", HF_TOKEN=TOKEN)
        self.assertEqual({r[3].get("Authorization") for r in self.hub.asked("hub", "GET", "new/name")}, {f"Bearer {TOKEN}"})

    def test_a_token_in_a_file(self):
        self.one()
        (self.home / "token").write_text(TOKEN + "\n")
        self.pulled("org/name", HF_TOKEN_PATH=str(self.home / "token"))
        self.assertIn(("hub", f"Bearer {TOKEN}"), self.authorized())

    def test_what_is_said_without_a_token_and_with_a_wrong_one(self):
        self.assertIn("org/none: the hub has no such model, or shows it only to who is allowed to see it: set HF_TOKEN", self.refused("org/none"))
        self.assertIn("the token of HF_TOKEN does not do", self.refused("org/none", HF_TOKEN=TOKEN))
        self.one()
        self.hub.faults = {"HEAD config.json": server.status(403, ("X-Error-Message", "Access to it is \x1b[31mrestricted"))}
        err = self.refused("org/name")
        self.assertIn(f"ask for it at {self.hub.endpoint}/org/name", err)
        self.assertNotIn("\x1b", err)


class Connections(HubTest):
    def whole(self):
        self.assertEqual(self.snapshot()["model.safetensors"], WEIGHTS)
        self.assertEqual(self.left_over(), [])

    def ranges(self, who="cdn"):
        return [r[3].get("Range") for r in self.hub.asked(who, "GET") if "model.safetensors" in r[2] or who == "hub"]

    def test_dropped_in_the_middle(self):
        self.one()
        self.hub.faults = {"CDN model.safetensors": server.first_times(3, server.drop_after(WEIGHTS, 200_000))}
        self.pulled("org/name")
        self.whole()
        self.assertEqual(self.ranges(), [None, "bytes=200000-", "bytes=400000-", "bytes=600000-"])

    def test_a_small_file_resumes_under_its_etag(self):
        text = b" " * 300_000 + b"{}"
        self.one(FOLDER | {"tokenizer.json": text})
        self.hub.faults = {"GET tokenizer.json": server.first_times(1, server.drop_after(text, 100_000))}
        self.pulled("org/name")
        again = [r for r in self.hub.asked("hub", "GET", "tokenizer.json") if "Range" in r[3]]
        self.assertEqual([(r[3]["Range"], r[3]["If-Range"]) for r in again], [("bytes=100000-", f'"{git_hash(text)}"')])
        self.assertEqual(self.snapshot()["tokenizer.json"], text)

    def test_dropped_too_often(self):
        self.one()
        self.hub.faults = {"CDN model.safetensors": server.drop_after(WEIGHTS, 1000)}
        self.assertIn("the 2000 bytes that are there stay, and the same command goes on from them", self.refused("org/name"))
        self.assertEqual(len(self.left_over()), 1)
        self.hub.faults = {}
        self.assertEqual(self.pulled("org/name")["files"][-1]["fetched_bytes"], len(WEIGHTS) - 2000)
        self.whole()

    def test_truncated_without_a_length(self):
        self.one()
        self.hub.faults = {"CDN model.safetensors": server.first_times(1, server.without_length(WEIGHTS[:300_000]))}
        self.pulled("org/name")
        self.whole()
        self.assertEqual(self.ranges(), [None, "bytes=300000-"])

    def test_more_than_there_should_be(self):
        self.one()
        self.hub.faults = {"CDN model.safetensors": server.without_length(WEIGHTS + b"more")}
        self.assertIn("sends more than the 1048576 bytes", self.refused("org/name"))

    def test_lies_about_the_length(self):
        self.one()
        for claimed in (10, len(WEIGHTS) + 1, 1 << 62):
            self.hub.faults = {"CDN model.safetensors": lambda h, n=claimed: h.answer(200, WEIGHTS[:10], [("Content-Length", str(n))])}
            self.assertIn(f"sends {claimed} bytes from byte 0, but the hub says that it has 1048576", self.refused("org/name"))
        self.assertNotIn("model.safetensors", self.snapshot())

    def test_a_server_that_ignores_range(self):
        self.one()
        drop, ignore = server.first_times(1, server.drop_after(WEIGHTS, 200_000)), lambda h: h.answer(200, WEIGHTS)
        self.hub.faults = {"CDN model.safetensors": lambda h: self.chain(h, drop, ignore)}
        self.assertEqual(self.pulled("org/name")["files"][-1]["fetched_bytes"], len(WEIGHTS) + 200_000)
        self.whole()

    def test_a_server_that_goes_on_elsewhere(self):
        self.one()
        drop = server.first_times(1, server.drop_after(WEIGHTS, 200_000))
        elsewhere = lambda h: h.answer(206, WEIGHTS[5:], [("Content-Range", f"bytes 5-{len(WEIGHTS) - 1}/{len(WEIGHTS)}")])
        self.hub.faults = {"CDN model.safetensors": lambda h: self.chain(h, drop, *([elsewhere] if h.headers.get("Range") else []))}
        self.pulled("org/name")
        self.whole()
        self.assertEqual(self.ranges(), [None, "bytes=200000-", None])

    def chain(self, handler, *faults):
        return any(fault(handler) is not False for fault in faults)

    def test_a_wrong_hash(self):
        self.one()
        self.hub.faults = {"CDN model.safetensors": lambda h: h.answer(200, WEIGHTS[::-1])}
        err = self.refused("org/name")
        self.assertIn("has SHA-256", err)
        self.assertIn("but the hub says " + blob_name("model.safetensors", WEIGHTS), err)
        self.assertEqual(self.left_over(), [])
        self.assertNotIn("model.safetensors", self.snapshot())
        self.hub.faults = {"GET config.json": lambda h: h.answer(200, FOLDER["config.json"].upper())}
        self.one(commit="e" * 40)
        (self.repo() / "blobs" / git_hash(FOLDER["config.json"])).unlink()
        self.assertIn("has git's SHA-1", self.refused("org/name"))

    def test_a_damaged_remainder_is_fetched_anew(self):
        self.one()
        (self.repo() / "blobs").mkdir(parents=True)
        part = self.repo() / "blobs" / (blob_name("model.safetensors", WEIGHTS) + ".incomplete")
        for remainder in (b"junk" * 1000, b"junk" * 1_000_000, WEIGHTS[:-1] + b"?"):
            part.write_bytes(remainder)
            self.pulled("org/name")
            self.whole()
            (self.repo() / "blobs" / blob_name("model.safetensors", WEIGHTS)).unlink()

    def test_a_blob_of_the_wrong_size_is_fetched_anew(self):
        self.one()
        self.pulled("org/name")
        (self.repo() / "blobs" / blob_name("model.safetensors", WEIGHTS)).write_bytes(WEIGHTS[:100])
        self.pulled("org/name")
        self.whole()

    def test_a_server_in_trouble(self):
        self.one()
        self.hub.faults = {"LIST org/name": server.first_times(2, server.status(503)), "HEAD config.json": server.first_times(1, server.status(500)),
                           "CDN model.safetensors": server.first_times(1, server.status(502))}
        self.pulled("org/name")
        self.whole()
        self.hub.faults = {"LIST org/name": server.status(500)}
        self.assertIn("answers 500", self.refused("org/name"))

    def test_too_many_requests(self):
        self.one()
        self.hub.faults = {"HEAD config.json": server.first_times(1, server.status(429, ("Retry-After", "1")))}
        begin = time.monotonic()
        code, _, err = self.ridge("pull", "org/name")
        self.assertEqual(code, 0, err)
        self.assertGreaterEqual(time.monotonic() - begin, 1)
        self.assertIn("trying again in 1 s, as asked", err)
        self.hub.faults = {"HEAD config.json": server.status(429, ("Retry-After", "7200"))}
        self.assertIn("the hub asks to wait 7200 s", self.refused("org/name"))

    def test_a_transfer_that_stands_still(self):
        self.one()
        self.hub.faults = {"CDN model.safetensors": server.first_times(1, server.stall(6, len(WEIGHTS), WEIGHTS[:1000]))}
        self.pulled("org/name", HF_HUB_DOWNLOAD_TIMEOUT="1")
        self.whole()
        self.assertEqual(self.ranges(), [None, "bytes=1000-"])

    def test_nobody_there(self):
        self.hub.close()
        begin = time.monotonic()
        self.assertIn("no answer", self.refused("org/name"))
        self.assertLess(time.monotonic() - begin, 20)

    def test_redirects_that_lead_nowhere(self):
        self.one()
        for location, said in ((self.hub.endpoint + "/org/name/resolve/" + COMMIT + "/config.json", "more than 10 redirects"), ("file:///etc/passwd", ""), ("ftp://127.0.0.1/x", "")):
            self.hub.faults = {"GET config.json": server.redirect(location)}
            self.assertIn(said, self.refused("org/name"))
        self.assertEqual(self.snapshot() if self.repo().joinpath("snapshots").exists() else {}, {})


class Hostile(HubTest):
    def test_file_names(self):
        for name in ("../evil.json", "a/../../evil.json", "/etc/evil.json", "a//b.json", "a/./b", "bell\a.json", "new\nline", "nul\0.json", "", "..", "back\\slash", "x" * 300, "\x1b[2J.gguf"):
            self.one().names = ["config.json", name]
            self.assertIn("is not a plain path below the repository", self.refused("org/name"), name)
        self.assertEqual([p for p in self.home.rglob("*") if p.is_file()], [])

    def test_lists_that_make_no_sense(self):
        deep = b"[" * 100_000
        for body in (b"", b"no json", deep, b"{}", b"[]", b"null", b'{"sha": "main", "siblings": []}', b'{"sha": 1, "siblings": []}',
                     b'{"sha": "%s"}' % COMMIT.encode(), b'{"sha": "%s", "siblings": {}}' % COMMIT.encode(), b'{"sha": "%s", "siblings": [1]}' % COMMIT.encode(),
                     b'{"sha": "%s", "siblings": [{"rfilename": 5}]}' % COMMIT.encode(), b'{"sha": "../%s", "siblings": []}' % COMMIT[3:].encode()):
            self.hub.faults = {"LIST org/name": lambda h, b=body: h.answer(200, b)}
            self.assertIn("error: " + self.hub.endpoint + "/api/models/org/name", self.refused("org/name"), body[:50])

    def test_hashes_and_sizes(self):
        self.one()
        location = ("Location", self.hub.cdn_endpoint + "/x")
        good = ("X-Linked-Etag", f'"{blob_name("model.safetensors", WEIGHTS)}"')
        for headers, said in (
                ([location, ("X-Linked-Etag", '"../../evil"'), ("X-Linked-Size", "5")], "gives no hash of it (ETag '../../evil')"),
                ([location, ("X-Linked-Etag", '"d41d8cd98f00b204e9800998ecf8427e-3"'), ("X-Linked-Size", "5")], "gives no hash of it"),
                ([location, good], "does not say how large it is"),
                ([location, good, ("X-Linked-Size", "-5")], "does not say how large it is"),
                ([location, good, ("X-Linked-Size", "99999999999999999999999")], "does not say how large it is"),
                ([location, good, ("X-Linked-Size", str(1 << 62))], "on the disk of")):
            self.hub.faults = {"HEAD model.safetensors": lambda h, x=headers: h.answer(302, b"", x)}
            self.assertIn(said, self.refused("org/name"))
        self.hub.faults = {"HEAD tokenizer.json": lambda h: h.answer(200, b"", [("ETag", '"' + "a" * 40 + '"'), ("Content-Length", str(1 << 40))])}
        self.assertIn("are the most of a file that holds no weights", self.refused("org/name"))

    def test_a_link_in_the_cache_is_not_followed(self):
        self.one({"sub/m.gguf": WEIGHTS})
        (self.home / "elsewhere").mkdir()
        (self.repo() / "snapshots" / COMMIT).mkdir(parents=True)
        (self.repo() / "snapshots" / COMMIT / "sub").symlink_to(self.home / "elsewhere")
        self.assertIn("a link is not followed there", self.refused("org/name"))
        self.assertEqual(list((self.home / "elsewhere").iterdir()), [])

    def test_a_link_in_the_place_of_a_remainder(self):
        self.one()
        (self.home / "precious").write_text("x")
        (self.repo() / "blobs").mkdir(parents=True)
        (self.repo() / "blobs" / (blob_name("model.safetensors", WEIGHTS) + ".incomplete")).symlink_to(self.home / "precious")
        self.assertIn("cannot be opened", self.refused("org/name"))
        self.assertEqual((self.home / "precious").read_text(), "x")

    def test_headers_without_end(self):
        self.hub.faults = {"LIST org/name": lambda h: h.answer(200, b"{}", [(f"X-{i}", "x" * 1000) for i in range(90)] * 5)}
        self.refused("org/name")

    def test_names_of_models(self):
        for name in ("../../x", "a/b/c", "org/name:../x", "org/name:", "org/name@..", "-x", "https://evil/x"):
            code, _, err = self.ridge("pull", "--", name)
            self.assertEqual(code, 2)
            self.assertIn("is not a model of the hub", err)
        self.assertIn("--revision a b: is not the name", self.refused("org/name", "--revision", "a b"))
        self.assertIn("both name a revision", self.refused("org/name@v1", "--revision", "v2"))


class Together(HubTest):
    def test_two_at_once_fetch_once(self):
        data = random_bytes(4 << 20)
        self.one({"m.gguf": data})
        self.hub.faults = {"CDN m.gguf": server.slowly(data)}
        ends = [self.finish(p) for p in [self.start("pull", "org/name") for _ in range(3)]]
        self.assertEqual([e[0] for e in ends], [0, 0, 0], ends)
        self.assertEqual(len(self.hub.asked("cdn", "GET")), 1)
        self.assertEqual(self.snapshot(), {"m.gguf": data})

    def test_python_holds_the_lock(self):
        self.one({"m.gguf": WEIGHTS})
        lock = self.cache / ".locks/models--org--name" / (blob_name("m.gguf", WEIGHTS) + ".lock")
        lock.parent.mkdir(parents=True)
        with open(lock, "w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            process = self.start("pull", "org/name")
            line = process.stderr.readline()
            self.assertIn("another process is fetching 'm.gguf'; waiting", line)
            self.assertEqual(self.hub.asked("cdn", "GET"), [])
            (self.repo() / "blobs" / blob_name("m.gguf", WEIGHTS)).write_bytes(WEIGHTS)
        self.assertEqual(self.finish(process)[0], 0)
        self.assertEqual(self.hub.asked("cdn", "GET"), [])

    def test_interrupted_and_resumed(self):
        data = random_bytes(8 << 20)
        self.one({"m.gguf": data})
        self.hub.faults = {"CDN m.gguf": server.first_times(1, server.slowly(data, pause=0.05))}
        part = self.repo() / "blobs" / (blob_name("m.gguf", data) + ".incomplete")
        process = self.start("pull", "org/name")
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not (part.exists() and part.stat().st_size > 300_000):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        code, _, err = self.finish(process)
        self.assertEqual(code, 2)
        self.assertIn("interrupted; what came stays, and the same command goes on from there", err)
        there = part.stat().st_size
        self.assertTrue(300_000 < there < len(data))
        self.assertEqual(part.read_bytes(), data[:there])
        _, out, _ = self.ridge("models")
        self.assertIn("unfinished", out)
        self.assertEqual(self.pulled("org/name")["fetched_bytes"], len(data) - there)
        self.assertEqual(self.hub.asked("cdn", "GET")[-1][3]["Range"], f"bytes={there}-")
        self.assertEqual(self.snapshot(), {"m.gguf": data})
        self.assertEqual(self.left_over(), [])

    def test_removing_what_is_being_pulled(self):
        data = random_bytes(4 << 20)
        self.one({"m.gguf": data})
        self.hub.faults = {"CDN m.gguf": server.slowly(data)}
        process = self.start("pull", "org/name")
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not self.left_over():
            time.sleep(0.01)
        code, _, err = self.ridge("models", "remove", "org/name", "--yes")
        self.assertEqual((code, "is being downloaded" in err), (2, True), err)
        self.assertEqual(self.finish(process)[0], 0)


class Offline(HubTest):
    def test_what_is_in_the_cache(self):
        self.one()
        self.assertIn("is not in the cache", self.refused("org/name", "--offline"))
        self.assertEqual(self.hub.requests, [])
        self.pulled("org/name")
        asked = len(self.hub.requests)
        for how in (dict(HF_HUB_OFFLINE="1"), {}):
            done = self.pulled("org/name", *([] if how else ["--offline"]), **how)
            self.assertEqual((done["fetched_bytes"], done["bytes"], done["commit"]), (0, len(WEIGHTS) + 21, COMMIT))
        self.assertEqual(len(self.hub.requests), asked)


class Names(HubTest):
    """Every verb takes what was pulled by its name, without a hub."""

    def setUp(self):
        super().setUp()
        self.one(golden("models/llama3"), "org/folder")
        self.one({"small.F32.gguf": (ROOT / "tests/goldens/gguf/qwen2.f32.gguf").read_bytes()}, "org/file")
        self.one({"tokenizer.model": lzma.decompress((ROOT / "tests/goldens/tokenizers/sentencepiece_plain.model.xz").read_bytes())}, "org/tok")
        self.pulled("org/folder")
        self.pulled("org/file")
        self.pulled("org/tok:tokenizer.model")
        (self.home / "ids.json").write_text("[1, 2, 3]")
        (self.home / "text.txt").write_text("hello hello hello " * 20)
        self.environment |= {"HF_ENDPOINT": "http://127.0.0.1:1", "RIDGE_CEILINGS": str(self.home / "ceilings.json")}

    def test_every_verb(self):
        verbs = (("inspect",), ("explain", "--on", "h200"), ("logits", "--ids", "ids.json", "--out", "x.safetensors"))
        for verb, *flags in verbs:
            for name in ("org/folder", "folder", "org/file", "org/file:f32", "file:small.F32.gguf", "small.F32", "small.f32.gguf"):
                code, _, err = self.ridge(verb, name, *flags)
                self.assertEqual(code, 0, f"{verb} {name}: {err}")
        for command in (("tokenize", "org/tok"), ("tokenize", "tok:tokenizer.model"), ("convert", "org/file", "--type", "q8_0", "--out", "y.gguf")):
            code, _, err = self.ridge(*command)
            self.assertEqual(code, 0, f"{command}: {err}")
        for verb in ("run", "profile", "template", "perplexity"):  # whatever it then says of this little model, it found it
            code, _, err = self.ridge(verb, "org/none", *(["text.txt"] if verb == "perplexity" else []))
            self.assertIn("'ridge pull org/none' fetches it from the hub", err)

    def test_models_and_remove(self):
        code, out, _ = self.ridge("models", "--json")
        models = {m["name"]: m for m in json.loads(out)["models"]}
        self.assertEqual(set(models), {"org/folder", "org/file:small.F32.gguf", "org/tok"})
        self.assertEqual(models["org/folder"]["format"], "safetensors")
        self.assertEqual(models["org/folder"]["revision"], "main")
        self.assertEqual(models["org/folder"]["bytes"], sum(len(d) for d in self.snapshot("org/folder").values()))
        code, _, err = self.ridge("models", "remove", "org/folder")
        self.assertEqual((code, "--yes agrees" in err), (2, True), err)
        code, out, err = self.ridge("models", "remove", "org/folder", "--yes", "--json")
        self.assertEqual(code, 0, err)
        self.assertEqual(json.loads(out)["freed_bytes"], models["org/folder"]["bytes"])
        self.assertFalse(self.repo("org/folder").exists())
        self.assertTrue(self.repo("org/file").exists())


if __name__ == "__main__":
    unittest.main()
