"""Paint the pictures of the README: `python scripts/make_pictures.py`."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw

from screenloop.phone.declare.flow_steps import FlowStep, open_app, tap
from screenloop.phone.device.boot import new_device
from screenloop.phone.device.device import Device
from screenloop.phone.prove.flows import run_step
from screenloop.phone.show.render import paint, shared_native

SCREENS: tuple[tuple[FlowStep, ...], ...] = (
    (),
    (open_app("messages"), tap("#1")),
    (open_app("calendar"),),
    (open_app("shop"),),
    (open_app("gallery"),),
    (open_app("wallet"),),
)
GAP_PX = 24


def shown(steps: tuple[FlowStep, ...]) -> Device:
    """Return a phone after some steps; `#1` touches the first row of a list."""
    device = new_device()
    for step in steps:
        device.begin("picture")
        if getattr(step, "label", "") == "#1":
            row = next(n for n in device.screen.reachable() if n.role == "row" and n.do)
            device.tap(*row.box.center)
        else:
            run_step(device, step)
        device.end()
    return device


def sheet(devices: list[Device], width_px: int = 300) -> Image.Image:
    """Return the screens side by side with round corners."""
    frames = []
    for device in devices:
        image = paint(shared_native(), device.painted(), (824, 1830)).image()
        frames.append(image.resize((width_px, width_px * 915 // 412), Image.Resampling.LANCZOS))
    height_px = frames[0].height
    total = GAP_PX + (width_px + GAP_PX) * len(frames)
    out = Image.new("RGB", (total, height_px + 2 * GAP_PX), "#e9ecf1")
    mask = Image.new("L", frames[0].size, 0)
    ImageDraw.Draw(mask).rounded_rectangle((0, 0, width_px - 1, height_px - 1), 26, fill=255)
    for number, frame in enumerate(frames):
        out.paste(frame, (GAP_PX + number * (width_px + GAP_PX), GAP_PX), mask)
    return out


if __name__ == "__main__":
    target = Path("docs/images/phones.png")
    picture = sheet([shown(steps) for steps in SCREENS])
    picture.quantize(256).save(target, optimize=True)
    print(f"{target}: {target.stat().st_size} bytes")
