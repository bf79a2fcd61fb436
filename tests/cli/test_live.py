"""The server of a live page: permitted clients, their number and time limits, and silence about clients that leave."""

import contextlib
import io
import os
import socket
import sys
import threading
import time
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(SOURCE, "python"))

from nbody6.errors import ReadError  # noqa: E402
from nbody6.plot import live  # noqa: E402

PAGE = "<html>the page: ☉</html>"


class LiveTest(unittest.TestCase):
    def serve(self, make=lambda: PAGE, patience_s=30):
        """A server that has made its page once; its stderr goes to self.said."""
        self.said = io.StringIO()
        redirected = contextlib.redirect_stderr(self.said)
        redirected.__enter__()
        self.addCleanup(redirected.__exit__, None, None, None)
        server = live.Server(live.Pages(make, lambda: []), 0, patience_s)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        self.addCleanup(server.server_close)
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        self.port = server.server_address[1]
        return server

    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        self.addCleanup(connection.close)
        return connection

    def answer(self, connection):
        """All that comes until the other side closes."""
        parts = []
        try:
            while True:
                part = connection.recv(1 << 16)
                if not part:
                    break
                parts.append(part)
        except ConnectionResetError:
            pass
        return b"".join(parts)

    def ask(self, host, method="GET", path="/", rest=""):
        """(status, headers as they came, body)"""
        connection = self.connect()
        lines = ["%s %s HTTP/1.1" % (method, path)] + (["Host: " + host] if host is not None else [])
        connection.sendall(("\r\n".join(lines) + rest + "\r\n\r\n").encode())
        head, _, body = self.answer(connection).partition(b"\r\n\r\n")
        return int(head.split()[1]), head.decode(), body

    def test_address_comes_first(self):
        """It is told before the page is made, which begins at once and not with the first browser."""
        told, made = [], threading.Event()

        def make():
            told.append("made")
            made.set()
            return PAGE

        class Once(live.Server):
            def serve_forever(self, *_):
                made.wait(60)

        server, live.Server = live.Server, Once
        try:
            live.serve(live.Pages(make, lambda: []), 0, told.append)
        finally:
            live.Server = server
        self.assertRegex(told[0], r"^http://127\.0\.0\.1:\d+/$")
        self.assertEqual(told[1:], ["made"])

    def test_hosts(self):
        """The three names of this machine with the port, in any case; a name that an attacker has lead here is refused,
        as is a request without one or with two."""
        self.serve()
        for host in ("127.0.0.1", "localhost", "LocalHost", "[::1]"):
            status, head, body = self.ask("%s:%d" % (host, self.port))
            self.assertEqual((status, body.decode()), (200, PAGE))
            self.assertIn("X-Content-Type-Options: nosniff", head)
            self.assertIn("Cache-Control: no-store", head)
        own = "localhost:%d" % self.port
        for host in (None, "", "localhost", "127.0.0.1", "localhost:%d" % (self.port + 1), "evil.example:%d" % self.port,
                     "localhost.evil.example:%d" % self.port, "127.0.0.1:%d@evil" % self.port,
                     "::1:%d" % self.port, own + "\r\nHost: evil.example"):
            for method in ("GET", "HEAD", "POST"):
                status, head, body = self.ask(host, method)
                self.assertEqual(status, 403, host)
                self.assertNotIn(b"the page:", body)
                self.assertIn("nosniff", head)

    def test_head_and_other_requests(self):
        self.serve()
        own = "127.0.0.1:%d" % self.port
        status, head, body = self.ask(own, "HEAD")
        self.assertEqual((status, body), (200, b""))
        self.assertIn("Content-Length: %d\r\n" % len(PAGE.encode()), head)
        self.assertEqual(self.ask(own, "GET", "/?again")[0], 200)
        for method, path, wanted in (("GET", "/etc/passwd", 404), ("HEAD", "/x", 404), ("GET", "//x", 404),
                                     ("GET", "http://evil.example/", 404), ("POST", "/", 501), ("DELETE", "/", 501)):
            status, head, body = self.ask(own, method, path)
            self.assertEqual(status, wanted)
            self.assertIn("nosniff", head)
            self.assertEqual(body == b"", method == "HEAD")
        self.assertEqual(self.said.getvalue(), "")

    def test_pages_that_cannot_be_made(self):
        """A message in the browser, a byte that is no character included; the next request tries again."""
        def make():
            for error in (ReadError("half a file: a\udcffb"), KeyError("x")):
                yield error

        errors = make()

        def fail():
            raise next(errors)

        self.serve(fail)
        own = "127.0.0.1:%d" % self.port
        self.assertEqual([self.ask(own)[::2] for _ in range(2)],
                         [(503, b"half a file: a?b"), (503, b"KeyError: 'x'")])
        self.assertEqual(self.said.getvalue(), "")

    def test_so_many_at_a_time(self):
        """One more is sent away; when one leaves there is room."""
        server = self.serve()
        self.assertEqual(live.MOST_CONNECTIONS, 16)
        waiting = [self.connect() for _ in range(live.MOST_CONNECTIONS)]
        while server.places._value:
            time.sleep(0.001)
        late = self.connect()
        self.assertRegex(self.answer(late), rb"^HTTP/1.0 503 |^$")  # nothing, if the reset came before
        waiting.pop().close()
        while not server.places._value:
            time.sleep(0.001)
        self.assertEqual(self.ask("localhost:%d" % self.port)[0], 200)
        for connection in waiting:
            connection.close()
        while server.places._value < live.MOST_CONNECTIONS:
            time.sleep(0.001)
        self.assertEqual(self.said.getvalue(), "")

    def test_so_long_each(self):
        """A client that sends nothing, sends a byte now and then, or reads nothing of a long answer is disconnected."""
        self.assertEqual(live.PATIENCE_S, 10)
        server = self.serve(lambda: "x" * (1 << 25), patience_s=0.3)
        silent, slow, full = (self.connect() for _ in range(3))
        full.sendall(b"GET / HTTP/1.0\r\nHost: localhost:%d\r\n\r\n" % self.port)
        try:
            while True:  # each byte on its own is in time
                slow.sendall(b"G")
                time.sleep(0.05)
        except OSError:
            pass
        self.assertEqual(self.answer(silent), b"")
        while server.places._value < live.MOST_CONNECTIONS:
            time.sleep(0.01)
        self.assertLess(len(self.answer(full)), 1 << 25)
        self.assertEqual(self.said.getvalue(), "")

    def test_clients_that_leave(self):
        """Before, within and after their request: no traceback."""
        server = self.serve(lambda: "x" * (1 << 24))
        for text in (b"", b"GET", b"GET / HTTP/1.1\r\nHost: loc", b"\xff\xfe\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                     b"GET / HTTP/1.0\r\nHost: localhost:%d\r\n\r\n" % self.port):
            connection = self.connect()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")  # a reset
            connection.sendall(text)
            connection.close()
        self.assertEqual(self.ask("localhost:%d" % self.port)[0], 200)
        while server.places._value < live.MOST_CONNECTIONS:
            time.sleep(0.001)
        self.assertEqual(self.said.getvalue(), "")


if __name__ == "__main__":
    unittest.main()
