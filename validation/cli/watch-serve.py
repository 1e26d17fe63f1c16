"""orrery watch --serve: the page of a run on the loopback interface, whatever clients send."""

import contextlib
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

import tap

CLUSTER = """
name = "cluster";
bodies = { initial = "plummer"; count = 32; seed = 7; };
physics = { softening = 0.05; };
time = { step = 0.001; end = %s; };
diagnostics = ( { type = "virial"; every = 1000; } );
"""
LONG = "1e6"  # hours


def finished(end="0.3", *options):
    pathlib.Path("run.cfg").write_text(CLUSTER % end)
    result = tap.run("run", "run.cfg", "-q", *options)
    assert result.returncode in (0, 1), result.stderr
    return "cluster.run"


@contextlib.contextmanager
def at_work():
    """A run that goes on until the end of the block."""
    pathlib.Path("run.cfg").write_text(CLUSTER % LONG)
    with subprocess.Popen([tap.ORRERY, "run", "run.cfg", "-q"]) as process:
        try:
            last = time.monotonic() + 60 * tap.PATIENCE
            while not pathlib.Path("cluster.run/virial.csv").exists():
                assert time.monotonic() < last and process.poll() is None
                time.sleep(0.05)
            yield process
        finally:
            process.kill()


def line_of(stream):
    """Its next line; what follows is left in the pipe, for communicate()."""
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(stream.fileno(), 1)):
        line += byte
    return line.decode()


@contextlib.contextmanager
def watcher(directory, *options, serve="--serve=0", **environment):
    """A watcher and its port, with a folder for temporary files of its own."""
    os.makedirs("temporary", exist_ok=True)
    with subprocess.Popen([tap.ORRERY, "watch", directory, serve, *options], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env={**os.environ, "TMPDIR": os.path.abspath("temporary"),
                               **environment}) as process:
        try:
            first = line_of(process.stdout)
            found = re.fullmatch(r"page +http://127\.0\.0\.1:(\d+)/ until Ctrl-C\n", first)
            assert found, (first, process.communicate())
            yield process, int(found[1])
        finally:
            process.kill()


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=60 * tap.PATIENCE)


