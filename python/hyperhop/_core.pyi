import numpy as np
import numpy.typing as npt

def isas() -> list[str]: ...
def isa() -> str: ...
def select_isa(name: str) -> None: ...
def default_threads() -> int: ...
def codebook(
    keys: npt.NDArray[np.uint32], blocks: int, block_size: int, family: str, threads: int
) -> npt.NDArray[np.float32]: ...
def bind(
    x: npt.NDArray[np.generic], y: npt.NDArray[np.generic], out: object, threads: int
) -> npt.NDArray[np.generic]: ...
def unbind_left(
    key: npt.NDArray[np.generic], z: npt.NDArray[np.generic], out: object, threads: int
) -> npt.NDArray[np.generic]: ...
def unbind_right(
    z: npt.NDArray[np.generic], key: npt.NDArray[np.generic], out: object, threads: int
) -> npt.NDArray[np.generic]: ...
def bundle(
    xs: npt.NDArray[np.generic], weights: npt.NDArray[np.float32], out: object, threads: int
) -> npt.NDArray[np.generic]: ...
def normalize(
    x: npt.NDArray[np.generic], out: object, threads: int
) -> npt.NDArray[np.generic]: ...
def unitarize(
    x: npt.NDArray[np.generic], out: object, threads: int
) -> npt.NDArray[np.generic]: ...
def similarity(
    x: npt.NDArray[np.generic], y: npt.NDArray[np.generic], out: object, threads: int
) -> npt.NDArray[np.float32]: ...
def encode_paths(
    planes: npt.NDArray[np.float32],
    symbols: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    as_planes: bool,
    out: object,
    threads: int,
) -> npt.NDArray[np.generic]: ...
def score_paths(
    planes: npt.NDArray[np.float32],
    query: npt.NDArray[np.generic],
    symbols: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    out: object,
    threads: int,
) -> npt.NDArray[np.float32]: ...
def top_paths(
    planes: npt.NDArray[np.float32],
    query: npt.NDArray[np.generic],
    symbols: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    k: int,
    threads: int,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]: ...
def topk(
    scores: npt.NDArray[np.generic], k: int, largest: bool, threads: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.generic]]: ...
