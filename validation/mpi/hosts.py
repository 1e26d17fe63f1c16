"""One job on two hosts: network namespaces of this machine, with a wire between them."""

import os
import pathlib
import shutil
import signal
import subprocess

import job
import tap

NETWORK = "10.83.7"
MARK = f"orrery-{os.getpid()}"

# What ssh would do: the command of mpirun, on the other host.
AGENT = """#!/bin/sh
shift
exec ip netns exec {right} unshare --uts sh -c 'hostname right && exec /bin/sh -c "$1"' sh "$*"
"""


class Hosts:
    """Two hosts, for the time of a `with`."""

    def __init__(self):
        if os.geteuid() != 0 or not shutil.which("ip") or not shutil.which("unshare"):
            raise tap.Skip("needs root, ip and unshare")
        if "Open MPI" not in job.library():
            raise tap.Skip("knows how to start Open MPI only")
        self.left, self.right = f"{MARK}-left", f"{MARK}-right"

    def __enter__(self):
        try:
            for name in (self.left, self.right):
                self.ip("netns", "add", name)
                self.ip("-n", name, "link", "set", "lo", "up")
            self.ip("link", "add", "wire", "netns", self.left, "type", "veth",
                    "peer", "name", "wire", "netns", self.right)
            for name, number in ((self.left, 1), (self.right, 2)):
                self.ip("-n", name, "address", "add", f"{NETWORK}.{number}/24", "dev", "wire")
                self.ip("-n", name, "link", "set", "wire", "up")
        except subprocess.CalledProcessError as reason:
            self.__exit__()
            raise tap.Skip(f"no network namespaces here: {reason.stderr.strip()}")
        pathlib.Path("agent").write_text(AGENT.format(right=self.right))
        os.chmod("agent", 0o755)
        pathlib.Path("hosts").write_text(f"{NETWORK}.1 slots=1\n{NETWORK}.2 slots=1\n")
        return self

    def __exit__(self, *_):
        for name in (self.left, self.right):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    def start(self, *arguments):
        """A rank on each host; messages go over the wire."""
        return subprocess.Popen(
            ["ip", "netns", "exec", self.left, "unshare", "--uts", "sh", "-c",
             'hostname left && exec "$@"', "sh", job.mpirun(), "-n", "2", "--hostfile", "hosts",
             "--map-by", "node", "--bind-to", "none", "--mca", "plm_rsh_agent",
             os.path.abspath("agent"), "--mca", "btl", "tcp,self",
             "--mca", "btl_tcp_if_include", f"{NETWORK}.0/24",
             "--mca", "oob_tcp_if_include", f"{NETWORK}.0/24",
             "-x", "ORRERY_TEST_MARK", "-x", "OMP_NUM_THREADS", tap.ORRERY,
             *map(str, arguments)],
            env=dict(job.ENVIRONMENT, ORRERY_TEST_MARK=MARK), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def bytes_on_the_wire(self):
        """What left the first host."""
        path = "/sys/class/net/wire/statistics/tx_bytes"
        text = subprocess.run(["ip", "netns", "exec", self.left, "cat", path], check=True,
                              capture_output=True, text=True).stdout
        return int(text)


def test_two_hosts_give_the_bytes_of_one():
    """a rank on each of two hosts: the bytes of one process, by way of the network"""
    config = job.write(job.PLUMMER)
    job.finish(0, "run", config, "-q", "-o", "one")
    with Hosts() as hosts:
        process = hosts.start("run", config, "-q", "-o", "two")
        _, errors = process.communicate(timeout=120 * tap.PATIENCE)
        assert process.returncode == 0, errors
        # Rank 0 gives its half of the positions, 3 x 8 bytes each, before each of 25 forces.
        assert hosts.bytes_on_the_wire() > 25 * 150 * 24
    job.same_files("one", "two")


def test_a_lost_host_leaves_a_checkpoint():
    """the second host's rank is killed: an error, and one process goes on from the checkpoint"""
    config = job.write(job.PLUMMER.replace("end = 0.24", "end = 4.0"))
    every = ("-P", "checkpoint.every_steps=20")
    with Hosts() as hosts:
        process = hosts.start("run", config, "-q", "-o", "parts", *every)
        job.wait_for("parts/checkpoint.orr", 60 * tap.PATIENCE)
        os.kill(job.process_of(MARK, 1), signal.SIGKILL)
        _, errors = process.communicate(timeout=60 * tap.PATIENCE)
        assert process.returncode != 0 and errors, errors
    job.finish(0, "run", config, "-q", "-o", "parts", "--restart", *every)
    job.finish(0, "run", config, "-q", "-o", "whole", *every)
    job.same_files("whole", "parts")


tap.main()
