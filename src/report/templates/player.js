/* The player of the bodies (player.c has the form of its data). It asks nothing of any server. */
(() => {
'use strict';
const figure = document.getElementById('player'), about = figure.dataset;
const canvas = figure.querySelector('canvas'), pen = canvas.getContext('2d');
const controls = figure.querySelector('.controls'), problem = figure.querySelector('.problem');
const play = controls.querySelector('button'), slider = controls.querySelector('[type=range]');
const pick = name => controls.querySelector(`[name=${name}]`);
const rate = pick('rate'), colour = pick('colour'), follow = pick('follow');
const trails = pick('trails');
const [bodies, frames, scale, limit, slowest, fastest, cell] =
    ['bodies', 'frames', 'scale', 'limit', 'slowest', 'fastest', 'cell'].map(key => +about[key]);
const groups = JSON.parse(about.groups), named = JSON.parse(about.named); /* of a single body */
const nameOf = i => named[group[i]] ? groups[group[i]] : `body ${ids[i]}`;
const FEW = 10, TRAIL_BODIES = 100, SHADES = 16, LEGEND = 7;

/* --- data --------------------------------------------------------------------------------- */

let times, middles, radii, ids, masses, group, positions, speeds;
const coordinate = new Float64Array(65536); /* of each 16-bit number */

function unpack(buffer) {
    let at = 0;
    const take = (type, count) => {
        const end = at + count * type.BYTES_PER_ELEMENT, part = new type(buffer.slice(at, end));
        at = end;
        return part;
    };
    times = take(Float64Array, frames);
    middles = take(Float64Array, 3 * frames);
    radii = take(Float64Array, frames);
    ids = take(Float64Array, bodies);
    masses = take(Float64Array, bodies);
    group = take(Uint8Array, bodies);
    positions = [0, 1, 2].map(() => new Uint16Array(frames * bodies));
    speeds = fastest > 0 ? new Uint8Array(frames * bodies) : null;
    for (let frame = 0; frame < frames; frame++) {
        const first = frame * bodies;
        for (const axis of positions) {
            const low = take(Uint8Array, bodies), high = take(Uint8Array, bodies);
            for (let i = 0; i < bodies; i++)
                axis[first + i] = (frame ? axis[first + i - bodies] : 0) + low[i] + 256 * high[i];
        }
        if (speeds)
            speeds.set(take(Uint8Array, bodies), first);
    }
    const span = Math.asinh(limit / scale);
    for (let code = 0; code < 65536; code++)
        coordinate[code] = scale * Math.sinh((code < 32768 ? code : code - 65536) / 32767 * span);
}

/* --- the view ----------------------------------------------------------------------------- */

let frame = 0, azimuth, elevation, zoom, chosen = -1, playing = false, wanted = false;
let cosA, sinA, cosE, sinE, perLength, width, height, centre; /* of the picture at hand */

const sorted = [...Array(frames).keys()];
function reach() { /* half the length that the shorter side of the picture shows */
    const wide = cell > 0 ? 1.9 : bodies <= FEW ? 1.1 : 3;
    const at = follow.value === 'size' ? frame : sorted[Math.floor(0.9 * (frames - 1))];
    return wide * (radii[at] > 0 && isFinite(radii[at]) ? radii[at] : 1) / zoom;
}

function reset() {
    azimuth = 0.5, elevation = 0.9, zoom = 1;
}

/* The place of a body in a frame, about the point that stays in the middle of the picture. */
function placed(i, at) {
    return positions.map((axis, k) => {
        const x = coordinate[axis[at * bodies + i]];
        return follow.value === 'rest' ? x + middles[3 * at + k] - middles[k] : x;
    });
}

/* From a place to pixels, to the right, down, and towards the reader. */
function project(x, y, z) {
    const across = x * cosA + y * sinA, away = y * cosA - x * sinA;
    return [width / 2 + perLength * across, height / 2 - perLength * (away * sinE + z * cosE),
            perLength * (z * sinE - away * cosE)];
}

function seen(i, at) {
    const [x, y, z] = placed(i, at);
    return project(x - centre[0], y - centre[1], z - centre[2]);
}

/* --- colours ------------------------------------------------------------------------------ */

const style = () => getComputedStyle(document.documentElement);
let palette, card, ink, muted;

function rgb(name) {
    const number = parseInt(style().getPropertyValue('--' + name).trim().slice(1), 16);
    return [number >> 16, number >> 8 & 255, number & 255];
}

const mixed = (a, b, part) => a.map((value, k) => value + part * (b[k] - value));
const packed = ([r, g, b]) => (255 << 24 | b << 16 | g << 8 | r) >>> 0;

/* A row for each colour: from the background's side to the reader's. */
function shades(colours) {
    const all = new Uint32Array(colours.length * SHADES);
    colours.forEach((one, k) => {
        for (let s = 0; s < SHADES; s++)
            all[k * SHADES + s] = packed(mixed(card, one, 0.45 + 0.55 * s / (SHADES - 1)));
    });
    return all;
}

let table, rowOf; /* the shades of each colour, and the colour of a body in this frame */
function paint() {
    card = rgb('card'), ink = rgb('ink'), muted = rgb('muted');
    palette = [0, 1, 2, 3, 4, 5, 6].map(k => rgb('c' + k));
    const ramp = Array.from({ length: 32 }, (_, k) => mixed(palette[0], palette[1], k / 31));
    table = shades(colour.value === 'speed' ? ramp : palette);
    rowOf = {
        one: () => 0,
        body: i => i % palette.length,
        group: i => group[i] % palette.length,
        speed: i => speeds[frame * bodies + i] >> 3,
    }[colour.value];
}

/* --- a picture ---------------------------------------------------------------------------- */

let radius; /* of each body, in pixels of the page */
function sizes() {
    const base = bodies <= 50 ? 4 : bodies <= 1000 ? 2.5 : bodies <= 20000 ? 1.3 : 0.9;
    const mean = masses.reduce((sum, m) => sum + m, 0) / bodies;
    radius = Float32Array.from(masses, m =>
        base * Math.min(3, Math.max(0.6, mean > 0 ? Math.cbrt(m / mean) : 1)));
}

const discs = new Map(); /* offsets of the pixels of a disc, by its radius in pixels */
function disc(r) {
    if (!discs.has(r)) {
        const inside = [];
        for (let y = -Math.ceil(r); y <= r; y++)
            for (let x = -Math.ceil(r); x <= r; x++)
                if (x * x + y * y <= r * r + 0.3)
                    inside.push([x, y]);
        discs.set(r, inside);
    }
    return discs.get(r);
}

let picture, pixels, depth; /* as large as the canvas */
function resize() {
    const sharp = Math.min(2, window.devicePixelRatio || 1);
    canvas.width = Math.max(1, Math.round(canvas.clientWidth * sharp));
    canvas.height = Math.max(1, Math.round(canvas.clientHeight * sharp));
    picture = pen.createImageData(canvas.width, canvas.height);
    pixels = new Uint32Array(picture.data.buffer);
    depth = new Float32Array(pixels.length);
    ask();
}

function drawBodies() {
    const sharp = canvas.width / Math.max(1, canvas.clientWidth), first = frame * bodies;
    const far = perLength * reach() * 1.5, [xs, ys, zs] = positions;
    const [x0, y0, z0] = [0, 1, 2].map(k => follow.value === 'rest' ?
        middles[k] - middles[3 * frame + k] : centre[k]);
    pixels.fill(packed(card));
    depth.fill(-Infinity);
    for (let i = 0; i < bodies; i++) { /* as seen() does it, without its arrays */
        const x = coordinate[xs[first + i]] - x0, y = coordinate[ys[first + i]] - y0;
        const z = coordinate[zs[first + i]] - z0, away = y * cosA - x * sinA;
        const middle = Math.round(width / 2 + perLength * (x * cosA + y * sinA));
        const line = Math.round(height / 2 - perLength * (away * sinE + z * cosE));
        if (!(middle > -50 && line > -50 && middle < width + 50 && line < height + 50))
            continue;
        const near = perLength * (z * sinE - away * cosE);
        const shade = Math.max(0, Math.min(SHADES - 1, Math.round((near / far + 1) / 2 * SHADES)));
        const value = table[rowOf(i) * SHADES + shade];
        for (const [dx, dy] of disc(Math.round(2 * radius[i] * sharp) / 2)) {
            const column = middle + dx, row = line + dy, at = row * width + column;
            if (column >= 0 && column < width && row >= 0 && row < height && near >= depth[at]) {
                pixels[at] = value;
                depth[at] = near;
            }
        }
    }
    pen.putImageData(picture, 0, 0);
}

const css = parts => `rgb(${parts.map(Math.round).join(' ')})`;

function drawTrails() {
    pen.globalAlpha = 0.6;
    for (let i = 0; i < bodies; i++) {
        pen.strokeStyle = css(colour.value === 'speed' ? muted : palette[rowOf(i)]);
        pen.beginPath();
        let last;
        for (let at = Math.max(0, frame - 300); at <= frame; at++) {
            const [x, y] = seen(i, at), place = placed(i, at);
            const jump = cell > 0 && last && place.some((v, k) => Math.abs(v - last[k]) > cell / 2);
            if (last && !jump)
                pen.lineTo(x, y);
            else
                pen.moveTo(x, y);
            last = place;
        }
        pen.stroke();
    }
    pen.globalAlpha = 1;
}

/* The edges of the periodic cell: from each corner along the axes that lead to another one. */
function drawCell() {
    pen.strokeStyle = css(muted);
    pen.beginPath();
    for (let corner = 0; corner < 8; corner++)
        for (let axis = 0; axis < 3; axis++) {
            if (corner >> axis & 1)
                continue;
            const place = bits => project(...[0, 1, 2].map(
                k => ((bits >> k & 1) - 0.5) * cell - centre[k]));
            pen.moveTo(...place(corner).slice(0, 2));
            pen.lineTo(...place(corner | 1 << axis).slice(0, 2));
        }
    pen.stroke();
}

/* 1, 2 or 5 times a power of ten, at most x. */
function round(x) {
    const power = 10 ** Math.floor(Math.log10(x)), digit = x / power;
    return (digit >= 5 ? 5 : digit >= 2 ? 2 : 1) * power;
}

const text = (value, digits) => String(+value.toPrecision(digits));
const unit = name => name ? ' ' + name : '';

function drawWords() {
    const em = 14 * canvas.width / Math.max(1, canvas.clientWidth);
    pen.font = `${em}px system-ui, sans-serif`;
    pen.fillStyle = css(ink), pen.strokeStyle = css(ink), pen.lineWidth = em / 12;
    pen.textAlign = 'left';
    const time = isNaN(times[frame]) ? '' : `t = ${text(times[frame], 5)}${unit(about.timeUnit)}`;
    pen.fillText(time, em, 1.6 * em);
    const length = round(width / perLength / 4), bar = length * perLength;
    pen.textAlign = 'right';
    pen.fillText(`frame ${frame + 1} of ${frames}`, width - em, 1.6 * em);
    pen.fillText(text(length, 3) + unit(about.lengthUnit), width - em, height - 1.5 * em);
    pen.beginPath();
    pen.moveTo(width - em - bar, height - em);
    pen.lineTo(width - em, height - em);
    pen.stroke();
    pen.textAlign = 'center';
    const arm = 2.2 * em, foot = [1.5 * arm, height - 1.5 * arm];
    ['x', 'y', 'z'].forEach((name, axis) => {
        const place = [0, 1, 2].map(k => k === axis ? 1 / perLength : 0), [x, y] = project(...place);
        const tip = [x - width / 2, y - height / 2];
        pen.beginPath();
        pen.moveTo(...foot);
        pen.lineTo(foot[0] + arm * tip[0], foot[1] + arm * tip[1]);
        pen.stroke();
        pen.fillText(name, foot[0] + 1.3 * arm * tip[0], foot[1] + 1.3 * arm * tip[1] + em / 3);
    });
    drawLegend(em);
}

function drawLegend(em) {
    const rows = colour.value === 'group' ? groups.slice(0, LEGEND).map(
        (name, k) => [palette[k], named[k] ? name : `${about.kind} ${name}`]) :
        colour.value === 'speed' ? [[palette[0], `speed ${text(slowest, 3)}`],
            [palette[1], `speed ${text(fastest, 3)} (by logarithms)`]] : [];
    if (groups.length > LEGEND && colour.value === 'group')
        rows.push([muted, `and ${groups.length - LEGEND} more, in the same colours`]);
    pen.textAlign = 'left';
    rows.forEach(([one, words], k) => {
        pen.fillStyle = css(one);
        pen.fillRect(em, (2.4 + 1.3 * k) * em, 0.8 * em, 0.8 * em);
        pen.fillStyle = css(ink);
        pen.fillText(words, 2.2 * em, (3.15 + 1.3 * k) * em);
    });
}

function drawChosen() {
    const em = 14 * canvas.width / Math.max(1, canvas.clientWidth), [x, y] = seen(chosen, frame);
    const kind = groups[group[chosen]], known = named[group[chosen]];
    const name = colour.value === 'group' && !known ? `, ${about.kind} ${kind}` : '';
    pen.strokeStyle = css(ink), pen.fillStyle = css(ink), pen.textAlign = 'left';
    pen.beginPath();
    pen.arc(x, y, 0.7 * em, 0, 2 * Math.PI);
    pen.stroke();
    pen.fillText(nameOf(chosen) + name, x + em, y - em / 2);
}

function draw() {
    wanted = false;
    width = canvas.width, height = canvas.height;
    cosA = Math.cos(azimuth), sinA = Math.sin(azimuth);
    cosE = Math.cos(elevation), sinE = Math.sin(elevation);
    perLength = Math.min(width, height) / 2 / reach();
    centre = follow.value === 'body' ? placed(chosen, frame) : [0, 0, 0];
    drawBodies();
    if (trails.checked)
        drawTrails();
    if (cell > 0)
        drawCell();
    drawWords();
    if (chosen >= 0)
        drawChosen();
    slider.value = frame;
    slider.setAttribute('aria-valuetext', `frame ${frame + 1} of ${frames}`);
    canvas.dataset.frame = frame;
}

/* Asks for a picture when the browser next shows one. */
function ask() {
    if (!wanted)
        requestAnimationFrame(draw);
    wanted = true;
}

/* --- what the reader does ----------------------------------------------------------------- */

function show(to) {
    frame = Math.max(0, Math.min(frames - 1, to));
    ask();
}

let since, request;
function advance() {
    const steps = Math.floor((performance.now() - since) * rate.value / 1000);
    if (steps > 0) {
        since += 1000 * steps / rate.value;
        show(frame + steps);
    }
    if (frame === frames - 1)
        toggle();
    else
        request = requestAnimationFrame(advance);
}

function toggle() {
    playing = !playing && frames > 1;
    play.textContent = playing ? 'Pause' : 'Play';
    if (!playing) {
        cancelAnimationFrame(request);
        return;
    }
    show(frame === frames - 1 ? 0 : frame);
    since = performance.now();
    request = requestAnimationFrame(advance);
}

/* Names the body that lies nearest to a point of the canvas, if it is near. */
function choose(x, y) {
    const sharp = canvas.width / canvas.clientWidth;
    let best = 12 * sharp;
    chosen = -1;
    for (let i = 0; i < bodies; i++) {
        const [px, py] = seen(i, frame), apart = Math.hypot(px - x * sharp, py - y * sharp);
        if (apart < best)
            best = apart, chosen = i;
    }
    const old = follow.querySelector('[value=body]');
    if (old)
        old.remove();
    if (chosen >= 0)
        follow.add(new Option(`follows ${nameOf(chosen)}`, 'body'));
    else if (!follow.value)
        follow.value = 'middle';
    ask();
}

function turn(x, y) {
    azimuth += x;
    elevation = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, elevation + y));
    ask();
}

