"""A model behind any OpenAI-compatible chat completions URL."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import urlsplit

import aiohttp
from msgspec.structs import replace

from screenloop.errors import AgentError, ConfigError, DeadlinePassed, ModelUnavailable
from screenloop.messages import ChatRequest, Message, Reply, Sampling, TextPart
from screenloop.models.retrying import (
    RequestBackOff,
    delay_s,
    is_overflow,
    is_retried,
    retry_after_s,
)
from screenloop.models.usage import Price, cost_usd
from screenloop.models.wire import WireFault, read_models, read_reply, request_body
from screenloop.store.blobs import BlobStore
from screenloop.types import Struct

KEY_VARIABLES = ("SCREENLOOP_API_KEY", "OPENAI_API_KEY")
MAX_BODY_BYTES = 32 * 1024 * 1024
PREFLIGHT_S = 20.0
_EXCERPT_CHARS = 300


class Endpoint(Struct, frozen=True, kw_only=True):
    """A model's name and the base URL that serves it."""

    model: str
    base_url: str
    """Without a slash at the end, e.g. `http://127.0.0.1:8000/v1`."""


class _Response(Struct, frozen=True, kw_only=True):
    status: int
    body: bytes
    retry_after_s: float | None = None


class _Refused(Exception):
    """One try failed in a way that another may not."""

    def __init__(self, what: str, retry_after: float | None = None) -> None:
        super().__init__(what)
        self.retry_after = retry_after


