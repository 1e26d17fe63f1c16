"""The ranks on one machine share its memory; what they need together is compared with what it has.

How much that is, is made up: a file over /proc/meminfo, in a mount namespace of the test's own.
"""

import pathlib
import re
import shutil
import subprocess

import job
import tap

CONFIG = """bodies = {
    initial = "plummer";
    count = 300000;
};
physics = { softening = 0.05; };
time = { step = 1e-6; end = 1e-6; };
"""
MACHINE = "mount --bind meminfo /proc/meminfo && exec \"$@\""


def checked(ranks, available):
    """orrery check where this number of bytes is left"""
    pathlib.Path("meminfo").write_text(f"MemAvailable: {available // 1024} kB\n")
    pathlib.Path("large.cfg").write_text(CONFIG)
    command = [job.mpirun(), "-n", str(ranks), tap.ORRERY] if ranks > 1 else [tap.ORRERY]
    return subprocess.run(["unshare", "-m", "sh", "-c", MACHINE, "sh", *command, "check",
                           "large.cfg"], capture_output=True, text=True, env=job.ENVIRONMENT,
                          timeout=120)


def test_ranks_of_one_machine_share_its_memory():
    job.library()
    if not shutil.which("unshare") or subprocess.run(
            ["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        raise tap.Skip("no mount namespaces here")
    # With nothing left the first of two ranks is refused, with what it keeps for the other.
    alone = checked(2, 1 << 20)
    assert alone.returncode == 71, alone.stderr
    need = 1e6 * float(re.search(r"need ([\d.]+) MB of memory", alone.stderr)[1])
    result = checked(2, int(1.5 * need))  # enough for one
    assert result.returncode == 71, result.stderr
    found = re.search(r"large.cfg:3: bodies.count = 300000: 1 x 300000 bodies: 2 ranks of one "
                      r"machine need ([\d.]+) GB of memory; the machine has", result.stderr)
    assert found and 1.8 * need < 1e9 * float(found[1]) < 2.1 * need, (need, result.stderr)


tap.main()
