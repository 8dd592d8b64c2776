"""Small real policies, screens and turns that the engine's tests share."""

import io
from functools import lru_cache

import torch
from PIL import Image, ImageDraw

from screenloop.engine.network import picture_arguments
from screenloop.engine.tiny import tiny_pixels, tiny_text
from screenloop.engine.tokenizer import TinyWords
from screenloop.engine.vision import positions
from screenloop.messages import ChatRequest, ImagePart, Message, Sampling, TextPart

WORDS = TinyWords(words=tuple("alarm clock notes save delete red green blue open the a".split()))
SIZE_PX = (64, 96)


@lru_cache
def text_policy():
    return tiny_text(WORDS, seed=1)


@lru_cache
def pixel_policy():
    return tiny_pixels(WORDS, seed=1)


def png(number, size_px=SIZE_PX):
    picture = Image.new("RGB", size_px, (number * 40 % 256, 90, 160))
    ImageDraw.Draw(picture).rectangle((number % 30, 5, 40, 30), fill=(250, number % 256, 20))
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def words(text):
    return TextPart(text=text)


def image(blobs, number, size_px=SIZE_PX):
    return ImagePart(key=blobs.put(png(number, size_px), "png"), mime="image/png", size_px=size_px)


def user(*parts):
    return Message(role="user", parts=parts)


def assistant(text):
    return Message(role="assistant", parts=(TextPart(text=text),))


def request(call_id, *messages, session_id=None, **sampling):
    sampling = {"temperature": 1.0, "max_tokens": 6, **sampling}
    return ChatRequest(
        call_id=call_id,
        session_id=session_id or call_id.rpartition("/c")[0] + "/w0",
        messages=messages,
        sampling=Sampling(**sampling),
    )


async def play(engine, episode, turns, **sampling):
    """Take turns with a model; returns its replies, each prompt being the one before and more."""
    messages, replies = [], []
    for number, parts in enumerate(turns):
        messages.append(user(*parts))
        call = request(f"{episode}/c{number}", *messages, session_id=f"{episode}/w0", **sampling)
        replies.append(await engine.complete(call, deadline_s=60))
        messages.append(assistant(replies[-1].text))
    return replies


def full_logits(policy, chunks):
    """Return the logits after every token, `[rows, tokens, vocab]`, rows padded at the right.

    Without a cache and with gradients: what the engine's numbers are checked against. `start` and
    `past` of the chunks are not looked at.
    """
    device = policy.device
    lengths = [len(c.token_ids) for c in chunks]
    ids = torch.zeros(len(chunks), max(lengths), dtype=torch.long)
    mask = torch.zeros_like(ids)
    places = torch.zeros(3, *ids.shape, dtype=torch.long)
    merge = 1 if policy.vision is None else policy.vision.merge
    for row, (chunk, length) in enumerate(zip(chunks, lengths, strict=True)):
        ids[row, :length] = torch.tensor(chunk.token_ids)
        mask[row, :length] = 1
        places[:, row, :length] = positions(length, chunk.images, merge)
    return policy.model(
        input_ids=ids.to(device),
        attention_mask=mask.to(device),
        position_ids=(places[0] if policy.vision is None else places).to(device),
        use_cache=False,
        **picture_arguments(policy, [(i, c.patches[i.key]) for c in chunks for i in c.images]),
    ).logits
