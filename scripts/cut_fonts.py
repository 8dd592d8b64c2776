"""Cut the phone's fonts and advance table from Debian's font packages.

The phone draws every screen with its own fonts so that the native renderer, Chromium and the
text-width arithmetic in Python agree. This script reproduces them; its output is committed,
so nothing here runs at build time or at run time.

Needs (Debian 12): ``apt-get install --no-install-recommends fonts-inter fonts-noto-cjk`` and
fontTools. Run ``python scripts/cut_fonts.py`` from the repository root; ``--check`` compares
instead of writing. Equal inputs and an equal fontTools give equal bytes.

What is done to each face, and why:

- one face for each file: a ``.ttc`` makes family fallback differ between processes;
- subset to the characters the phone may draw, keeping the outline of ``.notdef``;
- every OpenType layout table is dropped, so a line is as wide as the sum of its advances in any
  shaper: no kerning, ligature, contextual or locale form can make two renderers disagree;
- hints are dropped: geometric precision ignores them;
- all faces get the same ascent, the height of a capital, and no descent: a line that mixes
  Latin and Chinese has one baseline, capitals are centred in the line height, and the native
  renderer and Chromium round to the same baseline row (with an ordinary descent they differ by
  one pixel at every other size). ``line-height: normal`` is therefore useless: state it;
- the family is renamed, so that a font of the same name on the machine is never picked up, and
  a modified font does not claim to be the original.

Both families are under the SIL Open Font License 1.1, whose text is written beside them.
"""

from __future__ import annotations

import argparse
import io
import json
import math
import sys
from pathlib import Path
from typing import Any

from fontTools import subset
from fontTools.ttLib import TTCollection, TTFont

DEBIAN_FONTS = Path("/usr/share/fonts/opentype")
DEBIAN_LICENCE = Path("/usr/share/doc/fonts-noto-cjk/copyright")
OUTPUT = Path(__file__).parent.parent / "src/screenloop/phone/assets/fonts"

LATIN_FAMILY = "Screenloop Sans"
CHINESE_FAMILY = "Screenloop Sans SC"
ASCENT_EM = 0.727
DESCENT_EM = 0.0
UNITS_PER_EM = math.lcm(2816, 1000)  # of both originals, so that every advance is a whole number
KEPT_NAME_IDS = (0, 13, 14)

SOFT_HYPHEN = "\u00ad"
SYMBOLS = "™№℮←↑→↓↔↕↖↗↘↙↩↪↵⇧∂∆∏∑−√∞∫≈≠≤≥■□▲△▶▼◀◆◇○●★☆♡♥❤✓✗⚠☀⌘⌥⌫⏎"
CHINESE_EXTRAS = "①②③④⑤⑥⑦⑧⑨⑩℃℉♪♂♀※"


def latin_characters() -> set[str]:
    """Latin-1, Latin Extended-A, general punctuation, currency, arrows and UI symbols."""
    ranges = ((0x20, 0x7F), (0xA0, 0x180), (0x2010, 0x2028), (0x2030, 0x205F), (0x20A0, 0x20C0))
    characters = {chr(code) for start, stop in ranges for code in range(start, stop)}
    return (characters - {SOFT_HYPHEN}) | set(SYMBOLS)


def chinese_characters() -> set[str]:
    """GB 2312 (level 2 holds many given names), CJK punctuation, kana and fullwidth forms."""
    unassigned = range(0xFA, 0xFF)
    hanzi = {
        bytes((row, cell)).decode("gb2312")
        for row in range(0xB0, 0xF8)
        for cell in range(0xA1, 0xFF)
        if not (row == 0xD7 and cell in unassigned)
    }
    ranges = (
        (0x3000, 0x3004),
        (0x3005, 0x302A),
        (0x3041, 0x3097),
        (0x309B, 0x3100),
        (0xFF01, 0xFF5F),
        (0xFFE0, 0xFFE7),
    )
    others = {chr(code) for start, stop in ranges for code in range(start, stop)}
    return hanzi | others | set(CHINESE_EXTRAS)


def open_face(family: str, weight: int) -> TTFont:
    """Open the single Debian face behind one of our faces."""
    if family == LATIN_FAMILY:
        style = {400: "Regular", 700: "Bold"}[weight]
        return TTFont(DEBIAN_FONTS / f"inter/Inter-{style}.otf", recalcTimestamp=False)
    style = {400: "Regular", 700: "Bold"}[weight]
    path = DEBIAN_FONTS / f"noto/NotoSansCJK-{style}.ttc"
    names = [face["name"].getDebugName(6) for face in TTCollection(path, lazy=True).fonts]
    number = names.index(f"NotoSansCJKsc-{style}")
    return TTFont(path, fontNumber=number, recalcTimestamp=False)


def rename(face: TTFont, family: str, weight: int) -> None:
    """Give the face its own family name, keeping copyright and licence records."""
    name, style = face["name"], {400: "Regular", 700: "Bold"}[weight]
    name.names = [record for record in name.names if record.nameID in KEPT_NAME_IDS]
    postscript = f"{family.replace(' ', '')}-{style}"
    for name_id, value in ((1, family), (2, style), (4, f"{family} {style}"), (6, postscript)):
        name.setName(value, name_id, 3, 1, 0x409)
    name.names.sort()
    cff = face["CFF "].cff
    cff.fontNames = [postscript]
    top = cff.topDictIndex[0]
    top.FamilyName, top.FullName, top.Weight = family, f"{family} {style}", style
    face["OS/2"].usWeightClass = weight