function magnify(by) {
    zoom = Math.max(1e-3, Math.min(1e6, zoom * by));
    ask();
}

const fingers = new Map(); /* that touch the canvas, with their places */
let moved;
const spread = () => {
    const [a, b] = [...fingers.values()];
    return Math.hypot(a.x - b.x, a.y - b.y);
};
canvas.addEventListener('pointerdown', event => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
    moved = fingers.size > 1 ? Infinity : 0;
});
canvas.addEventListener('pointermove', event => {
    const place = fingers.get(event.pointerId);
    if (!place)
        return;
    const before = fingers.size === 2 ? spread() : 0;
    const dx = event.offsetX - place.x, dy = event.offsetY - place.y;
    place.x = event.offsetX, place.y = event.offsetY;
    moved += Math.hypot(dx, dy);
    if (fingers.size === 2 && before > 0)
        magnify(spread() / before);
    else if (moved > 3)
        turn(-dx / 150, dy / 150);
});
canvas.addEventListener('pointerup', event => {
    if (fingers.delete(event.pointerId) && moved <= 3)
        choose(event.offsetX, event.offsetY);
});
canvas.addEventListener('pointercancel', event => fingers.delete(event.pointerId));
canvas.addEventListener('wheel', event => {
    if (document.activeElement !== canvas)
        return;
    event.preventDefault();
    magnify(Math.exp(-event.deltaY / 500));
}, { passive: false });
canvas.addEventListener('keydown', event => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const other = { ' ': toggle, '+': () => magnify(1.25), '-': () => magnify(0.8),
                    '0': () => { reset(); ask(); } };
    const [x, y] = step[event.key] || [0, 0];
    if (event.ctrlKey || event.altKey || event.metaKey)
        return;
    if ((x || y) && event.shiftKey)
        turn(-x / 10, y / 10);
    else if (x)
        show(frame + x);
    else if (other[event.key])
        other[event.key]();
    else
        return;
    event.preventDefault();
});
play.addEventListener('click', toggle);
slider.addEventListener('input', () => show(+slider.value));
follow.addEventListener('change', ask);
trails.addEventListener('change', ask);
colour.addEventListener('change', () => { paint(); ask(); });

