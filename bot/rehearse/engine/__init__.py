"""A small OpenAI-compatible server that behaves as told: known latencies, exact lengths, planted faults and wrong answers.

`python -m bot.rehearse.engine --port P --model NAME` stands where an inference engine would, so that launching, loading and
evaluating are tried whole on a machine without a GPU. It says of itself what vLLM or SGLang say (`--engine`).
"""
