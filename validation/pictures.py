"""Pixels of a PNG, and how far apart people see two colours."""

import struct
import zlib

import numpy


def pixels(path):
    """A PNG (8 bits, RGB or RGBA, not interlaced) as an array of rows, columns, channels."""
    with open(path, "rb") as file:
        data = file.read()
    width, height, depth, kind = struct.unpack(">IIBB", data[16:26])
    assert depth == 8 and kind in (2, 6)
    channels = 3 if kind == 2 else 4
    packed, at = b"", 8
    while at < len(data):
        length, = struct.unpack(">I", data[at:at + 4])
        if data[at + 4:at + 8] == b"IDAT":
            packed += data[at + 8:at + 8 + length]
        at += 12 + length
    raw, length = zlib.decompress(packed), 1 + width * channels
    rows = [bytes(length - 1)]
    for row in range(height):
        line = raw[row * length:(row + 1) * length]
        rows.append(unfilter(line[0], line[1:], rows[-1], channels))
    image = numpy.frombuffer(b"".join(rows[1:]), numpy.uint8).reshape(height, width, channels)
    return image[:, :, :3].astype(numpy.int32)


def unfilter(kind, rest, above, channels):
    """PNG specification, section 9.2. Bytes one by one are faster here than small arrays."""
    if kind == 0:
        return rest
    if kind < 3:
        line = numpy.frombuffer(rest, numpy.uint8).reshape(-1, channels)
        if kind == 1:
            return numpy.cumsum(line, axis=0, dtype=numpy.uint8).tobytes()
        return (line + numpy.frombuffer(above, numpy.uint8).reshape(-1, channels)).tobytes()
    out = bytearray(channels) + bytearray(rest)  # with a pixel of zeros before each row
    above = bytes(channels) + above
    for i in range(channels, len(out)):
        left, up, corner = out[i - channels], above[i], above[i - channels]
        if kind == 3:
            guess = (left + up) // 2
        else:
            a, b, c = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
            guess = left if a <= b and a <= c else up if b <= c else corner
        out[i] = (out[i] + guess) & 255
    return bytes(out[channels:])


def near(image, colour):
    """How many pixels have this colour, but for the smoothing of edges."""
    return int((abs(image - numpy.array(colour)).max(axis=2) < 12).sum())


# How the world looks without one kind of cones: Machado, Oliveira and Fernandes 2009, table 1, of
# severity 1, on linear RGB.
BLIND = {
    "none": numpy.eye(3),
    "protanopia": numpy.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
                               [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": numpy.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
                                 [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": numpy.array([[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
                               [0.004733, 0.691367, 0.303900]]),
}


def lab(colour, blindness):
    """CIE L*a*b* (D65) of "#rrggbb" as it is seen."""
    rgb = numpy.array([int(colour[k:k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = numpy.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055)**2.4)
    xyz = numpy.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722],
                       [0.0193, 0.1192, 0.9505]]) @ numpy.clip(BLIND[blindness] @ linear, 0, 1)
    f = numpy.cbrt(numpy.maximum(xyz / [0.9505, 1.0, 1.089], 1e-4))
    return numpy.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])
