from importlib.util import find_spec

import pytest

if find_spec("torch") is None or find_spec("transformers") is None:
    collect_ignore_glob = ["test_*.py", "*/test_*.py"]


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    import torch

    torch.set_num_threads(1)
