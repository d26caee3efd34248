"""A small eval for newcomers and rehearsals: 180 sums as an lm-eval task, `bumpbot_arithmetic`.

    lm_eval run --tasks bumpbot_arithmetic --include_path bot/rehearse/engine/tasks ...

The server of bot/rehearse/engine answers it right, but for the answers that are planted wrong in it; any model can be asked.
"""