/* --- begin -------------------------------------------------------------------------------- */

function begin(buffer) {
    unpack(buffer);
    sorted.sort((a, b) => radii[a] - radii[b]);
    const words = { one: 'one', body: 'by body', group: 'by ' + about.kind, speed: 'by speed' };
    const best = groups.length ? 'group' : bodies <= FEW ? 'body' : 'one';
    for (const key of Object.keys(words))
        if ((key !== 'group' || groups.length) && (key !== 'speed' || speeds))
            colour.add(new Option(words[key], key, false, key === best));
    trails.checked = bodies <= FEW;
    trails.disabled = bodies > TRAIL_BODIES;
    slider.max = frame = frames - 1; /* Play begins at the first */
    const span = isNaN(times[0]) ? '' : `, from t = ${text(times[0], 5)} to ` +
        `${text(times[frames - 1], 5)}${unit(about.timeUnit)}`;
    canvas.setAttribute('aria-label',
        `A drawing of ${bodies} bodies in space that move through ${frames} frames${span}.`);
    canvas.hidden = controls.hidden = false;
    problem.hidden = true;
    reset();
    sizes();
    paint();
    resize();
    draw();
    new ResizeObserver(resize).observe(canvas);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { paint(); ask(); });
    figure.dataset.ready = 'yes';
}

const bytes = Uint8Array.from(atob(figure.querySelector('[type="text/plain"]').textContent),
                              letter => letter.charCodeAt(0));
Promise.resolve().then(() => new Response(
    new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'))).arrayBuffer())
    .then(begin)
    .catch(error => {
        problem.textContent = `The bodies cannot be shown by this browser: ${error.message}.`;
    });
})();
