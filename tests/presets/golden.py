#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Computes the golden vectors of the presets from the systems' published formulas, not with the library.

    golden.py              prints golden.hpp
    golden.py --check F    exits with 1 unless F is what it prints

Each sequence is what the system waits before its retries 1, 2, 3, ... if every random draw U gives the same fraction.
All numbers are seconds until they are printed as nanoseconds. Python's own floats and fractions, no other module.
"""
import math
import sys
from fractions import Fraction as F

DRAWS = (F(0), F(1, 4), F(1, 2), F(3, 4), F(1023, 1024))  # U is in [0,1)
RETRIES = 10
MS = F(1, 1000)


def full_jitter(base, cap):
    """AWS SDKs (attempt numbers from 1: base * 2^(a-1)), older gRPC, Envoy's rand() mod d: U * min(cap, base * 2^n)."""
    return lambda u: [u * min(cap, base * 2**n) for n in range(RETRIES)]


def grpc(u):
    """gRPC A6 since 2024-08: min(initial * multiplier^(n-1), max) * uniform [0.8, 1.2]; not capped again."""
    return [min(100 * MS * 2 ** (n - 1), F(1)) * (F(8, 10) + F(4, 10) * u) for n in range(1, RETRIES + 1)]


def stainless(u):
    """OpenAI, Anthropic: min(0.5 * 2^nb, 8) * (1 - 0.25 * random); its draw runs the other way: random = 1 - u."""
    return [min(F(1, 2) * 2**nb, F(8)) * (1 - F(1, 4) * (1 - u)) for nb in range(RETRIES)]


def azure(u):
    """azure-core C++: min(delay * (1 << attempt) * (0.8 + U * 0.5), max), attempt from 1; 0.8 s, 60 s."""
    return [min(800 * MS * (1 << a) * (F(8, 10) + u * F(5, 10)), F(60)) for a in range(1, RETRIES + 1)]


def google_cloud_cpp(u):
    """ExponentialBackoffPolicy: uniform in [start, end], both moving up by the scaling; 1 s, 5 min, 2."""
    initial, maximum, scaling = F(1), F(300), F(2)
    start, end, waits = initial, initial * scaling, []
    for _ in range(RETRIES):
        if end >= maximum:
            start, end = max(maximum / scaling, initial), maximum
        waits.append(start + (end - start) * u)
        start, end = end, end * scaling
    return waits


def urllib3(factor, maximum, jitter):
    """Retry.get_backoff_time: 0 for one error in the history, else min(max, factor * 2^(c-1) + U * jitter)."""
    def waits(u):
        return [F(0) if c <= 1 else min(maximum, factor * 2 ** (c - 1) + u * jitter) for c in range(1, RETRIES + 1)]
    return waits


def polly(base, maximum=None):
    """DecorrelatedJitterBackoffV2: n = 2^t * tanh(sqrt(4 t)), t = a + U, a from 0; (n - prev) / 1.4 * base."""
    def waits(u):
        result, previous = [], 0.0
        for a in range(RETRIES):
            t = a + float(u)
            n = 2**t * math.tanh(math.sqrt(4 * t))
            wait = (n - previous) / 1.4 * float(base)
            result.append(wait if maximum is None else min(wait, float(maximum)))
            previous = n
        return result
    return waits


def finagle_decorrelated(u, start=5 * MS, maximum=200 * MS):
    """first = start; next = cur + U * (min(3 cur, max) - cur)."""
    waits = [start]
    while len(waits) < RETRIES:
        current = waits[-1]
        waits.append(current + u * (min(3 * current, maximum) - current))
    return waits


def finagle_exponential(u, start=5 * MS, maximum=200 * MS):
    """first = start; next = U * cur * 2^a, a from 1; once cur * 2^a >= max: max for ever."""
    waits, constant = [start], False
    for a in range(1, RETRIES):
        constant = constant or waits[-1] * 2**a >= maximum
        waits.append(maximum if constant else u * waits[-1] * 2**a)
    return waits


def finagle_equal(u, start=5 * MS, maximum=200 * MS):
    """first = start; half = start * 2^(a-1), next = half + U * half, a from 1; once that is >= max: max for ever."""
    waits, constant = [start], False
    for a in range(1, RETRIES):
        half = start * 2 ** (a - 1)
        constant = constant or half + u * half >= maximum
        waits.append(maximum if constant else half + u * half)
    return waits


def tower(least, most, jitter):
    """b = min(min * 2^i, max); b + min(U * jitter * b, max - b), i from 0."""
    def waits(u):
        bases = [least * 2**i if most is None else min(least * 2**i, most) for i in range(RETRIES)]
        return [b + (u * jitter * b if most is None else min(u * jitter * b, most - b)) for b in bases]
    return waits


def cenkalti(u, interval=F(1, 2), maximum=F(60)):
    """lo + U * (hi - lo), lo, hi = i -+ 0.5 i (without its +1 ns); i = min(1.5 i, max)."""
    waits = []
    for _ in range(RETRIES):
        waits.append(interval / 2 + u * interval)
        interval = min(interval * F(3, 2), maximum)
    return waits


def curl_retry(_):
    """1 s, doubling, at most 10 minutes."""
    return [min(F(2) ** n, F(600)) for n in range(RETRIES)]


