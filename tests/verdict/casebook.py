"""Figures of four real bumps of InferenceX, by pull request: (metric, concurrency -> (published, measured)); and their evals.

#2953 was slower at every point and merged nothing; #2956 was faster because answers were cut; #3063 is unchanged but for a
point past saturation; #3200 is a step of two days that changed nothing. #3334 is a step of one release.
"""

from __future__ import annotations

import math

from bot.model.result import Cell, Row

RECIPE = "kimik3-gb200"
POINTS: dict[int, dict[str, dict[int, tuple[float, float]]]] = {
    2953: {
        "tput_per_gpu": {
            1: (1078.8, 947.0), 2: (1290.3, 1104.8), 4: (1542.8, 1458.9), 6: (2218.9, 1980.6), 8: (3417.9, 3107.8),
            10: (3996.4, 3384.1),
        },
        "out_tput_per_gpu": {
            1: (8.27, 7.3), 2: (10.57, 8.74), 4: (12.82, 10.94), 6: (17.66, 15.44), 8: (25.4, 22.11), 10: (31.8, 27.0),
        },
        "ttft_mean_s": {
            1: (2.089, 2.482), 2: (0.901, 1.094), 4: (0.992, 1.086), 6: (0.955, 1.027), 8: (0.938, 0.961), 10: (1.276, 1.284),
        },
        "tpot_mean_s": {
            1: (0.0109, 0.0137), 2: (0.0103, 0.0132), 4: (0.0176, 0.0239), 6: (0.0234, 0.0269), 8: (0.024, 0.0327),
            10: (0.0284, 0.0369),
        },
    },
    2956: {
        "tput_per_gpu": {1: (917.3, 971.0), 2: (974.0, 1036.2), 4: (1489.0, 1553.7), 8: (2161.8, 2320.8)},
        "out_tps": {1: (112.3, 117.4), 2: (131.4, 142.9), 4: (164.5, 170.4), 8: (220.2, 244.7)},
        "ttft_median_s": {1: (2.158, 1.589), 2: (2.078, 1.345), 4: (2.07, 1.408), 8: (15.369, 7.73)},
        "itl_median_s": {1: (0.00448, 0.00428), 2: (0.00456, 0.00434), 4: (0.00479, 0.00444), 8: (0.00509, 0.00478)},
    },
    3063: {
        "tput_per_gpu": {
            2: (916.81, 1009.19), 4: (1207.64, 1166.19), 6: (1616.44, 1611.44), 8: (2493.5, 2414.27), 10: (2698.1, 2666.79),
            16: (2416.61, 2003.51),
        },
        "out_tput_per_gpu": {
            2: (7.21, 7.88), 4: (9.51, 9.25), 6: (13.04, 12.88), 8: (17.49, 16.81), 10: (20.43, 20.13), 16: (19.11, 15.23),
        },
        "ttft_mean_ms": {
            2: (1388.27, 1035.56), 4: (1122.22, 1165.75), 6: (1021.15, 1022.99), 8: (1038.12, 1047.72), 10: (2989.5, 3499.99),
            16: (37641.34, 55727.99),
        },
        "tpot_mean_ms": {
            2: (21.56, 19.73), 4: (29.97, 30.5), 6: (37.91, 38.2), 8: (44.28, 45.06), 10: (54.09, 55.51), 16: (69.79, 78.89),
        },
    },
    3200: {
        "out_tput_per_gpu": {
            2: (24.36, 24.86), 4: (33.12, 32.28), 8: (48.56, 48.46), 10: (58.71, 59.21), 12: (71, 70.93), 16: (86.66, 86.77),
            20: (99.3, 99.83), 24: (110.21, 109.79),
        },
        "ttft_mean_ms": {
            2: (800.72, 787.46), 4: (672.18, 674.88), 8: (775.2, 798.79), 10: (851.91, 893.68), 12: (900.97, 885.86),
            16: (1017.16, 1027.84), 20: (1079.71, 1072.41), 24: (1195.47, 1187.81),
        },
        "tpot_mean_ms": {
            2: (3.61, 3.74), 4: (4.1, 4.04), 8: (5.15, 5.1), 10: (6.06, 6.51), 12: (6.87, 6.99), 16: (8.93, 8.82),
            20: (10.75, 10.34), 24: (13.19, 13.21),
        },
    },
    3334: {
        "out_tput_per_gpu": {
            1: (17.59, 17.79), 2: (20.94, 21.1), 3: (25.29, 24.94), 4: (25.8, 26.17), 5: (32.92, 30.87), 8: (49.47, 49.77),
            10: (59.01, 60.16), 16: (81.33, 82.17), 64: (283.17, 296.01), 96: (390.15, 401.03),
        },
        "ttft_mean_ms": {
            1: (1012.58, 1048.5), 2: (801.37, 712.1), 3: (670.71, 683.12), 4: (728.41, 711.79), 5: (709.54, 719.73),
            8: (699.78, 723), 10: (711.7, 688.31), 16: (881.78, 904.97), 64: (3355.35, 2921.43), 96: (6694, 5872.99),
        },
        "tpot_mean_ms": {
            1: (3.4, 3.29), 2: (4.69, 3.6), 3: (3.71, 3.53), 4: (3.81, 3.71), 5: (4.06, 3.9), 8: (4.69, 4.55),
            10: (4.97, 4.89), 16: (7.26, 6.63), 64: (12.52, 11.74), 96: (14.69, 13.88),
        },
    },
}
# task, concurrency, published, measured, questions
EVALS: dict[int, tuple[tuple[str, int, float | None, float | None, int], ...]] = {
    2953: (
        ("gsm8k/em_strict", 1, None, 0.96967, 1319),
        ("gsm8k/em_strict", 2, None, 0.97119, 1319),
        ("gsm8k/em_strict", 4, None, 0.97119, 1319),
        ("gsm8k/em_strict", 6, None, 0.97119, 1319),
        ("gsm8k/em_strict", 8, None, 0.97271, 1319),
    ),
    2956: (
        ("gsm8k/em_strict", 2, 0.9727, 0.8165, 1319),
        ("gsm8k/em_strict", 4, 0.9727, 0.7991, 1319),
        ("gsm8k/em_strict", 16, 0.9727, 0.812, 1319),
        ("kimi_tool_call_schema", 1, None, 0.5, 2),
    ),
    3063: (
        ("gsm8k/em_strict", 2, 0.9719, None, 1319),
        ("gsm8k/em_strict", 4, 0.9727, None, 1319),
        ("minimax_m3_smoke/em_strict", 2, None, 1.0, 1),
        ("minimax_m3_smoke/em_strict", 4, None, 1.0, 1),
        ("minimax_m3_smoke/em_strict", 6, None, 1.0, 1),
        ("minimax_m3_smoke/em_strict", 8, None, 1.0, 1),
        ("minimax_m3_smoke/em_strict", 10, None, 1.0, 1),
        ("minimax_m3_smoke/em_strict", 16, None, 1.0, 1),
    ),
    3200: (
        ("gsm8k/em_strict", 24, 0.9788, 0.9757, 1319),
    ),
}


def rows(pull: int) -> tuple[list[Row], list[Row]]:
    """The measured rows of a pull request and the published ones, as people wrote them down."""
    sides: tuple[list[Row], list[Row]] = ([], [])
    for metric, points in POINTS[pull].items():
        for conc, values in points.items():
            for side, value in zip(sides, reversed(values), strict=True):
                side.append(Row(point=Cell(recipe=RECIPE, concurrency=conc), metric=metric, value=value, unit=""))
    for task, conc, *values, n in EVALS.get(pull, ()):
        for side, value in zip(sides, reversed(values), strict=True):
            if value is not None:
                point = Cell(recipe=RECIPE, concurrency=conc)
                side.append(Row(point=point, metric="eval", task=task, n=n, value=value, unit="share"))
    return sides


def effects(pull: int, metric: str, without: tuple[int, ...] = ()) -> list[float]:
    """Log ratios of one metric, new over published."""
    return [math.log(new / old) for conc, (old, new) in POINTS[pull].get(metric, {}).items() if conc not in without]

