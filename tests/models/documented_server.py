"""A server that gives written answers over real HTTP and keeps what it was asked."""

from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.test_utils import TestServer

from screenloop.messages import ChatRequest, Message, Sampling, TextPart
from screenloop.models.client import Endpoint, OpenAIModel, RequestBackOff
from screenloop.store.blobs import MemoryBlobs

REQUEST = ChatRequest(
    call_id="e/c0",
    session_id="e/w0",
    messages=(Message(role="user", parts=(TextPart(text="Open the clock."),)),),
    sampling=Sampling(temperature=1.0, top_p=0.9, top_k=20, max_tokens=64, seed=3, stop=("END",)),
)


@asynccontextmanager
async def answering(completion, *, status=200, models=None):
    """A client of a server that gives `completion` to every call; yields it and the requests."""
    asked = []

    async def chat(request):
        asked.append((await request.json(), dict(request.headers)))
        return web.json_response(completion, status=status)

    async def listed(request):
        return web.json_response(models or {"object": "list", "data": []})

    app = web.Application()
    app.add_routes([web.post("/v1/chat/completions", chat), web.get("/v1/models", listed)])
    async with TestServer(app) as server:
        endpoint = Endpoint(model="policy", base_url=str(server.make_url("/v1")))
        model = OpenAIModel(
            endpoint, blobs=MemoryBlobs(), token_facts=True, back_off=RequestBackOff(attempts=1)
        )
        try:
            yield model, asked
        finally:
            await model.close()
