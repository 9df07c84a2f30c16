"""Wheels with the layout of real ones, where the real one is huge, and the index that serves them."""

import base64
import functools
import hashlib
import http.server
import re
import threading
import zipfile
from pathlib import Path


def record_line(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    quoted = '"' + name.replace('"', '""') + '"' if set(name) & set(',"\n') else name
    return f"{quoted},sha256={digest},{len(data)}\n"


def make_wheel(directory, name, version, files, requires=(), tag="py3-none-any", headers=""):
    """`files`: path in site-packages -> text or bytes. Returns the wheel's path."""
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n" + headers + "".join(
        f"Requires-Dist: {requirement}\n" for requirement in requires) + "\nText\n"
    whole = {**files, f"{info}/METADATA": metadata,
             f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: bdist_wheel (0.43.0)\n"
                              f"Root-Is-Purelib: {'true' if tag.endswith('any') else 'false'}\nTag: {tag}\n"}
    path = directory / f"{stem}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        lines = []
        for file, content in whole.items():
            data = content.encode() if isinstance(content, str) else content
            wheel.writestr(zipfile.ZipInfo(file, (2024, 1, 1, 0, 0, 0)), data)
            lines.append(record_line(file, data))
        wheel.writestr(f"{info}/RECORD", "".join(lines) + f"{info}/RECORD,,\n")
    return path


class Index:
    """A PEP 503 index of a directory of wheels, on the loopback. Use as a context manager."""

    def __init__(self, directory):
        self.directory = Path(directory)

    def __enter__(self):
        root = self.directory

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                found = re.fullmatch(r"/simple/([^/]+)/?", self.path)
                if not found:
                    super().do_GET()
                    return
                wanted = re.sub(r"[-_.]+", "-", found[1]).lower()
                links = "".join(
                    f'<a href="/{file.name}">{file.name}</a>\n' for file in sorted(root.glob("*.whl"))
                    if re.sub(r"[-_.]+", "-", file.name.split("-")[0]).lower() == wanted)
                body = f"<!DOCTYPE html><html><body>{links}</body></html>".encode()
                self.send_response(200 if links else 404)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(Handler, directory=str(root)))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/simple/"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
