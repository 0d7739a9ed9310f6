#!/bin/bash
# Grade a folder on all GPUs of some nodes: sbatch examples/cluster/slurm.sh runs/ [OPTION...]
# Needs kernel-harness[cluster] in VENV, on a disk that all nodes see, and Ray 2.60 or newer.
#SBATCH --job-name=kernel-harness
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=128
#SBATCH --exclusive
#SBATCH --time=04:00:00
set -euo pipefail

source "${VENV:-$HOME/kernel-harness}/bin/activate"
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
address=$(getent ahostsv4 "$head" | awk 'NR == 1 { print $1 }')

# One token for this job alone: whoever has it may run anything on these nodes.
export RAY_AUTH_MODE=token
RAY_AUTH_TOKEN=$(head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n')
export RAY_AUTH_TOKEN

# Starts Ray on every node, the command on the first one when all are there, and ends both. A run
# that was cut off goes on when the same job is submitted again.
srun --kill-on-bad-exit=0 --cpus-per-task "$SLURM_CPUS_PER_TASK" ray symmetric-run \
    --address "$address:6379" \
    --min-nodes "$SLURM_JOB_NUM_NODES" \
    --num-gpus "$SLURM_GPUS_ON_NODE" \
    --num-cpus "$SLURM_CPUS_PER_TASK" \
    -- \
    harness submit "$@" --cluster "$address:6379" --resume
