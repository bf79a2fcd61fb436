"""The page of a run that goes on, on the loopback address."""

import http.server
import os
import socket
import sys
import threading

from ..errors import ReadError

REFRESH_S = 10
MOST_CONNECTIONS = 16  # at a time; more are sent away
PATIENCE_S = 10  # in which a request has to be here as a whole, and then, in which its answer has to be taken
HOSTS = ("127.0.0.1", "localhost", "[::1]")  # that a browser may call this page by


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
                self.text, self.key = self.make().encode("utf-8", "replace"), key
            return self.text


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection, which has one request. The page is the only thing there is."""

    server_version, sys_version = "nbody6-plot", ""
    timer = None

    # ---- time: a client that says nothing, or takes nothing, does not keep its place

    def setup(self):
        super().setup()
        self.hurry()

    def finish(self):
        try:
            super().finish()
        finally:
            self.wait()

    def hurry(self):
        self.wait()
        self.timer = threading.Timer(self.server.patience_s, self.hang_up)
        self.timer.daemon = True
        self.timer.start()

    def wait(self):
        if self.timer:
            self.timer.cancel()

    def hang_up(self):
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    # ---- requests

    def parse_request(self):
        """Refuses requests under a foreign host name: a page elsewhere may let a browser ask here, by a name of its
        own that leads to this address."""
        if not super().parse_request():
            return False
        hosts, port = self.headers.get_all("Host") or [], self.server.server_address[1]
        known = ["%s:%d" % (host, port) for host in HOSTS] + (list(HOSTS) if port == 80 else [])
        if len(hosts) == 1 and hosts[0].strip().lower() in known:
            return True
        self.hurry()
        self.answer(403, "text/plain", b"this page is at http://127.0.0.1:%d/\n" % port)
        return False

    def do_GET(self):
        if self.path.split("?")[0] != "/":
            self.answer(404, "text/plain", b"there is nothing but the page /\n")
            return
        self.wait()
        status, kind, text = 200, "text/html", b""
        try:
            text = self.server.pages.get()
        except Exception as error:  # the next try may find the files whole
            said = str(error) if isinstance(error, ReadError) else "%s: %s" % (type(error).__name__, error)
            status, kind, text = 503, "text/plain", said.encode("utf-8", "replace")
        self.hurry()
        self.answer(status, kind, text)

    do_HEAD = do_GET

    def answer(self, status, kind, text):
        self.send_response(status)
        self.send_header("Content-Type", kind + "; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    def end_headers(self):
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def __init__(self, pages, port, patience_s=PATIENCE_S):
        self.pages, self.patience_s = pages, patience_s
        self.places = threading.BoundedSemaphore(MOST_CONNECTIONS)
        super().__init__(("127.0.0.1", port), Handler)

    def process_request(self, request, client_address):
        if not self.places.acquire(blocking=False):
            self.send_away(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread for it
            self.places.release()
            raise

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.places.release()

    def send_away(self, request):
        """Its few bytes have room in the socket: nobody is waited for."""
        try:
            request.setblocking(False)
            request.send(b"HTTP/1.0 503 Service Unavailable\r\nContent-Type: text/plain\r\nRetry-After: 10\r\n\r\n"
                         b"%d others look at this page\n" % MOST_CONNECTIONS)
        except OSError:
            pass
        self.shutdown_request(request)

    def handle_error(self, request, client_address):
        """A browser that leaves is no error."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            print("nbody6-plot: %s: %s" % (type(error).__name__, error), file=sys.stderr)


def prepare(pages):
    """Makes the page before a browser asks for it. An error waits for the browser, whose request meets it again."""
    try:
        pages.get()
    except Exception:
        pass


def serve(pages, port, said):
    """Serve until Ctrl-C.   port 0: any free one; said(address) is called first, and then the page is made"""
    with Server(pages, port) as server:
        said("http://127.0.0.1:%d/" % server.server_address[1])
        threading.Thread(target=prepare, args=(pages,), daemon=True).start()
        try:
            server.serve_forever(0.2)
        except KeyboardInterrupt:
            pass
