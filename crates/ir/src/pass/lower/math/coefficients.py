"""Prints the constants of the lowering of transcendental functions, for f32 (24 digits) and f64 (53 digits).

Needs mpmath. Each polynomial interpolates its function at the Chebyshev nodes of the interval (which is within a
small factor of the best polynomial) and has the least degree with an error of less than 1/32 of a unit in the last
place of the result. Coefficients are rounded to nearest.
"""
from mpmath import mp, mpf, exp, log, sin, cos, tan, tanh, atan, atanh, pi, sqrt, matrix, lu_solve, frexp, ldexp, floor, nint, nstr

mp.prec = 400


def round_to(value, digits):
    mantissa, exponent = frexp(value)
    return ldexp(nint(ldexp(mantissa, digits)), exponent - digits)


def truncate_to(value, digits):
    mantissa, exponent = frexp(value)
    return ldexp(floor(ldexp(mantissa, digits)), exponent - digits)


def show(value, digits):
    # The shortest decimal that names the f64, nine digits for an f32.
    return repr(float(value)) if digits == 53 else repr(float(nstr(value, 9)))


def interpolate(function, low, high, degree):
    """Coefficients, lowest first."""
    nodes = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * degree + 2)) for i in range(degree + 1)]
    system = matrix(degree + 1, degree + 1)
    for i, node in enumerate(nodes):
        for j in range(degree + 1):
            system[i, j] = node**j
    return list(lu_solve(system, matrix([function(node) for node in nodes])))


def polynomial(name, function, low, high, weight):
    """`weight(t)` is how much the error of the polynomial counts in the result, relative to the result."""
    for digits in (24, 53):
        for degree in range(1, 40):
            coefficients = interpolate(function, mpf(low), mpf(high), degree)
            worst = 0
            for i in range(401):
                # End points are limits of the functions, not values.
                t = low + (high - low) * (mpf(i) + mpf("0.001")) / mpf("400.002")
                value = sum(c * t**k for k, c in enumerate(coefficients))
                worst = max(worst, abs((value - function(t)) * weight(t)))
            if worst < mpf(2) ** (-digits - 5):
                break
        print(f"{name}_F{32 if digits == 24 else 64}: degree {degree}, error 2^{nstr(log(worst, 2), 4)}")
        print("    " + ", ".join(show(round_to(c, digits), digits) for c in coefficients))


def parts(name, value, count):
    for digits in (24, 53):
        rest, shown = value, []
        for _ in range(count):
            part = round_to(rest, digits)
            rest -= part
            shown.append(show(part, digits))
        print(f"{name}_F{32 if digits == 24 else 64}: " + ", ".join(shown))


half_log2 = log(2) / 2 + mpf("1e-4")
polynomial("EXP", lambda t: (exp(t) - 1 - t) / t**2, -half_log2, half_log2, lambda t: t**2 / exp(t))

largest_s = (sqrt(2) - 1) / (sqrt(2) + 1)
series = lambda z: atanh(sqrt(z)) / sqrt(z)
top = largest_s**2 + mpf("1e-5")
polynomial("LOG", lambda z: 2 * (series(z) - 1) / z, 0, top, lambda z: z / (2 * series(z)))
# Of pow: ten (f32: eight) more digits, for the exponent of the result.
for digits, more in ((24, 8), (53, 11)):
    for degree in range(1, 40):
        function = lambda z: (series(z) - 1 - z / 3) / z**2
        coefficients = interpolate(function, mpf(0), top, degree)
        worst = max(abs(sum(c * t**k for k, c in enumerate(coefficients)) - function(t)) * t**2
                    for t in (top * (i + mpf("0.001")) / 200 for i in range(201)))
        if worst < mpf(2) ** (-digits - more - 4):
            break
    print(f"POW_LOG_F{32 if digits == 24 else 64}: degree {degree}, error 2^{nstr(log(worst, 2), 4)}")
    print("    " + ", ".join(show(round_to(c, digits), digits) for c in coefficients))

eighth = (pi / 4) ** 2 + mpf("1e-4")
polynomial("SIN", lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, 0, eighth, lambda z: z)
polynomial("COS", lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, 0, eighth, lambda z: z**2)
polynomial("TANH", lambda z: (tanh(sqrt(z)) / sqrt(z) - 1) / z, 0, mpf("0.5625") ** 2, lambda z: z)
polynomial("ATAN", lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, 0, 1, lambda z: z * sqrt(z) / atan(sqrt(z)))

parts("LN_2", log(2), 2)
parts("LOG2_E", 1 / log(2), 2)
parts("TWO_OVER_LN_2", 2 / log(2), 2)
parts("THIRD", mpf(1) / 3, 2)
parts("PI_2", pi / 2, 3)
parts("PI", pi, 2)
parts("TWO_OVER_PI", 2 / pi, 1)
for digits, short in ((24, 15), (53, 42)):
    high = truncate_to(log(2), short)
    print(f"LN_2 short _F{32 if digits == 24 else 64}:", show(high, digits), show(round_to(log(2) - high, digits), digits))
print("SQRT_HALF bits:", hex(int(floor(ldexp(sqrt(mpf(1) / 2) * 2 - 1, 23))) + (126 << 23)),
      hex(int(floor(ldexp(sqrt(mpf(1) / 2) * 2 - 1, 52))) + (1022 << 52)))
mp.prec = 1400
for bits, words in ((32, 7), (64, 19)):
    value, shown = 1 / (2 * pi), []
    for _ in range(words):
        value = ldexp(value, bits)
        word = int(floor(value))
        value -= word
        shown.append(f"0x{word:0{bits // 4}x}")
    print("INVERSE_TWO_PI:", ", ".join(shown))
