"""The server's routes, and the pace at which it answers: every token has its own absolute time, so nothing drifts."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from aiohttp import web

from bot.rehearse.engine import told, wire
from bot.rehearse.engine.answers import Author, Unfit, Wanted, read
from bot.rehearse.engine.metrics import Metrics
from bot.rehearse.engine.options import Options
from bot.rehearse.engine.tokens import load

BODY = 64 << 20
SSE = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}
FLUSHED_S = 0.05


class Engine:
    """One server. `end` is called with an exit code when a planted fault ends it; `say` takes the lines of its log."""

    def __init__(self, options: Options, *, say: Callable[[str], None], end: Callable[[int], None]) -> None:
        self._options, self._say, self._end = options, say, end
        tokens = load(options.tokenizer)
        self._tokens, self._author, self.metrics = tokens, Author(options, tokens), Metrics()
        self._slots = asyncio.Semaphore(options.running)
        self._begun = time.time()
        self._requests = self._answered = 0
        self._flying = 0
        self._dying = self._dead = False

    def app(self) -> web.Application:
        """What aiohttp serves: the engine's own endpoints beside OpenAI's."""
        app = web.Application(client_max_size=BODY, middlewares=[self._gate])
        gets: dict[str, Callable[[], Any]] = {
            "/health": dict, "/v1/models": lambda: told.models(self._options, self._begun)}
        if self._options.engine == "vllm":
            gets["/version"] = lambda: {"version": self._options.version}
            gets["/server_info"] = lambda: told.config(self._options)
        else:
            gets["/get_server_info"] = gets["/server_info"] = lambda: told.server_info(self._options)
            gets["/get_model_info"] = gets["/model_info"] = lambda: {"model_path": self._options.model, "is_generation": True}
        for path, value in gets.items():
            app.router.add_get(path, _getter(value))
        app.router.add_get("/metrics", self._metrics)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/completions", self._completion)
        return app

    @property
    def _ready(self) -> bool:
        faults = self._options.faults
        return "never-ready" not in faults and time.time() - self._begun >= faults.number("slow-start")

    @web.middleware
    async def _gate(self, request: web.Request, handler: Callable[[web.Request], Any]) -> web.StreamResponse:
        if not self._ready:
            return web.json_response(_error(503, "the model is being loaded"), status=503)
        answer: web.StreamResponse = await handler(request)
        return answer

    async def _metrics(self, request: web.Request) -> web.Response:
        text = self.metrics.text(self._options.engine, self._options.model or "any", cache=told.cache(self._options))
        return web.Response(text=text, headers={"Content-Type": "text/plain; version=0.0.4; charset=utf-8"})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, chat=True)

    async def _completion(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, chat=False)

    async def _serve(self, request: web.Request, *, chat: bool) -> web.StreamResponse:
        loop = asyncio.get_running_loop()
        came = loop.time()
        if self._dying:
            self._die()
            await asyncio.Event().wait()
        self._requests += 1
        number, faults = self._requests, self._options.faults
        try:
            wanted = read(await request.json(), chat=chat, tokens=self._tokens)
            self._fits(wanted)
        except (Unfit, ValueError) as error:
            missing = str(error).endswith("does not exist.")
            return web.json_response(_error(404 if missing else 400, str(error)), status=404 if missing else 400)
        if faults.hits("error-500", number):
            return web.json_response(_error(500, "Internal server error"), status=500)
        if faults.hits("hang", number):
            await asyncio.Event().wait()
        self._flying += 1
        self.metrics.waiting += 1
        waiting, queued = True, self._slots.locked()
        try:
            async with self._slots:
                self.metrics.waiting -= 1
                self.metrics.running += 1
                waiting = False
                try:
                    return await self._paced(request, wanted, number, came, loop.time() if queued else came)
                finally:
                    self.metrics.running -= 1
        finally:
            self.metrics.waiting -= waiting
            self._flying -= 1
            self._over(loop)

    def _fits(self, wanted: Wanted) -> None:
        asked = wanted.prompt_tokens + (wanted.most or 1)
        if asked > self._options.context:
            raise Unfit(f"This model's maximum context length is {self._options.context} tokens. However, you requested {asked}"
                        f" tokens ({wanted.prompt_tokens} in the messages, {wanted.most or 1} in the completion).")
        if self._options.engine == "vllm" and self._options.model and wanted.model != self._options.model:
            raise Unfit(f"The model `{wanted.model}` does not exist.")

    async def _paced(self, request: web.Request, wanted: Wanted, number: int, came: float, begun: float) -> web.StreamResponse:
        loop, faults = asyncio.get_running_loop(), self._options.faults
        answers = self._author.answers(wanted, number)
        shape = wire.Shape(wanted, answers, number=number, now=time.time(), model=wanted.model or self._options.model,
                           whole=not faults.hits("no-finish-reason", number), counted=not faults.hits("no-usage", number))
        steps, first = shape.steps(), begun + self._options.ttft
        broken = steps // 2 if faults.hits("half-stream", number) or faults.hits("crash", number) else None
        response: web.StreamResponse
        if wanted.stream:
            response = web.StreamResponse(headers=SSE)
            await response.prepare(request)
            for step in range(steps):
                if step == broken:
                    return self._break(request, response, number)
                await _until(first + step * self._options.itl)
                await response.write(b"".join(shape.chunks(step)))
            await response.write(b"".join(shape.end()))
            await response.write_eof()
        else:
            await _until(first + max(0, steps - 1) * self._options.itl)
            response = web.json_response(shape.plain())
            if broken is not None:
                await response.prepare(request)
                return self._break(request, response, number)
        self._answered += 1
        self.metrics.answered(str(answers[0].finish), wanted.prompt_tokens, sum(len(each.pieces) for each in answers), first - came,
                              loop.time() - came)
        return response

    def _break(self, request: web.Request, response: web.StreamResponse, number: int) -> web.StreamResponse:
        if self._options.faults.hits("crash", number):
            self._say(told.died(self._options))
            self._end(1)
        if request.transport is not None:
            request.transport.close()
        return response

    def _over(self, loop: asyncio.AbstractEventLoop) -> None:
        """A server that dies after its load has answered the last of it: nobody is answered any more, and it ends as soon as that
        answer is out. Waiting for a moment without requests let a quick client find nothing wrong."""
        last = self._options.faults.number("dies-after-load")
        if last and self._answered >= last and not self._flying and not self._dying:
            self._dying = True
            loop.call_later(FLUSHED_S, self._die)

    def _die(self) -> None:
        if not self._dead:
            self._dead = True
            self._say(told.died(self._options))
            self._end(1)


async def _until(deadline: float) -> None:
    left = deadline - asyncio.get_running_loop().time()
    if left > 0:
        await asyncio.sleep(left)


def _getter(value: Callable[[], Any]) -> Callable[[web.Request], Any]:
    async def answer(request: web.Request) -> web.Response:
        return web.json_response(value())

    return answer


def _error(status: int, message: str) -> dict[str, Any]:
    kinds = {404: "NotFoundError", 400: "BadRequestError", 503: "ServiceUnavailableError"}
    return {"object": "error", "error": {"message": message, "type": kinds.get(status, "InternalServerError"), "code": status},
            "message": message}
