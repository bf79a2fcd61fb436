"""The page of a run that goes on, on the loopback address."""

import http.server
import os
import threading

REFRESH_S = 10


class Pages:
    """Makes the page anew when a browser asks and the run has written something since. One at a time."""

    def __init__(self, make, watched):
        self.make, self.watched = make, watched
        self.lock, self.key, self.text = threading.Lock(), None, b""

    def get(self):
        with self.lock:
            key = [(os.stat(path).st_mtime_ns, os.stat(path).st_size) if os.path.exists(path) else None
                   for path in self.watched()]
            if key != self.key:
                self.text, self.key = self.make().encode("utf-8"), key
            return self.text


def serve(pages, port, said):
    """Serve until Ctrl-C. The page is the only thing there is.   port 0: any free one; said(address) is called first"""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path.split("?")[0] != "/":
                self.send_error(404)
                return
            try:
                text, status = pages.get(), 200
            except Exception as error:  # the next try may find the files whole
                text, status = ("%s: %s" % (type(error).__name__, error)).encode("utf-8"), 503
            self.send_response(status)
            self.send_header("Content-Type", ("text/html" if status == 200 else "text/plain") + "; charset=utf-8")
            self.send_header("Content-Length", str(len(text)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        said("http://127.0.0.1:%d/" % server.server_address[1])
        try:
            server.serve_forever(0.2)
        except KeyboardInterrupt:
            pass
