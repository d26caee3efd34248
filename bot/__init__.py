"""bumpbot keeps the container images of GPU benchmark recipes current, and lets none in without proof."""

__version__ = "0.1.0"
