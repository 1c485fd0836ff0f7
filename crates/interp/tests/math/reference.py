"""Prints reference values of the functions of f64: `python3 reference.py > reference.txt`. Needs mpmath.

A line is a function, its arguments, and the result: all as bits in hexadecimal, the result rounded to nearest, and then
how far the exact result is above it, in 1/256 of a unit in the last place.
"""
import math
import random
import struct
from mpmath import mp, mpf, exp, log, sin, cos, tanh, atan2, power, pi, floor, ldexp, frexp, nint

mp.prec = 2400
random.seed(20)


def bits(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


def number(b):
    return struct.unpack("<d", struct.pack("<Q", b))[0]


def line(name, arguments, exact):
    if exact == 0:
        return
    exponent = max(frexp(abs(exact))[1] - 53, -1074)
    units = nint(ldexp(exact, -exponent))
    if abs(units) >= 2**53 and exponent == 971:
        result, rest = math.copysign(math.inf, float(exact > 0) - 0.5), mpf(0)
    elif abs(units) > 2**1100:
        return
    else:
        result = float(ldexp(units, exponent))
        if math.isinf(result):
            rest = mpf(0)
        else:
            rest = ldexp(exact, -exponent) - units
    print(name, *(f"{bits(x):016x}" for x in arguments), f"{bits(result):016x}", int(nint(rest * 256)))


def sign():
    return random.choice((-1, 1))


def any_finite():
    while True:
        x = number(random.getrandbits(64))
        if math.isfinite(x):
            return x


def near_multiples():
    """Numbers nearest to multiples of pi/2, by continued fractions, for each exponent; the nearest of all."""
    found = []
    for e in range(-60, 972):
        alpha = ldexp(2 / pi, e)
        (p0, q0), (p1, q1) = (1, 0), (int(floor(alpha)), 1)
        rest = alpha - floor(alpha)
        while rest and q1 < 2**53:
            distance = abs(q1 * alpha - p1)
            if p1:
                found.append((distance, math.ldexp(q1, e)))
            inverse = 1 / rest
            a = int(floor(inverse))
            (p0, q0), (p1, q1) = (p1, q1), (a * p1 + p0, a * q1 + q0)
            rest = inverse - a
    best = sorted(set(found))[:120]
    small = sorted(f for f in set(found) if f[1] < 2.0**31)[:120]
    return [x for _, x in best + small]


angles = [sign() * random.uniform(0, 10) for _ in range(100)] + [sign() * 2 ** random.uniform(-30, 40) for _ in range(150)]
angles += [any_finite() for _ in range(150)] + near_multiples()
angles += [math.nextafter(2.0**30, t) for t in (0, math.inf)] + [2.0**30, 5e-324, 1e-310, number(0x7FEFFFFFFFFFFFFF)]
for x in angles:
    line("sin", [x], sin(mpf(x)))
    line("cos", [x], cos(mpf(x)))

mp.prec = 400
exponents = [random.uniform(-750, 712) for _ in range(200)] + [sign() * 2 ** random.uniform(-60, 8) for _ in range(100)]
exponents += [random.uniform(-746, -707) for _ in range(80)] + [5e-324, -5e-324, 1e-300, 709.782712893384, 709.7827128933841]
exponents += [math.log(2) * (k + 0.5) for k in range(-1070, 1020, 17)]
for x in exponents:
    line("exp", [x], exp(mpf(x)))
exponents = [random.uniform(-1076, 1025) for _ in range(200)] + [sign() * 2 ** random.uniform(-60, 8) for _ in range(100)]
exponents += [random.uniform(-1076, -1020) for _ in range(80)] + [float(k) for k in range(-1074, 1024, 97)]
exponents += [k + 0.5 for k in range(-1070, 1020, 17)] + [math.nextafter(1024, 0), 5e-324]
for x in exponents:
    line("exp2", [x], power(2, mpf(x)))

positive = [abs(any_finite()) for _ in range(150)] + [random.uniform(0.5, 2) for _ in range(200)]
positive += [1 + sign() * 2 ** random.uniform(-52, -2) for _ in range(100)] + [2 ** random.uniform(-3, 3) for _ in range(100)]
positive += [number(random.getrandbits(random.randrange(1, 53))) for _ in range(50)]
positive += [math.nextafter(s, t) for s in (math.sqrt(0.5), math.sqrt(2), 1) for t in (0, 9)] + [math.sqrt(0.5), math.sqrt(2)]
positive += [5e-324, number(0x7FEFFFFFFFFFFFFF), 2.2250738585072014e-308]
for x in positive:
    if x > 0:
        line("log", [x], log(mpf(x)))
        line("log2", [x], log(mpf(x)) / log(mpf(2)))

for x in [sign() * 2 ** random.uniform(-60, 5) for _ in range(150)] + [random.uniform(0.3, 1) for _ in range(200)] + [
    random.uniform(0.5, 20) for _ in range(150)] + [0.55, math.nextafter(0.55, 0), 5e-324, 22.0, 19.06]:
    line("tanh", [x], tanh(mpf(x)))

pairs = [(any_finite(), any_finite()) for _ in range(100)]
pairs += [(sign() * random.uniform(0, 2), sign() * random.uniform(0, 2)) for _ in range(400)]
pairs += [(y, y * random.choice((1.0, -1.0, math.nextafter(1, 0), math.nextafter(1, 2)))) for y in [random.uniform(-1, 1) for _ in range(60)]]
pairs += [(sign() * 2 ** random.uniform(-1070, 0), sign() * 2 ** random.uniform(-8, 8)) for _ in range(60)]
for y, x in pairs:
    if x or y:
        line("atan2", [y, x], atan2(mpf(y), mpf(x)))

bases = [(2 ** random.uniform(-1000, 1000), random.uniform(-1.1, 1.1)) for _ in range(250)]
bases += [(random.uniform(0.5, 2), random.uniform(-1000, 1000)) for _ in range(250)]
bases += [(random.uniform(0, 10), random.uniform(-10, 10)) for _ in range(250)]
bases += [(1 + sign() * 2 ** random.uniform(-52, -4), sign() * 2 ** random.uniform(0, 60)) for _ in range(200)]
bases += [(float(random.randrange(2, 40)), float(random.randrange(-12, 12) or 1)) for _ in range(60)]
bases += [(-float(random.randrange(2, 40)), float(random.randrange(-12, 12) or 1)) for _ in range(30)]
for _ in range(250):
    # Results near overflow and among subnormal numbers.
    x = 2 ** random.uniform(-900, 900)
    target = random.choice((random.uniform(1020, 1024.5), random.uniform(-1076, -1020)))
    bases.append((x, target / math.log2(x)))
bases += [(number(random.getrandbits(random.randrange(1, 53))), random.uniform(-1, 1)) for _ in range(50)]
for x, y in bases:
    if x and abs(mpf(y) * log(abs(mpf(x)))) < 900:
        line("pow", [x, y], power(mpf(x), mpf(y)) if x > 0 else (1 if y % 2 == 0 else -1) * power(-mpf(x), mpf(y)))
