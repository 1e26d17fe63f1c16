#!/bin/bash
# make check-container: builds the image of Containerfile with buildah, from a clone of the last
# commit in which a build has been, and runs an experiment and its report in it as its first lines
# say. Where the base image cannot be pulled, debootstrap makes one from Debian's
# packages (as root), so that every line is done for real.
set -eu
cd "$(dirname "$0")/.."
image=orrery-container-test
if ! command -v buildah >/dev/null; then
    echo "skipped: buildah is not here (Debian: apt install buildah)"
    exit 0
fi
work=$(mktemp -d /tmp/orrery-container.XXXXXX)
# A store of its own, so that nothing of this stays; no overlays and no namespaces are asked for.
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
buildah() {
    command buildah --root "$work/store" --runroot "$work/run" "$@"
}
trap 'buildah rm --all >/dev/null 2>&1 || :; chmod -R u+w "$work"; rm -rf "$work"' EXIT

base=$(sed -n 's/^FROM \([^ ]*\) AS build$/\1/p' Containerfile)
if ! buildah pull -q "$base" >/dev/null 2>&1; then
    if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
        echo "skipped: $base cannot be pulled, and only root with debootstrap could make it"
        exit 0
    fi
    echo "no registry: $base is made by debootstrap"
    debootstrap --variant=minbase bookworm "$work/base" http://deb.debian.org/debian \
        >"$work/debootstrap.log" 2>&1 || { tail -5 "$work/debootstrap.log"; exit 1; }
    container=$(buildah from scratch)
    buildah add -q "$container" "$work/base" / >/dev/null
    buildah commit -q --rm "$container" "$base" >/dev/null
    rm -rf "$work/base"
fi

git clone -q . "$work/source"
touch "$work/source/config.status" "$work/source/Makefile" # as after ./quickstart
buildah build -q --pull-never -t "$image" -f Containerfile "$work/source" >/dev/null

mkdir "$work/mine"
cat >"$work/mine/my.cfg" <<'END'
bodies = { initial = "plummer"; count = 100; seed = 1; };
physics = { softening = 0.05; };
time = { step = 0.01; end = 1.0; };
diagnostics = ( { type = "conservation"; every = 10; } );
outputs = ( { type = "xyz"; every = 50; }, { type = "gadget-hdf5"; every = 50; } );
expect = ( { quantity = "energy_error"; at_most = 1e-3; } );
END
container=$(buildah from --pull-never "$image")
# buildah starts what it is told, so that the entry point is asked for first.
entry=$(buildah inspect --format '{{index .OCIv1.Config.Entrypoint 0}}' "$container")
buildah run -v "$work/mine:/work" "$container" -- "$entry" --version
buildah run -v "$work/mine:/work" "$container" -- "$entry" run my.cfg
buildah run -v "$work/mine:/work" "$container" -- "$entry" report my.run
commit=$(git rev-parse --short=12 HEAD)
for file in conservation.csv trajectory.xyz snapshot_000.hdf5 report.html plots/energy-error.svg; do
    [ -s "$work/mine/my.run/$file" ] || { echo "the container made no $file"; exit 1; }
done
if ! grep -q "\"$commit\"" "$work/mine/my.run/run.json"; then
    echo "run.json lacks the commit $commit"
    exit 1
fi
echo "the container works: $(du -sh "$(buildah mount "$container")" | cut -f1)"