def aws_decorrelated(base, cap):
    """AWS architecture blog: s = min(cap, base + U * (3 s - base)), first s = base."""
    def waits(u):
        result, previous = [], base
        for _ in range(RETRIES):
            previous = min(cap, base + u * (3 * previous - base))
            result.append(previous)
        return result
    return waits


SEQUENCES = {
    "aws_standard": full_jitter(50 * MS, F(20)),
    "aws_standard_throttled": full_jitter(F(1), F(20)),
    "aws_standard_dynamodb": full_jitter(25 * MS, F(20)),
    "aws_standard_legacy": full_jitter(F(1), F(20)),
    "grpc": grpc,
    "grpc_full_jitter": full_jitter(100 * MS, F(1)),
    "stainless": stainless,
    "azure": azure,
    "google_cloud_cpp": google_cloud_cpp,
    "urllib3": urllib3(F(0), F(120), F(0)),
    "urllib3_200ms": urllib3(200 * MS, F(120), F(0)),
    "urllib3_jitter": urllib3(F(1), F(120), F(10)),
    "envoy": full_jitter(25 * MS, 250 * MS),
    "polly": polly(F(2)),
    "polly_30s": polly(F(2), F(30)),
    "finagle": finagle_decorrelated,
    "finagle_exponential": finagle_exponential,
    "finagle_equal": finagle_equal,
    "tower": tower(50 * MS, None, F(99, 100)),
    "tower_1s": tower(50 * MS, F(1), F(99, 100)),
    "cenkalti": cenkalti,
    "curl_retry": curl_retry,
}

# What the systems themselves, or those who measured them, have published: (name, formula, U, seconds).
PUBLISHED = [
    ("polly_1s", polly(F(1)), F(0), "0 1.377182 1.460067 2.865850 5.717807 11.430272"),
    ("polly_1s", polly(F(1)), F(1, 4), ".646924 1.013570 1.720438 3.404510 6.798370 13.592378"),
    ("polly_1s", polly(F(1)), F(1, 2), ".897405 1.093004 2.035748 4.045979 8.083632 16.163663"),
    ("polly_1s", polly(F(1)), F(3, 4), "1.128360 1.250132 2.414001 4.809443 9.612264 19.221529"),
    ("aws_decorrelated", aws_decorrelated(5 * MS, F(2)), F(0), ".005 .005 .005"),
    ("aws_decorrelated", aws_decorrelated(5 * MS, F(2)), F(1, 2),
     ".010 .0175 .02875 .045625 .0709375 .10890625 .165859375 .2512890625"),
    ("aws_decorrelated", aws_decorrelated(5 * MS, F(2)), F(1), ".015 .045 .135 .405 1.215 2"),
    ("aws_expo", lambda _: [min(F(2), 5 * MS * 2**n) for n in range(1, RETRIES + 1)], F(0),
     ".010 .020 .040 .080 .160 .320 .640 1.280 2 2"),
    ("finagle", finagle_decorrelated, F(1, 2), ".005 .010 .020 .040 .080 .140 .170"),
    ("cenkalti", cenkalti, F(1, 2), ".5 .75 1.125 1.6875 2.53125 3.796875"),
    ("urllib3_200ms", urllib3(200 * MS, F(120), F(0)), F(0), "0 .4 .8 1.6"),
]


def nanoseconds(seconds):
    return math.floor(seconds * 10**9 + F(1, 2) if isinstance(seconds, F) else seconds * 1e9 + 0.5)


def rows(sequences):
    for name, fraction, waits in sequences:
        cells = ", ".join(str(wait) for wait in waits)
        yield f"    {{\"{name}\", {float(fraction)!r}, {len(waits)}, {{{cells}}}}},\n"


def text():
    published = []
    for name, formula, fraction, words in PUBLISHED:
        printed = [F(word) for word in words.split()]
        for ours, theirs in zip(formula(fraction), printed):
            if abs(ours - theirs) > 1e-6:
                sys.exit(f"golden.py: {name} at {fraction}: {float(ours)} is not the published {float(theirs)}")
        published.append((name, fraction, [nanoseconds(seconds) for seconds in printed]))
    computed = [(name, draw, [nanoseconds(wait) for wait in formula(draw)])
                for name, formula in SEQUENCES.items() for draw in DRAWS]
    return f"""// SPDX-License-Identifier: MIT
// What the presets' originals wait, in nanoseconds; made by golden.py, which tells the formulas. Not to be edited.
#pragma once

#include <cstdint>

// clang-format off
namespace golden {{

struct sequence {{
  const char* name;
  double fraction;
  int count;
  std::int64_t waits[{RETRIES}];
}};

inline constexpr sequence computed[] = {{
{"".join(rows(computed)).rstrip(chr(10))}
}};

/// As printed by their sources, to the microsecond or better.
inline constexpr sequence published[] = {{
{"".join(rows(published)).rstrip(chr(10))}
}};

}}  // namespace golden
// clang-format on
"""


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        with open(sys.argv[2], encoding="utf-8") as committed:
            if committed.read() != text():
                sys.exit(f"golden.py: {sys.argv[2]} is not what it prints: run golden.py > {sys.argv[2]}")
        print(f"{len(SEQUENCES)} formulas and {len(PUBLISHED)} published vectors agree with {sys.argv[2]}")
    else:
        sys.stdout.write(text())
