"""Axes of tensors: the table in `train.types` holds in every name of `engine` and `train`."""

import ast
import re
from pathlib import Path

import pytest

import screenloop
from screenloop.train import types

ROOMS = Path(screenloop.__file__).parent
TABLE = re.findall(r"^ {4}([1A-Z])  (\S.*)$", types.__doc__, re.MULTILINE)
NAME = re.compile(r"_?[a-z][a-z0-9_]*?((?:_[A-Z0-9])+)")
OLD = re.compile(r".*[a-z]_[abdeklnstv]{1,3}1?")
FOREIGN = {"lora_A", "lora_B"}
"""Names that peft gives its weights."""


def names_in(source):
    """Return each name of a module's own, with its annotation where it has one."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name, None
            case ast.arg(arg=name, annotation=annotation):
                yield name, annotation and ast.unparse(annotation)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                yield name, ast.unparse(annotation)
            case ast.keyword(arg=str(name)):
                yield name, None


def faults(source, letters):
    """Return what a module's names do against the table."""
    found = set()
    for name, annotation in names_in(source):
        axes = NAME.fullmatch(name)
        if axes and name not in FOREIGN:
            found |= {f"{name}: {axis}" for axis in axes[1][1:].split("_") if axis not in letters}
        elif annotation in ("Tensor", "Tensor | None") and OLD.fullmatch(name):
            found.add(f"{name}: small letters")
    return sorted(found)


def test_one_letter_has_one_meaning():
    letters = [letter for letter, _ in TABLE]
    meanings = [meaning for _, meaning in TABLE]
    assert len(letters) > 10
    assert letters == sorted(set(letters))
    assert len(set(meanings)) == len(meanings)


@pytest.mark.parametrize("room", ["engine", "train"])
def test_names_of_tensors_keep_to_the_table(room):
    letters = {letter for letter, _ in TABLE}
    files = sorted((ROOMS / room).rglob("*.py"))
    assert {str(f): found for f in files if (found := faults(f.read_text(), letters))} == {}


def test_a_letter_that_is_not_in_the_table_is_found():
    assert faults("def f(x_B_T, y_B_Q): return x_B_T.z_1", {"B", "T", "1"}) == ["y_B_Q: Q"]
    assert faults("a_bt: Tensor = b_Z", {"B"}) == ["a_bt: small letters", "b_Z: Z"]
