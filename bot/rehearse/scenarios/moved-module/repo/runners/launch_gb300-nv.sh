#!/usr/bin/env bash
# Shortened: only where the recipes that are not of this repository come from.
set -euo pipefail
if [[ $FRAMEWORK == dynamo-sglang ]]; then
    git clone --branch sa-submission-q2-2026 https://github.com/NVIDIA/srt-slurm.git "$SRT_REPO_DIR"
else
    git clone https://github.com/NVIDIA/srt-slurm.git "$SRT_REPO_DIR"
    cp -rT "$GITHUB_WORKSPACE/benchmarks/multi_node/srt-slurm-recipes/vllm" "$SRT_REPO_DIR/recipes/vllm"
fi
srtctl apply -f "$SRT_REPO_DIR/$CONFIG_FILE"
