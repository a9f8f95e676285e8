"""Pictures of the page: taken with the same text in each run, compared block by block, and kept with few colours.

A block is BLOCK_PIXELS wide and high. Two blocks are the same if the mean of each colour differs by at most LEVELS_MAX
of 255: other edges of letters pass, other words and missing parts do not.
"""

import base64
import re
import struct
import zlib
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from playwright.sync_api import Browser, Page

BLOCK_PIXELS = 8
LEVELS_MAX = 24
Colors: TypeAlias = npt.NDArray[np.int_]
# More make a file larger, and no difference to the eye: letters have a dozen between theirs and that of the ground.
COLORS_MAX = 64

# Texts with an address or an id that differs from run to run are replaced. The clock of the bar is drawn each second,
# and the copy in its place is not.
STEADY = """
(replacements) => {
  const clock = document.querySelector(".clock");
  clock.replaceWith(clock.cloneNode(true));
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    for (const [pattern, shown] of replacements) {
      texts.currentNode.data = texts.currentNode.data.replaceAll(new RegExp(pattern, "g"), shown);
    }
  }
  document.activeElement?.blur();
}
"""

READ = """
  const read = async (picture) => {
    const image = new Image();
    image.src = `data:image/png;base64,${picture}`;
    await image.decode();
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return context.getImageData(0, 0, image.width, image.height);
  };
"""

PIXELS = f"""
async (picture) => {{
  {READ}
  const {{ width, height, data }} = await read(picture);
  const reader = new FileReader();
  const done = new Promise((resolve) => reader.addEventListener("load", resolve));
  reader.readAsDataURL(new Blob([data]));
  await done;
  return [width, height, reader.result.split(",")[1]];
}}
"""

DIFFERENCE = (
    "async ({ pictures, block, levelsMax }) => {"
    + READ
    + """
  const [one, other] = await Promise.all(pictures.map(read));
  if (one.width !== other.width || one.height !== other.height) return 1;
  const columns = Math.ceil(one.width / block);
  const blocks = columns * Math.ceil(one.height / block);
  const sums = new Int32Array(blocks * 3);
  for (let at = 0; at < one.data.length; at += 1) {
    if (at % 4 === 3) continue;
    const pixel = at >> 2;
    const place = Math.floor(Math.floor(pixel / one.width) / block) * columns + Math.floor((pixel % one.width) / block);
    sums[place * 3 + (at % 4)] += one.data[at] - other.data[at];
  }
  let different = 0;
  for (let place = 0; place < blocks; place += 1) {
    const most = Math.max(...[0, 1, 2].map((colour) => Math.abs(sums[place * 3 + colour])));
    if (most / (block * block) > levelsMax) different += 1;
  }
  return different / blocks;
}
"""
)


def take_picture(page: Page, shown: Mapping[str, str]) -> bytes:
    """Return the page as PNG. shown: texts that differ from run to run, and what is shown instead."""
    ids = {r"topic id \S+": "topic id q3Zt0m1uS8a2f5YxTnB7dw", r"^\d+\.\d+ ms$": "1.2 ms"}
    texts = {re.escape(text): replacement for text, replacement in shown.items()}
    page.evaluate(STEADY, list((texts | ids).items()))
    return page.screenshot(animations="disabled", caret="hide")


def difference(browser: Browser, one: bytes, other: bytes) -> float:
    """Return the share of blocks that differ, from 0 to 1; 1 if the sizes differ."""
    pictures = [base64.b64encode(picture).decode() for picture in (one, other)]
    share: float = evaluate(browser, DIFFERENCE, {"pictures": pictures, "block": BLOCK_PIXELS, "levelsMax": LEVELS_MAX})
    return share


def with_few_colors(browser: Browser, picture: bytes) -> bytes:
    """Return the picture as a PNG with a palette, which has a third of the size."""
    width, height, pixels = evaluate(browser, PIXELS, base64.b64encode(picture).decode())
    rgba = np.frombuffer(base64.b64decode(pixels), "<u4")
    known, places, counts = np.unique(rgba & 0xFFFFFF, return_inverse=True, return_counts=True)
    colors = np.stack([known & 0xFF, known >> 8 & 0xFF, known >> 16], axis=1).astype(np.int_)
    palette = palette_of(colors, counts)
    nearest = np.abs(colors[:, None, :] - palette[None, :, :]).sum(axis=2).argmin(axis=1)
    rows = nearest[places.reshape(-1)].astype(np.uint8).reshape(height, width)
    # Each row begins with its filter: none.
    data = zlib.compress(np.pad(rows, ((0, 0), (1, 0))).tobytes(), 9)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = ((b"IHDR", header), (b"PLTE", palette.astype(np.uint8).tobytes()), (b"IDAT", data), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(kind, content) for kind, content in parts)


def palette_of(colors: Colors, counts: Colors) -> Colors:
    """Return the most frequent colours, and those that are farthest from all others before them."""
    frequent = np.argsort(-counts, kind="stable")[: COLORS_MAX // 2]
    palette = list(colors[frequent])
    distances = np.abs(colors[:, None, :] - colors[frequent][None, :, :]).sum(axis=2).min(axis=1)
    while len(palette) < COLORS_MAX and distances.max() > 0:
        palette.append(colors[distances.argmax()])
        distances = np.minimum(distances, np.abs(colors - palette[-1]).sum(axis=1))
    return np.array(palette)


def chunk(kind: bytes, content: bytes) -> bytes:
    """Return a part of a PNG, with its size and its CRC."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def evaluate(browser: Browser, script: str, given: object) -> Any:
    """Run a script in an empty page, whose policy allows images from data."""
    page = browser.new_page()
    try:
        return page.evaluate(script, given)
    finally:
        page.close()