def level_metrics(face: TTFont) -> None:
    """Set the shared ascent and descent, so that mixed lines have one baseline."""
    units = face["head"].unitsPerEm
    ascent, descent = round(ASCENT_EM * units), round(DESCENT_EM * units)
    hhea, os2 = face["hhea"], face["OS/2"]
    hhea.ascent, hhea.descent, hhea.lineGap = ascent, -descent, 0
    os2.sTypoAscender, os2.sTypoDescender, os2.sTypoLineGap = ascent, -descent, 0
    os2.usWinAscent, os2.usWinDescent = ascent, descent


def cut(family: str, weight: int, characters: set[str]) -> TTFont:
    """Return the cut face as reopened from its final bytes."""
    face = open_face(family, weight)
    options = subset.Options(
        layout_features=[],
        hinting=False,
        notdef_outline=True,
        name_IDs=[0, 1, 2, 4, 6, 13, 14],
        name_languages=[0x409],
        glyph_names=False,
        drop_tables=["GSUB", "GPOS", "GDEF", "BASE", "VORG", "vhea", "vmtx", "DSIG", "STAT"],
    )
    subsetter = subset.Subsetter(options)
    subsetter.populate(text="".join(sorted(characters)))
    subsetter.subset(face)
    rename(face, family, weight)
    level_metrics(face)
    buffer = io.BytesIO()
    face.save(buffer)
    return TTFont(io.BytesIO(buffer.getvalue()), recalcTimestamp=False)


def face_bytes(face: TTFont) -> bytes:
    """Return the bytes a cut face was opened from."""
    stream: io.BytesIO = face.reader.file
    return stream.getvalue()


def advances(latin: TTFont, chinese: TTFont) -> dict[str, Any]:
    """Return one weight's advances in exact units; the one-em characters as one string."""
    table: dict[str, int] = {}
    for face in (chinese, latin):
        scale, metrics = UNITS_PER_EM // face["head"].unitsPerEm, face["hmtx"].metrics
        for code, glyph in face.getBestCmap().items():
            table[chr(code)] = metrics[glyph][0] * scale
    one_em = sorted(character for character, units in table.items() if units == UNITS_PER_EM)
    others = {key: table[key] for key in sorted(table) if table[key] != UNITS_PER_EM}
    return {
        "one_em": "".join(one_em),
        "characters": "".join(others),
        "advances_units": list(others.values()),
    }


def licence(faces: list[TTFont], original: str) -> bytes:
    """Return the OFL text with the copyright notice that the faces carry."""
    stanza = DEBIAN_LICENCE.read_text("utf-8").split("\nLicense: SIL-1.1\n")[-1]
    body = stanza.split("\nLicense: ")[0].rstrip().splitlines()
    text = "\n".join("" if line == " ." else line.removeprefix(" ") for line in body)
    notices = sorted({str(face["name"].getDebugName(0)) for face in faces})
    head = f"Cut from {original}; the font is renamed and modified.\n\n" + "\n".join(notices)
    return f"{head}\n\n{text}\n".encode()


def outputs() -> dict[str, bytes]:
    """Return every output file by name."""
    files: dict[str, bytes] = {}
    cuts: dict[tuple[str, int], TTFont] = {}
    for family, characters in (
        (LATIN_FAMILY, latin_characters()),
        (CHINESE_FAMILY, chinese_characters() - latin_characters()),
    ):
        for weight in (400, 700):
            face = cuts[family, weight] = cut(family, weight, characters)
            files[f"{family.lower().replace(' ', '-')}-{weight}.otf"] = face_bytes(face)
    table: dict[str, Any] = {"units_per_em": UNITS_PER_EM}
    for key, weight in (("regular", 400), ("bold", 700)):
        table[key] = advances(cuts[LATIN_FAMILY, weight], cuts[CHINESE_FAMILY, weight])
    text = json.dumps(table, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    files["advances.json"] = f"{text}\n".encode()
    for family, original, name in (
        (LATIN_FAMILY, "Inter", "OFL-Inter.txt"),
        (CHINESE_FAMILY, "Noto Sans CJK SC", "OFL-NotoSansCJK.txt"),
    ):
        files[name] = licence([cuts[family, 400], cuts[family, 700]], original)
    return files


def main() -> int:
    """Write the outputs, or with ``--check`` say which differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with what is committed")
    check = bool(parser.parse_args().check)
    OUTPUT.mkdir(parents=True, exist_ok=True)
    differing = 0
    for name, data in outputs().items():
        path = OUTPUT / name
        same = path.exists() and path.read_bytes() == data
        differing += not same
        print(f"{'same' if same else 'differs' if check else 'written':8} {len(data):>9} {name}")
        if not check and not same:
            path.write_bytes(data)
    return 1 if check and differing else 0


if __name__ == "__main__":
    sys.exit(main())