def parse_endpoint(text: str) -> Endpoint:
    """Read `MODEL@BASE_URL`.

    Raises:
        ConfigError: it has another form, is no http(s) URL, or carries credentials.
    """
    model, mark, rest = text.rpartition("@http")
    base_url = f"http{rest}".rstrip("/")
    try:
        parts = urlsplit(base_url)
        usable = bool(parts.hostname) and parts.scheme in ("http", "https") and parts.port != 0
    except ValueError:
        usable = False
    if not mark or not model or not usable:
        raise ConfigError(
            "expected MODEL@BASE_URL with an http or https URL, e.g. "
            f"my-model@http://127.0.0.1:8000/v1, but got {text!r}."
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise ConfigError(
            "a base URL carries no user, password, query or fragment; give the key in the "
            f"environment variable {KEY_VARIABLES[0]} or {KEY_VARIABLES[1]}."
        )
    return Endpoint(model=model, base_url=base_url)


def api_key_from(environ: Mapping[str, str]) -> str | None:
    """Return the API key from the environment: SCREENLOOP_API_KEY, else OPENAI_API_KEY."""
    return next((environ[name] for name in KEY_VARIABLES if environ.get(name)), None)


class OpenAIModel:
    """Sends ChatRequests to a server; every try of a request carries the same idempotency key.

    Connection errors, statuses 408, 409, 425, 429 and 5xx, and bodies that are no chat completion
    are tried again with growing delays, up to `back_off.attempts` times and within the caller's
    deadline. `token_facts` asks the server for token ids and log-probs.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        blobs: BlobStore,
        api_key: str | None = None,
        token_facts: bool = False,
        price: Price | None = None,
        back_off: RequestBackOff | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.name = f"openai:{endpoint.model}@{endpoint.base_url}"
        self._endpoint = endpoint
        self._blobs = blobs
        self._api_key = api_key
        self._token_facts = token_facts
        self._price = price
        self._back_off = back_off or RequestBackOff()
        self._clock = clock
        self._sleep = sleep
        self._session: aiohttp.ClientSession | None = None

    async def complete(self, request: ChatRequest, *, deadline_s: float) -> Reply:
        """Answer one request.

        Raises:
            ModelUnavailable: the server cannot be reached, keeps failing, or refuses the request.
            DeadlinePassed: no answer came within `deadline_s`.
            AgentError: the prompt is longer than the model's context.
        """
        body = request_body(
            request, self._endpoint.model, self._blobs, token_facts=self._token_facts
        )
        headers = {"Idempotency-Key": request.call_id, "X-Session-Id": request.session_id}
        began_s = self._clock()
        attempt = 0
        while True:
            attempt += 1
            left_s = deadline_s - (self._clock() - began_s)
            try:
                reply = await self._try(body, headers, left_s)
            except TimeoutError:
                raise self._too_late(deadline_s, attempt, "no answer came") from None
            except _Refused as refused:
                last = self._redact(str(refused))
                if attempt >= self._back_off.attempts:
                    raise ModelUnavailable(
                        f"{self._url('chat/completions')} failed {attempt} times, last: {last}."
                    ) from refused
                wait_s = delay_s(self._back_off, attempt, request.call_id, refused.retry_after)
                if self._clock() - began_s + wait_s >= deadline_s:
                    raise self._too_late(deadline_s, attempt, last) from refused
                await self._sleep(wait_s)
            else:
                return self._finished(reply, took_s=self._clock() - began_s, attempts=attempt)

    async def preflight(self) -> None:
        """Prove that the server answers and knows the model.

        Asks for the model list; where that does not name the model, for a completion of one token.

        Raises:
            ModelUnavailable: says which URL was asked, what came back and what to do.
        """
        try:
            listed = await self._listed_models()
            if self._endpoint.model not in listed:
                await self._probe(listed)
        except TimeoutError:
            raise ModelUnavailable(
                f"{self._endpoint.base_url} did not answer within {PREFLIGHT_S:g} s. "
                "Is the server up, and has it loaded the model?"
            ) from None
        except _Refused as refused:
            raise ModelUnavailable(
                f"cannot reach a model at {self._endpoint.base_url}: "
                f"{self._redact(str(refused))}. Start the server or correct the base URL "
                "(it usually ends in /v1)."
            ) from refused

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    # ---- one try ---------------------------------------------------------------------------

    async def _try(self, body: bytes, headers: dict[str, str], left_s: float) -> Reply:
        response = await self._send("POST", "chat/completions", body, headers, left_s)
        if response.status != 200:
            self._refuse(response)
        try:
            return read_reply(response.body)
        except WireFault as fault:
            raise _Refused(f"{fault}; it begins {self._excerpt(response)}") from fault

    def _refuse(self, response: _Response) -> None:
        said = f"HTTP {response.status} {self._excerpt(response)}"
        if is_retried(response.status):
            raise _Refused(said, response.retry_after_s)
        if is_overflow(response.status, response.body.decode("utf-8", errors="replace")):
            raise AgentError(
                f"the prompt does not fit the model's context: {said}. Use a smaller window "
                "or smaller images."
            )
        hint = {
            401: f"Set {KEY_VARIABLES[0]} or {KEY_VARIABLES[1]}.",
            403: "The key may not use this model.",
            404: "Check the model's name, and that the base URL ends as the server wants (/v1).",
        }.get(response.status, "The server does not accept this request.")
        raise ModelUnavailable(f"{self._url('chat/completions')} answered {said}. {hint}")

    async def _send(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str], left_s: float
    ) -> _Response:
        """Send once; `TimeoutError` when `left_s` passes, `_Refused` when the line breaks."""
        try:
            async with (
                asyncio.timeout(left_s),
                self._connections().request(
                    method, self._url(path), data=body, headers=headers, allow_redirects=False
                ) as response,
            ):
                data = bytearray()
                async for chunk in response.content.iter_any():
                    data += chunk
                    if len(data) > MAX_BODY_BYTES:
                        raise _Refused(f"the body is larger than {MAX_BODY_BYTES} bytes")
                return _Response(
                    status=response.status,
                    body=bytes(data),
                    retry_after_s=retry_after_s(response.headers),
                )
        except TimeoutError:
            raise
        except (aiohttp.ClientError, OSError) as error:
            # The library quotes whole header lines of the server, over several lines.
            words = " ".join(str(error).split())
            raise _Refused(f"{type(error).__name__}: {words[:_EXCERPT_CHARS]}") from error

    def _connections(self) -> aiohttp.ClientSession:
        if self._session is None:
            headers = {"Content-Type": "application/json"}
            if self._api_key:
                headers["Authorization"] = f"Bearer {self._api_key}"
            self._session = aiohttp.ClientSession(
                headers=headers,
                # The caller bounds concurrency and time; limits here would hide in its deadlines.
                connector=aiohttp.TCPConnector(limit=0),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            )
        return self._session

    # ---- preflight -------------------------------------------------------------------------

    async def _listed_models(self) -> tuple[str, ...]:
        """Return the listed models; none where the server has no readable list."""
        response = await self._send("GET", "models", None, {}, PREFLIGHT_S)
        if response.status in (401, 403) or is_retried(response.status):
            self._refuse(response)
        try:
            return read_models(response.body) if response.status == 200 else ()
        except WireFault:
            return ()

    async def _probe(self, listed: tuple[str, ...]) -> None:
        probe = ChatRequest(
            call_id="preflight",
            session_id="preflight",
            messages=(Message(role="user", parts=(TextPart(text="Hi"),)),),
            sampling=Sampling(max_tokens=1),
        )
        body = request_body(probe, self._endpoint.model, self._blobs, token_facts=self._token_facts)
        try:
            await self._try(body, {"X-Session-Id": "preflight"}, PREFLIGHT_S)
        except ModelUnavailable as error:
            names = ", ".join(listed[:5])
            hint = f" The server lists: {names}." if names else ""
            raise ModelUnavailable(f"{error}{hint}") from error

    # ---- small parts -----------------------------------------------------------------------

    def _finished(self, reply: Reply, *, took_s: float, attempts: int) -> Reply:
        usage = reply.usage
        if self._price is not None:
            usage = replace(usage, cost_usd=cost_usd(usage, self._price))
        return replace(reply, usage=usage, took_s=took_s, attempts=attempts)

    def _too_late(self, deadline_s: float, attempts: int, last: str) -> DeadlinePassed:
        return DeadlinePassed(
            f"{self._url('chat/completions')} gave no reply within {deadline_s:g} s "
            f"({attempts} tries); last: {last}."
        )

    def _url(self, path: str) -> str:
        return f"{self._endpoint.base_url}/{path}"

    def _excerpt(self, response: _Response) -> str:
        text = response.body[:_EXCERPT_CHARS].decode("utf-8", errors="replace")
        return self._redact(repr(text)) if text else "(empty body)"

    def _redact(self, text: str) -> str:
        return text.replace(self._api_key, "***") if self._api_key else text
