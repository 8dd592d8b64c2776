"""The pages, curves and lines of a training run."""
