"""The hash of values: equal to that of the reference implementation of XXH64 with the seed 42."""

from __future__ import annotations

import numpy as np
import pytest

from asc.frozen import frozen
from asc.operators.cube.states.xxhash_kernels import hash_spans

DATA = bytes((place * 7 + 3) % 256 for place in range(1_000))
# Computed with xxHash 0.8 from the first bytes of DATA.
HASHES = {
    0: 0x98B1582B0977E704,
    1: 0x4D71BEF0290052DB,
    3: 0xBF4DD3C814A1FB9E,
    4: 0xBCB54295AB591E0D,
    7: 0x9CE59C3AC76FFC9D,
    8: 0x9FE8789AC2A1A649,
    11: 0x3A89A72F527682CA,
    12: 0x67114E891B0AE1A6,
    16: 0x87501F5CD956CB28,
    31: 0x10AB8A7706D8BA37,
    32: 0x232E8071E826D4BF,
    33: 0x9D08407E35697B1F,
    36: 0x2FD4BA7B4289E1B7,
    40: 0x3D1D7DE9F49CE9B0,
    63: 0x052FA6D3609A695F,
    64: 0xDF21B2DD545076E0,
    100: 0x7DD00BE8513C25A2,
    1_000: 0xD776E8028586FF61,
}


@pytest.mark.parametrize("before", [0, 1, 5])
def test_every_length_has_the_hash_of_the_reference(before: int) -> None:
    spans = [DATA[:length] for length in HASHES]
    content = np.frombuffer(b"\xaa" * before + b"".join(spans), dtype=np.uint8)
    offsets = np.cumsum([before, *map(len, spans)])
    hashes = np.empty(len(spans), dtype=np.uint64)
    hash_spans(frozen(content.view()), frozen(offsets), hashes)
    assert hashes.tolist() == list(HASHES.values())
