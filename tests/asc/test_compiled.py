"""Compiling: only where kernels are called for, and also where nothing can be kept."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import numpy.typing as npt
from hypothesis import given, settings
from hypothesis import strategies as st

import asc
from asc.compiled import compiled, inlined, ones, prefetch, trailing_zeros


@compiled
def _bits(word: int) -> tuple[int, int]:
    return trailing_zeros(np.uint64(word)), ones(np.uint64(word))  # type: ignore[call-arg]


@settings(deadline=None)  # the first call compiles
@given(st.integers(0, 2**64 - 1))
def test_bits_of_a_word(word: int) -> None:
    text = f"{word:b}"
    zeros = len(text) - len(text.rstrip("0")) if word else 64
    assert _bits(np.uint64(word)) == (zeros, text.count("1"))


@inlined
def _last(array: npt.NDArray[np.int64], begin: int) -> int:
    own = array[begin:]
    prefetch(own, 1 << 40)  # type: ignore[call-arg]
    return own[-1]  # type: ignore[no-any-return]


@compiled
def _sum_of_last(array: npt.NDArray[np.int64]) -> int:
    total = 0
    for begin in range(array.size):
        if array[begin] >= 0:
            total += _last(array, begin)
    return total


def test_nothing_is_counted_in_loops_and_any_place_may_be_asked_for_ahead() -> None:
    assert _sum_of_last(np.arange(5)) == 20
    # What is compiled here and now can be looked at.
    kernel = numba.njit(nogil=True, _nrt=False)(_sum_of_last.py_func)  # type: ignore[attr-defined,call-overload]
    kernel(np.arange(5))
    (text,) = kernel.inspect_llvm().values()
    assert "NRT_incref" not in text
    assert "llvm.prefetch" in text


def test_what_makes_arrays_says_so() -> None:
    """What is compiled without counts may not: numba says so when it compiles it, which not all tests do."""
    counted = {"allocating"}
    makers = {"empty", "zeros", "ones", "full", "array", "arange", "concatenate", "sort", "argsort", "copy", "unique"}
    makers |= {"astype", "empty_like", "zeros_like", "ones_like", "full_like"}
    found = {}
    for path in (Path(asc.__file__).parent.parent / package for package in ("asc", "monitor", "bench")):
        for file in path.rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.FunctionDef):
                    names = {decorator.id for decorator in node.decorator_list if isinstance(decorator, ast.Name)}
                    if names & {"compiled", "inlined", "allocating"}:
                        calls = [own.func for own in ast.walk(node) if isinstance(own, ast.Call)]
                        made = {own.attr for own in calls if isinstance(own, ast.Attribute)} & makers
                        found[file.name, node.name] = (bool(made), bool(names & counted))
    assert len(found) > 50
    assert [name for name, (makes, says) in found.items() if makes != says] == []


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return done.stdout.strip()


def test_parsing_alone_does_not_load_the_kernels() -> None:
    code = (
        "import sys, asc\n"
        "from asc.predicate import normalise\n"
        "from asc.predicate.normal_form.describe import describe\n"
        "schema = asc.Schema.from_ddl('a INT, d DOUBLE, p DECIMAL(30,2), s STRING, day DATE')\n"
        "text = \"a > 5 AND d < 1.5 AND p = 2.5 AND s LIKE 'x%' AND day > DATE '2013-01-01' AND a / 2 > d\"\n"
        "print(len(describe(normalise(text, schema))) > 0, 'numba' in sys.modules)"
    )
    assert run(code) == "True False"


def test_kernels_compile_where_nothing_can_be_kept(tmp_path: Path) -> None:
    """Neither the package nor the user's cache can be written: as on a worker that runs the package from a read-only
    disk.
    """
    package = Path(asc.__file__).parent
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    code = (
        "import numpy as np, numba.core.caching as caching\n"
        "caching.CacheImpl._locator_classes = []\n"
        "from asc.keys.key_kernels import float_keys\n"
        "keys = np.empty(2, np.int64); float_keys(np.array([0.0, -0.0]), keys); print(keys.tolist())"
    )
    assert run(code, PYTHONPATH=str(package.parent), HOME=str(blocked)) == "[0, 0]"


def test_stored_code_of_a_class_that_is_gone_is_compiled_anew(tmp_path: Path) -> None:
    """As after an upgrade: a function of the same name on the same line takes a NamedTuple of another name."""
    module = (
        "from typing import NamedTuple\n"
        "from asc.compiled import compiled\n"
        "class {0}(NamedTuple):\n"
        "    one: int\n"
        "@compiled\n"
        "def doubled(numbers):\n"
        "    return 2 * numbers.one\n"
        "print(doubled({0}(4)), sum(doubled.stats.cache_hits.values()))\n"
    )
    paths = os.pathsep.join([str(Path(asc.__file__).parent.parent), str(tmp_path)])
    said = []
    for name in ("Earlier", "Earlier", "Later", "Later"):
        (tmp_path / "kernels_of_a_version.py").write_text(module.format(name))
        # The time of a file counts, in whole parts of a second on some disks.
        os.utime(tmp_path / "kernels_of_a_version.py", (1e9, 1e9 + len(name)))
        said.append(run("import kernels_of_a_version", PYTHONPATH=paths, NUMBA_CACHE_DIR=str(tmp_path / "cache")))
    assert said == ["8 0", "8 1", "8 0", "8 1"]