def ask(port, request=b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"):
    """What is answered to these bytes: the status line, {header: value} and the body."""
    with connect(port) as client:
        client.sendall(request)
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    head, _, body = answer.partition(b"\r\n\r\n")
    line, *lines = head.decode().split("\r\n")
    headers = dict(one.split(": ", 1) for one in lines)
    assert not answer or int(headers["Content-Length"]) == len(body), (headers, len(body))
    return line, headers, body.decode()


def page(port, has, seconds=60):
    """The page as soon as it has these words."""
    last = time.monotonic() + seconds * tap.PATIENCE
    while True:
        line, headers, body = ask(port)
        assert line == "HTTP/1.1 200 OK", line
        if re.search(has, body):
            return headers, body
        assert time.monotonic() < last, body[:2000]
        time.sleep(0.1)


def content(directory):
    return {path.name: path.read_bytes() for path in pathlib.Path(directory).rglob("*")
            if path.is_file()}


def end(process, number=signal.SIGINT):
    process.send_signal(number)
    output, words = process.communicate(timeout=60 * tap.PATIENCE)
    assert os.listdir("temporary") == []
    return process.returncode, output, words


def test_a_finished_run():
    """the page of orrery report, until Ctrl-C; nothing is written into the directory of the run"""
    directory = finished()
    before = content(directory)
    with watcher(directory) as (process, port):
        headers, body = page(port, "</html>")
        assert headers["Content-Type"] == "text/html; charset=utf-8" and "Refresh" not in headers
        assert headers["Connection"] == "close" and headers["Cache-Control"] == "no-store"
        assert "<h1>" in body and "cluster" in body and "virial" in body
        time.sleep(1.5)  # it goes on
        assert ask(port)[2] == body
        status, output, words = end(process)
    assert status == 0 and "verdict" in output and words == "", (status, output, words)
    assert content(directory) == before and not pathlib.Path(directory, "plots").exists()


def test_no_link_leads_nowhere():
    """only the page is served: it has no links to the files of figures and to members' pages"""
    directory = finished("0.1", "-P", "sweep.0={ key=\"bodies.seed\"; values=[3, 5] }", "-o", "two")
    for path in ("two/001", "two"):
        assert tap.run("report", path).returncode in (0, 69)
    links = r'<a[^>]* href="([^"]*)'
    assert "001/report.html" in re.findall(links, pathlib.Path("two/report.html").read_text())
    with watcher("two") as (process, port):
        _, body = page(port, "</html>")
        assert set(re.findall("<a[^>]*>", body)) <= {"<a>"}, re.findall("<a[^>]*>", body)[:5]
        assert re.search("<td>(<a>)?001<", body), body[:4000]
        end(process)


def test_the_verdict_is_the_exit_status():
    """a run that failed: its page, and the exit status of the run after SIGTERM"""
    never = 'expect.0={ quantity="mean_virial_ratio"; at_most=1e-30 }'
    with watcher(finished("0.3", "-P", never)) as (process, port):
        assert "failed" in page(port, "</html>")[1]
        assert end(process, signal.SIGTERM)[0] == 1


def test_a_run_at_work():
    """the page is renewed as the run writes, asks browsers to come again, and then has the end"""
    with at_work() as run, watcher("cluster.run") as (process, port):
        headers, first = page(port, "</html>")
        assert int(headers["Refresh"]) >= 5, headers
        before = set(os.listdir("cluster.run"))
        assert not {name for name in before if "report" in name or name == "plots"}, before
        last = time.monotonic() + 300 * tap.PATIENCE  # drawing has a tenth of the time
        while ask(port)[2] == first:
            assert time.monotonic() < last
            time.sleep(0.05)
            run.send_signal(signal.SIGSTOP)  # takes no core meanwhile
            time.sleep(0.5)
            run.send_signal(signal.SIGCONT)
        pathlib.Path("cluster.run/stop").touch()
        assert run.wait(60 * tap.PATIENCE) == 75
        while "Refresh" in ask(port)[1]:
            assert time.monotonic() < last + 60
            time.sleep(0.2)
        assert "stopped" in ask(port)[2]
        names = set(os.listdir("cluster.run"))
        assert not {name for name in names if "report" in name or name == "plots"}, names
        assert end(process)[0] == 75


def test_while_the_page_is_drawn():
    """clients are answered, and Ctrl-C is obeyed at once; no gnuplot is left"""
    directory = finished()
    tools = pathlib.Path("tools")
    tools.mkdir()
    (tools / "gnuplot").write_text("#!/bin/sh\necho $$ >>\"%s\"\nexec sleep 300\n"
                                   % os.path.abspath("drawing"))
    (tools / "gnuplot").chmod(0o755)
    path = os.pathsep.join((str(tools.absolute()), os.environ["PATH"]))
    with watcher(directory, PATH=path) as (process, port):
        last = time.monotonic() + 60 * tap.PATIENCE
        while not pathlib.Path("drawing").exists():
            assert time.monotonic() < last
            time.sleep(0.02)
        begin = time.monotonic()
        headers, body = ask(port)[1:]
        assert headers["Refresh"] == "1" and "being drawn" in body, (headers, body)
        assert end(process)[0] == 0
        assert time.monotonic() - begin < 2 * tap.PATIENCE
    for number in pathlib.Path("drawing").read_text().split():
        status = pathlib.Path(f"/proc/{number}/stat")
        assert not status.exists() or status.read_text().rpartition(")")[2].split()[0] in "ZX"


def test_ctrl_c_ends_only_the_watching():
    """the run goes on, and the exit status is 0"""
    with at_work() as run, watcher("cluster.run") as (process, port):
        page(port, "</html>")
        assert end(process)[0] == 0 and run.poll() is None


ANSWERS = (
    (b"GET / HTTP/1.1\r\n\r\n", "200 OK"),
    (b"GET / HTTP/1.0\n\n", "200 OK"),
    (b"GET / HTTP/1.1\r\nHost: localhost:8080\r\nCookie: a=b\r\n\r\n", "200 OK"),
    (b"GET / HTTP/1.1\r\nhOsT:[::1]:80\r\n\r\n", "200 OK"),
    # A name of another site that was made to lead to this machine.
    (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "404 Not Found"),
    (b"GET / HTTP/1.1\r\nHost: localhost.evil.example\r\n\r\n", "404 Not Found"),
    (b"GET /run.json HTTP/1.1\r\n\r\n", "404 Not Found"),
    (b"GET /../../etc/passwd HTTP/1.1\r\n\r\n", "404 Not Found"),
    (b"GET // HTTP/1.1\r\n\r\n", "404 Not Found"),
    (b"GET http://evil.example/ HTTP/1.1\r\n\r\n", "404 Not Found"),
    (b"GET /?%n%s HTTP/1.1\r\n\r\n", "404 Not Found"),
    (b"HEAD / HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
    (b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\na=b", "405 Method Not Allowed"),
    (b"GETS / HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
    (b"get / HTTP/1.1\r\n\r\n", "400 Bad Request"),
    (b"GET /\r\n\r\n", "400 Bad Request"),
    (b"GET  HTTP/1.1\r\n\r\n", "400 Bad Request"),
    (b"GET / HTTP/2\r\n\r\n", "400 Bad Request"),
    (b"\r\n\r\n", "400 Bad Request"),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), "400 Bad Request"),  # TLS
    (b"\xff" * 100 + b"\n\n", "400 Bad Request"),
    (b"GET / HTTP/1.1\r\nA: " + b"a" * 20000, "431 Request Header Fields Too Large"),
    (b"a" * 8191, "431 Request Header Fields Too Large"),
)


def test_requests():
    """everything but GET of / is answered with an error, and the next request as if nothing were"""
    with watcher(finished()) as (process, port):
        body = page(port, "</html>")[1]
        for request, wanted in ANSWERS:
            line, headers, words = ask(port, request)
            assert line == f"HTTP/1.1 {wanted}", (request[:60], line)
            assert words == (body if wanted == "200 OK" else wanted), (request[:60], words[:60])
            assert headers.get("Allow") == ("GET" if wanted[:3] == "405" else None), headers
        assert ask(port)[2] == body
        assert end(process)[0] == 0


def test_bad_clients():
    """clients that are slow, silent, many or gone stop nobody else, and lose their connection"""
    with watcher(finished()) as (process, port):
        body = page(port, "</html>")[1]
        with contextlib.ExitStack() as stack:
            silent = [stack.enter_context(connect(port)) for _ in range(40)]
            for k, client in enumerate(silent):
                with contextlib.suppress(OSError):  # of 40 the first have gone
                    client.sendall(b"GET / HT"[:k % 9])
            assert ask(port)[2] == body
            with contextlib.suppress(ConnectionResetError):  # its place was another's
                assert silent[0].recv(10) == b""
            assert silent[-1].recv(10) == b""  # after five seconds
        for _ in range(100):  # gone before the answer, or within it
            client = connect(port)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            client.sendall(b"GET / HTTP/1.1\r\n\r\n")
            client.close()
        slow = connect(port)
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        slow.sendall(b"GET / HTTP/1.1\r\n\r\n")
        for _ in range(3):
            assert ask(port)[2] == body
        answer = b"".join(iter(lambda: slow.recv(500), b""))
        slow.close()
        assert answer.endswith(body.encode())
        with connect(port) as drip:  # a request byte by byte is one
            for byte in b"GET / HTTP/1.1\r\n\r\n":
                drip.sendall(bytes([byte]))
            assert drip.recv(15) == b"HTTP/1.1 200 OK"
        assert process.poll() is None and end(process)[0] == 0


def test_loopback_alone():
    """other interfaces of the machine do not reach the page"""
    with watcher(finished()) as (process, port):
        table = pathlib.Path("/proc/net/tcp")
        if not table.exists():
            raise tap.Skip("no /proc/net/tcp")
        # The state 0A is LISTEN; addresses are hexadecimal, the lowest byte first.
        listening = [line.split()[1] for line in table.read_text().splitlines()[1:]
                     if line.split()[3] == "0A"]
        assert f"0100007F:{port:04X}" in listening, listening
        assert len([one for one in listening if one.endswith(f":{port:04X}")]) == 1, listening
        assert end(process)[0] == 0


def test_errors():
    """a port that is taken, no port, both kinds of page, no run, and a broken one"""
    directory = finished()
    with watcher(directory) as (process, port):
        result = tap.run("watch", directory, f"--serve={port}")
        assert result.returncode == 69 and result.stdout == "", result
        assert f"--serve={port}: the port cannot be used: Address already in use; --serve=0" in \
            " ".join(result.stderr.split()), result.stderr
        assert end(process)[0] == 0
    with watcher(directory, serve=f"--serve={port}") as (process, same):  # free again at once
        assert same == port and end(process)[0] == 0
    for option in ("--serve=65536", "--serve=-1", "--serve=http", "--serve=1.5"):
        result = tap.run("watch", directory, option)
        assert result.returncode == 64 and "must be a port" in result.stderr, result
    result = tap.run("watch", directory, "--serve=0", "--report")
    assert result.returncode == 64 and "choose one" in result.stderr, result
    os.mkdir("empty")
    assert tap.run("watch", "empty", "--serve=0").returncode == 66
    for broken in ("{", "[]", "{\"program\": \"other\"}"):
        pathlib.Path("empty/run.json").write_text(broken)
        result = tap.run("watch", "empty", "--serve=0", env={**os.environ, "TMPDIR": "temporary"})
        assert result.returncode == 65 and "run.json" in result.stderr, (broken, result)
        assert os.listdir("temporary") == []
    assert tap.run("watch", directory, "--serve=0",
                   env={**os.environ, "TMPDIR": "nowhere"}).returncode == 73


tap.main()
