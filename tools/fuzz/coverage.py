"""Coverage-guided fuzzing of the parser with atheris (libFuzzer): inputs that reach new code are preferred."""

from __future__ import annotations

import os
import tempfile
from importlib.util import find_spec
from pathlib import Path

_BYTES_MAX = 4_096


def has_atheris() -> bool:
    """Return whether Atheris is installed. It may be missing, because it does not have wheels for every processor and
    Python.
    """
    return find_spec("atheris") is not None


def follow(journal_path: Path, seconds: float, seed: int) -> None:
    """Try texts for the given seconds. This never returns, because libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=["asc"], exclude=_compiled(), enable_loader_override=False):
        from tools.fuzz.parser import ParserTarget, encoded
    from tools.fuzz.journal import FOUND, Journal
    from tools.fuzz.predicate_texts import seeds, tokens
    from tools.fuzz.trials import Trials

    folder = Path(tempfile.mkdtemp(prefix="asc-fuzz-texts-"))
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, text in enumerate(seeds()):
        (corpus / str(number)).write_bytes(encoded(text))
    words = folder / "words"
    words.write_text("".join(f'"{_escaped(token)}"\n' for token in tokens()), "ascii")
    journal = Journal(journal_path)
    target = ParserTarget().__enter__()
    journal.weigh(target.weighed())
    trial = Trials(target, journal)

    def one(given: bytes) -> None:
        try:
            trial(given)
        except Exception:
            import traceback

            traceback.print_exc()
            # libFuzzer would write a report of a crash. Exit instead, because the input is already in the journal.
            os._exit(FOUND)

    options = {
        "max_total_time": max(1, round(seconds)),
        "seed": seed % (1 << 31) or 1,
        "max_len": _BYTES_MAX,
        "dict": words,
        "artifact_prefix": f"{folder}/",
        # The parent process limits time and memory, so this limit is never reached. The value 0 would mean a limit of
        # one second.
        "timeout": 1_000_000,
        "rss_limit_mb": 0,
        "verbosity": 0,
    }
    atheris.Setup(["fuzz", *(f"-{name}={value}" for name, value in options.items()), str(corpus)], one)
    atheris.Fuzz()


def _compiled() -> list[str]:
    """Return the modules with loops that numba compiles. They are not instrumented, because numba cannot compile
    instrumented code.
    """
    root = Path(__file__).parents[2]
    return [
        ".".join(path.relative_to(root).with_suffix("").parts)
        for path in (root / "asc").rglob("*.py")
        if "from asc.compiled import" in path.read_text("utf-8")
    ]


def _escaped(token: str) -> str:
    """Return a token in the spelling of libFuzzer's dictionaries."""
    return "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\x{byte:02X}" for byte in token.encode()
    )
