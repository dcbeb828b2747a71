"""A small Hugging Face hub on loopback, and the other host that it keeps large files on. Both can be told to misbehave."""
import hashlib
import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import quote, unquote, urlsplit

LARGE = (".gguf", ".safetensors")  # what git-lfs keeps


def git_hash(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def blob_name(name, data):
    return hashlib.sha256(data).hexdigest() if name.endswith(LARGE) else git_hash(data)


class Repo:
    def __init__(self, files, commit="c" * 40, refs=("main",)):
        self.files, self.commit, self.refs = dict(files), commit, set(refs)
        self.names = None  # what the list of files claims, where that is not the truth

    def listing(self):
        names = list(self.files) if self.names is None else self.names
        return {"id": "x", "sha": self.commit,
                "siblings": [{"rfilename": n, **({"size": len(self.files[n])} if n in self.files else {})} for n in names]}


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, hub, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.hub = hub
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def handle_error(self, request, address):
        pass  # a client that goes away


class Hub:
    """`faults` maps "METHOD FILE" (GET model.gguf; LIST org/name for the file list; CDN model.gguf for the other host's
    answer) to functions that take the handler and answer in the place of the truth; one that returns False lets it pass."""

    def __init__(self):
        self.repos, self.faults, self.requests = {}, {}, []
        self.lock = threading.Lock()
        self.server, self.cdn = Server(self, HubHandler), Server(self, CdnHandler)
        self.endpoint = f"http://127.0.0.1:{self.server.server_port}"
        self.cdn_endpoint = f"http://127.0.0.1:{self.cdn.server_port}"

    def close(self):
        for server in (self.server, self.cdn):
            server.shutdown()
            server.server_close()

    def record(self, who, handler):
        with self.lock:
            self.requests.append((who, handler.command, unquote(handler.path), dict(handler.headers)))

    def asked(self, who, method, part=""):
        return [r for r in self.requests if r[0] == who and r[1] == method and part in r[2]]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def fault(self, key):
        function = self.server.hub.faults.get(key)
        return function is not None and function(self) is not False

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if not any(name.lower() == "content-length" for name, _ in headers):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_file(self, data, etag, headers=()):
        """With Range and If-Range, as servers do."""
        headers = [("ETag", f'"{etag}"'), *headers]
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        condition = self.headers.get("If-Range")
        if not wanted or (condition and condition != f'"{etag}"'):
            return self.answer(200, data, headers)
        first = int(wanted[1])
        if first >= len(data):
            return self.answer(416, b"", [("Content-Range", f"bytes */{len(data)}")])
        self.answer(206, data[first:], headers + [("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")])

    def hang_up(self):
        self.close_connection = True
        self.wfile.flush()
        self.connection.shutdown(2)


class HubHandler(Handler):
    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        hub = self.server.hub
        hub.record("hub", self)
        path = urlsplit(self.path).path
        listed = re.fullmatch(r"/api/models/(.+)/revision/([^/]+)", path)
        if listed:
            return self.list(listed[1], unquote(listed[2]))
        file = re.fullmatch(r"/(.+)/resolve/([^/]+)/(.+)", path)
        if file:
            return self.resolve(file[1], unquote(file[2]), unquote(file[3]))
        self.answer(404)

    def list(self, name, revision):
        if self.fault(f"LIST {name}"):
            return
        repo = self.server.hub.repos.get(name)
        if repo is None:
            return self.answer(401, b"", [("X-Error-Code", "RepoNotFound")])
        if revision not in repo.refs and revision != repo.commit:
            return self.answer(404, b"", [("X-Error-Code", "RevisionNotFound")])
        self.answer(200, json.dumps(repo.listing()).encode(), [("Content-Type", "application/json")])

    def resolve(self, name, revision, file):
        if self.fault(f"{self.command} {file}"):
            return
        repo = self.server.hub.repos.get(name)
        if repo is None or revision not in repo.refs | {repo.commit} or file not in repo.files:
            return self.answer(404, b"", [("X-Error-Code", "EntryNotFound")])
        data = repo.files[file]
        etag = blob_name(file, data)
        commit = [("X-Repo-Commit", repo.commit)]
        if not file.endswith(LARGE):
            return self.send_file(data, etag, commit)
        location = f"{self.server.hub.cdn_endpoint}/{etag}/{quote(file)}?Signature=SECRET"
        self.answer(302, b"", commit + [("X-Linked-Etag", f'"{etag}"'), ("X-Linked-Size", str(len(data))), ("Location", location)])


class CdnHandler(Handler):
    def do_GET(self):
        hub = self.server.hub
        hub.record("cdn", self)
        etag, file = unquote(urlsplit(self.path).path)[1:].split("/", 1)
        if self.fault(f"CDN {file}"):
            return
        for repo in list(hub.repos.values()):
            if file in repo.files and blob_name(file, repo.files[file]) == etag:
                return self.send_file(repo.files[file], "an-etag-of-the-other-host")
        self.answer(403)


# ---- faults

def first_times(count, fault):
    """The fault for the first requests, then the truth."""
    left = [count]

    def function(handler):
        left[0] -= 1
        return left[0] >= 0 and fault(handler)
    return function


def status(code, *headers):
    return lambda handler: handler.answer(code, b"trouble", list(headers))


def redirect(location):
    return lambda handler: handler.answer(302, b"", [("Location", location)])


def drop_after(data, count):
    """Promises everything from where it was asked to go on, and hangs up after `count` bytes."""
    def function(handler):
        wanted = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        first = int(wanted[1]) if wanted else 0
        handler.send_response(206 if wanted else 200)
        if wanted:
            handler.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        handler.send_header("Content-Length", str(len(data) - first))
        handler.end_headers()
        handler.wfile.write(data[first:first + count])
        handler.hang_up()
    return function


def without_length(data):
    """Sends this and closes, as HTTP/1.0 did."""
    def function(handler):
        handler.send_response(200)
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.write(data)
        handler.close_connection = True
    return function


def slowly(data, piece=64 << 10, pause=0.02):
    def function(handler):
        wanted = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range", ""))
        first = int(wanted[1]) if wanted else 0
        handler.send_response(206 if wanted else 200)
        if wanted:
            handler.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
        handler.send_header("Content-Length", str(len(data) - first))
        handler.end_headers()
        for at in range(first, len(data), piece):
            handler.wfile.write(data[at:at + piece])
            time.sleep(pause)
    return function


def stall(seconds, length, before):
    """Promises `length` bytes, sends the first ones and then nothing."""
    def function(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(length))
        handler.end_headers()
        handler.wfile.write(before)
        handler.wfile.flush()
        time.sleep(seconds)
        handler.hang_up()
    return function
