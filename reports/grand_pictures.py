"""Draws the pictures of grand.md."""

import numpy as np
import pandas as pd


def heat(ratios: pd.DataFrame) -> str:
    """Draw the logarithm of a ratio of every scheduler (column) on every log (row): blue is better, red is worse."""
    table = ratios[ratios.median().sort_values().index] / np.log(2)
    wide, tall, left, top = 13, 10, 190, 110
    parts = []
    for row, name in enumerate(table.columns):
        parts.append(f'<text x="{left - 4}" y="{top + tall * row + 8}" text-anchor="end">{name}</text>')
        for column, value in enumerate(table[name]):
            strength = min(abs(value) / 4, 1.0) if value == value else 0.0
            colour = "#1c7ed6" if value < 0 else "#d9480f"
            place = f'x="{left + wide * column}" y="{top + tall * row}" width="{wide - 1}" height="{tall - 1}"'
            parts.append(f'<rect {place} fill="{colour}" fill-opacity="{strength:.2f}"/>')
    for column, name in enumerate(table.index):
        x = left + wide * column + 9
        parts.append(f'<text transform="translate({x},{top - 5}) rotate(-60)">{name}</text>')
    size = f'width="{left + wide * len(table) + 60}" height="{top + tall * len(table.columns) + 10}"'
    style = "<style>text{font:8px sans-serif;fill:#222}</style>"
    paper = '<rect width="100%" height="100%" fill="#fff"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{style}{paper}{"".join(parts)}</svg>\n'


def energy(slower: "pd.Series[float]", dearer: "pd.Series[float]", front: list[str], reference: str) -> str:
    """Draw slowdown against energy, both as ratios to the reference, energy from zero; the front in blue."""
    saving = sorted((name for name in front if dearer[name] < 0.95), key=lambda name: float(dearer[name]))
    left, right, top, bottom = 60, 700, 20, 330
    most = float(dearer.max()) * 1.02
    low, high = np.log(float(slower.min()) / 1.2), np.log(float(slower.max()) * 1.2)
    parts = [f'<path d="M{left},{top}V{bottom}H{right}" fill="none" stroke="#888"/>']
    ticks = [(tick, left + (right - left) * tick / most) for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)]
    parts += [f'<text x="{x:.0f}" y="{bottom + 14}">{tick:g}</text>' for tick, x in ticks]
    for ratio in (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0):
        if low < np.log(ratio) < high:
            y = bottom - (bottom - top) * (np.log(ratio) - low) / (high - low)
            parts.append(f'<text x="{left - 30}" y="{y:.0f}">{ratio:g}</text>')
    for name in slower.index:
        x = left + (right - left) * float(dearer[name]) / most
        y = bottom - (bottom - top) * (np.log(float(slower[name])) - low) / (high - low)
        colour = "#1c7ed6" if name in front else "#bbb"
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"><title>{name}</title></circle>')
        if name in saving:
            parts.append(f'<text x="{x - 3:.1f}" y="{y - 6:.1f}">{saving.index(name) + 1}</text>')
    for number, name in enumerate(saving, 1):
        parts.append(f'<text x="{left + 20}" y="{top + 20 + 15 * number}">{number}: {name}</text>')
    parts.append(f'<text x="{left}" y="{bottom + 32}">energy, ratio to {reference}</text>')
    parts.append(f'<text x="8" y="{top - 6}">bounded slowdown, ratio to {reference}</text>')
    style = "<style>text{font:10px sans-serif;fill:#222}</style>"
    paper = '<rect width="100%" height="100%" fill="#fff"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="740" height="370">{style}{paper}{"".join(parts)}</svg>\n'
