#!/usr/bin/env python3
"""Runs the service against a server, and checks from outside what it promises: check.py <the built program>

  1. Wiring.swift has fewer than 30 lines of code.
  2. Spans, metrics and the header fields of requests are those of what the server saw.
  3. SIGTERM while a request is in flight: the request completes, no other is sent, and the exit code is 0.
  4. SIGTERM while a request is in flight that the server never answers: the process ends within the limit of 3 s, with code 0.
  5. No secret is in the output.
"""
import http.server
import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

LINES = 30
DRAIN = 3
SECRET = "s3cret"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        server = self.server
        self.rfile.read(int(self.headers["Content-Length"]))
        server.seen.append((self.path, dict(self.headers)))
        if self.path == "/last":
            server.arrived.set()
            server.released.wait(30)
            if server.is_over:
                self.close_connection = True
                return
            return self.answer(200, b"thank you")
        if self.path == "/accepted":
            return self.answer(200, b"ok")
        first = [path for path, _ in server.seen].count(self.path) == 1
        return self.answer(503, b"busy") if first else self.answer(307, b"", Location="/accepted")

    def answer(self, status, body, **fields):
        self.send_response(status)
        for name, value in {**fields, "Content-Length": len(body)}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.seen, self.arrived, self.released, self.is_over = [], threading.Event(), threading.Event(), False
        threading.Thread(target=self.serve_forever, daemon=True).start()


def main():
    count()
    program = sys.argv[1]
    output, seconds, seen = run(program, answers=True)
    expect(output[:2], ["no more reports", "last report: thank you"], "the output")
    expect([path.partition("?")[0] for path, _ in seen], ["/report", "/report", "/accepted", "/last"], "the requests")
    telemetry = json.loads(output[2])
    check_spans(telemetry["spans"], seen)
    check_metrics(telemetry["metrics"])
    print(f"The request in flight completed after SIGTERM; the exit code was 0 after {seconds:.1f} s. Spans and metrics are right.")
    output, seconds, _ = run(program, answers=False)
    expect(output[:2], ["no more reports", "last report: shutDown"], "the output")
    if not DRAIN - 0.1 <= seconds < DRAIN + 5:
        sys.exit(f"Without an answer the service ended after {seconds:.1f} s instead of {DRAIN} s.")
    print(f"Without an answer the service ended {seconds:.1f} s after SIGTERM, with exit code 0; the limit is {DRAIN} s.")


def count():
    """Counts the lines of the wiring that are neither blank nor comments."""
    text = (Path(__file__).parent / "Sources/service/Wiring.swift").read_text()
    lines = [line for line in map(str.strip, text.splitlines()) if line and not line.startswith("//")]
    print(f"Wiring.swift: {len(lines)} lines of code, imports included")
    if len(lines) >= LINES:
        sys.exit(f"The wiring has {LINES} lines of code or more.")


def run(program, answers):
    """Runs the service until its last request is in flight, then asks it to end. Returns its output, the seconds from that until
    its end, and the requests."""
    server = Server()
    service = subprocess.Popen([program, f"http://127.0.0.1:{server.server_port}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        if not server.arrived.wait(20):
            sys.exit("The service sends no last report.")
        began = time.monotonic()
        service.send_signal(signal.SIGTERM)
        # The first line shows that the shutdown has begun.
        first = service.stdout.readline()
        if answers:
            if service.poll() is not None:
                sys.exit("The service did not wait for the request in flight.")
            server.released.set()
        output, log = service.communicate(timeout=30)
        seconds = time.monotonic() - began
    finally:
        service.kill()
        server.is_over = True
        server.released.set()
        server.shutdown()
    text = (first + output).decode()
    if service.returncode != 0:
        sys.exit(f"The exit code is {service.returncode}.\n{text}{log.decode()}")
    if SECRET in text + log.decode():
        sys.exit(f"A secret is in the output.\n{text}{log.decode()}")
    expect(b"Fetch succeeded" in log and b"Attempt failed" in log, True, "the log has the fetches")
    if not any(f"Bearer {SECRET}" == fields.get("Authorization") for _, fields in server.seen):
        sys.exit("The secret was not sent, so nothing was shown about it.")
    return text.splitlines(), seconds, server.seen


def check_spans(spans, seen):
    expect([span["name"] for span in spans], ["POST", "reports", "POST"], "the spans")
    first, caller, last = spans
    expect([first["parent"], last["parent"]], [caller["id"]] * 2, "the parents of the spans")
    expect(first["events"], ["http.retry", "http.redirect"], "the events of the first span")
    expect("200" in first["attributes"]["http.response.status_code"], True, "the status of the first span")
    sent = [fields["in-memory-span-id"] for _, fields in seen]
    expect(sent, [first["id"]] * 3 + [last["id"]], "the contexts of spans in the requests")


def check_metrics(metrics):
    statuses = {}
    for metric in metrics:
        if metric["name"] == "http.client.request.duration":
            statuses[metric["labels"].get("http.response.status_code")] = metric["value"]
    expect(statuses, {"503": 1, "307": 1, "200": 2}, "the requests by status")
    for name in ("http.client.active_requests", "http.client.open_connections"):
        expect({metric["value"] for metric in metrics if metric["name"] == name}, {0}, name)
    closed = [metric["value"] for metric in metrics if metric["name"] == "http.client.connection.duration"]
    expect(len(closed) == 1 and closed[0] >= 1, True, "the connections that were closed")


def expect(seen, wanted, what):
    if seen != wanted:
        sys.exit(f"{what}: {seen} instead of {wanted}")


if __name__ == "__main__":
    main()
