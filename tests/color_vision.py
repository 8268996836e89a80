"""How different two colours are to somebody who sees two of the three primary colours only, and how well text reads."""

import math

# G. M. Machado, M. M. Oliveira, L. A. F. Fernandes, "A Physiologically-based Model for Simulation of Color Vision
# Deficiency", IEEE Transactions on Visualization and Computer Graphics 15 (6), 2009, doi:10.1109/TVCG.2009.113: the
# matrices of severity 1.0 for linear RGB, as the authors publish them beside it
# (https://www.inf.ufrgs.br/~oliveira/pubs_files/CVD_Simulation/CVD_Simulation.html).
VISIONS = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
# IEC 61966-2-1 (sRGB): linear RGB to XYZ, and the white point D65.
XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
WHITE = (0.9505, 1.0, 1.0890)


def times(matrix, vector):
    return [sum(factor * value for factor, value in zip(row, vector)) for row in matrix]


def linear(rgb):
    """From sRGB, 0 to 255, to 0 to 1."""
    parts = [part / 255 for part in rgb]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def seen(rgb, vision):
    """The colour as CIE L*a*b*."""
    simulated = [min(1, max(0, part)) for part in times(VISIONS[vision], linear(rgb))]
    ratios = [value / white for value, white in zip(times(XYZ, simulated), WHITE)]
    x, y, z = [t ** (1 / 3) if t > (6 / 29) ** 3 else t / (3 * (6 / 29) ** 2) + 4 / 29 for t in ratios]
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def hue_mean(h1, h2, chromatic):
    if not chromatic:
        return h1 + h2
    if abs(h1 - h2) <= 180:
        return (h1 + h2) / 2
    return (h1 + h2 + (360 if h1 + h2 < 360 else -360)) / 2


def delta_e(one, other):
    """CIEDE2000 of two L*a*b* colours: CIE 142:2001, ISO/CIE 11664-6; the formula as G. Sharma, W. Wu, E. N. Dalal,
    "The CIEDE2000 Color-Difference Formula", Color Research and Application 30 (1), 2005, have it. 1 is about what can
    just be told apart side by side."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    stretch = 1 + 0.5 * (1 - math.sqrt(mean**7 / (mean**7 + 25**7)))
    c1, c2 = math.hypot(a1 * stretch, b1), math.hypot(a2 * stretch, b2)
    h1, h2 = (math.degrees(math.atan2(b, a * stretch)) % 360 for a, b in ((a1, b1), (a2, b2)))
    chromatic = c1 * c2 > 0
    turn = (h2 - h1 + 180) % 360 - 180 if chromatic else 0
    d_l, d_c, d_h = l2 - l1, c2 - c1, 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2))
    l_mean, c_mean, h_mean = (l1 + l2) / 2, (c1 + c2) / 2, hue_mean(h1, h2, chromatic)
    cos = lambda degrees: math.cos(math.radians(degrees))  # noqa: E731
    t = 1 - 0.17 * cos(h_mean - 30) + 0.24 * cos(2 * h_mean) + 0.32 * cos(3 * h_mean + 6) - 0.2 * cos(4 * h_mean - 63)
    d_l /= 1 + 0.015 * (l_mean - 50) ** 2 / math.sqrt(20 + (l_mean - 50) ** 2)
    d_c /= 1 + 0.045 * c_mean
    d_h /= 1 + 0.015 * c_mean * t
    turned = 2 * math.sqrt(c_mean**7 / (c_mean**7 + 25**7))
    turned *= -math.sin(math.radians(60 * math.exp(-(((h_mean - 275) / 25) ** 2))))
    return math.sqrt(d_l**2 + d_c**2 + d_h**2 + turned * d_c * d_h)


def least_difference(one, other):
    """(CIEDE2000, vision): of the vision that tells the two sRGB colours apart least."""
    return min((delta_e(seen(one, vision), seen(other, vision)), vision) for vision in VISIONS)


def contrast(one, other):
    """Of WCAG 2.2: 1 to 21."""
    lights = sorted(sum(weight * part for weight, part in zip(XYZ[1], linear(rgb))) for rgb in (one, other))
    return (lights[1] + 0.05) / (lights[0] + 0.05)
