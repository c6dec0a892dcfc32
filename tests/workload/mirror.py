"""A mirror of the archive on this machine, which misbehaves as it is told."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Mirror:
    """What is served, how badly, and what was asked for."""

    files: dict[str, bytes] = field(default_factory=dict)
    cut_after: int | None = None  # bytes of each answer, then the connection ends
    ranges: bool = True
    lengths: bool = True
    busy: int = 0  # so many answers are 503 first
    asked: list[tuple[str, str]] = field(default_factory=list)  # path and Range of each request
    url: str = ""


@contextmanager
def served(mirror: Mirror) -> Iterator[Mirror]:
    """Serve `mirror` on a free port while the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range", "")
            mirror.asked.append((self.path, asked))
            content = mirror.files.get(self.path.lstrip("/"))
            if mirror.busy:
                mirror.busy -= 1
                self.send_error(503)
                return
            if content is None:
                self.send_error(404)
                return
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and mirror.ranges else 0
            if start and start >= len(content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(content)}")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            self.send_response(206 if start else 200)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            if mirror.lengths:
                self.send_header("Content-Length", str(len(content) - start))
            self.send_header("Content-Encoding", "gzip")  # as servers say of .gz, though it is meant to stay packed
            self.end_headers()
            self.wfile.write(content[start:][: mirror.cut_after])
            self.close_connection = True

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    mirror.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield mirror
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
