"""A server that sends given bytes and notes those it receives. Of HTTP it knows only the end of a request."""
import socket
import struct
import threading
import time


class Server:
    """Sends what `answer` returns for the first segment of a request's path, `/<number>`."""

    def __init__(self, answer):
        self.answer = answer
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.host = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.base = "http://" + self.host
        self.requests = {}
        self.lock = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(20)
        try:
            request = self.receive(connection)
            if request is None:
                return connection.close()
            head, body = request
            target = head.split(b"\r\n")[0].split(b" ")[1].decode("latin-1")
            path = target.partition("://")[2].partition("/")[2] if "://" in target else target.lstrip("/")
            number = path.partition("/")[0]
            key = number.partition("?")[0].partition("#")[0]
            with self.lock:
                self.requests.setdefault(key, []).append((head, body))
            pieces, then = self.answer(key, target)
            for piece in pieces:
                connection.sendall(piece)
                if len(pieces) > 3:
                    time.sleep(0)
            if then == "silence":
                while connection.recv(65536):
                    pass
            if then == "reset":
                # What was sent arrives before the reset does.
                time.sleep(0.05)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                connection.shutdown(socket.SHUT_WR)
                # Unread bytes would turn the close into a reset.
                while connection.recv(65536):
                    pass
        except (OSError, IndexError):
            pass
        connection.close()

    def receive(self, connection):
        data = b""
        while b"\r\n\r\n" not in data:
            chunk = connection.recv(65536)
            if not chunk:
                return None
            data += chunk
        head, _, body = data.partition(b"\r\n\r\n")
        fields = {}
        for line in head.split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            fields[name.strip().lower()] = value.strip().lower()
        if fields.get(b"expect") == b"100-continue":
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        if b"chunked" in fields.get(b"transfer-encoding", b""):
            while not body.endswith(b"0\r\n\r\n"):
                chunk = connection.recv(65536)
                if not chunk:
                    break
                body += chunk
            body = self.joined(body)
        length = int(fields.get(b"content-length", b"0"))
        while len(body) < length:
            chunk = connection.recv(65536)
            if not chunk:
                break
            body += chunk
        return head, body

    @staticmethod
    def joined(body):
        joined = b""
        while body:
            size, _, body = body.partition(b"\r\n")
            count = int(size.split(b";")[0] or b"0", 16)
            if count == 0:
                break
            joined += body[:count]
            body = body[count + 2:]
        return joined
