"""What genaipa is compared to: the shortest loop over the official client that asks the same questions.

    python -m benchmarks.bare_loop MESSAGES.json independent|shared CONNECTIONS

It keeps nothing but a count: no records, no limits, no display. It prints the seconds that the asking took.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

from openai import AsyncOpenAI

from benchmarks.mock_server import MODEL


async def _reply(client: AsyncOpenAI, messages, fields) -> str:
    completion = await client.chat.completions.create(model=MODEL, messages=messages, **fields)
    return completion.choices[0].message.content


async def independent(client: AsyncOpenAI, workload, connections: int) -> int:
    """Every question on its own, `connections` at once; the number of replies."""
    semaphore = asyncio.Semaphore(connections)

    async def ask(introduction, question: str) -> None:
        async with semaphore:
            await _reply(client, [*introduction, {"role": "user", "content": question}], workload.get("fields", {}))

    asked = [
        ask(workload["introductions"][document], question)
        for document, questions in workload["conversations"]
        for question in questions
    ]
    await asyncio.gather(*asked)
    return len(asked)


async def shared(client: AsyncOpenAI, workload, connections: int) -> int:
    """Conversations side by side, the questions of each in one growing history; the number of replies."""
    semaphore = asyncio.Semaphore(connections)

    async def converse(introduction, questions) -> int:
        history = list(introduction)
        async with semaphore:
            for question in questions:
                history.append({"role": "user", "content": question})
                history.append({"role": "assistant", "content": await _reply(client, history, {})})
        return len(questions)

    conversations = (converse(workload["introductions"][name], asked) for name, asked in workload["conversations"])
    return sum(await asyncio.gather(*conversations))


async def main(workload, mode: str, connections: int) -> None:
    """Ask everything once and print how long it took."""
    async with AsyncOpenAI(max_retries=0) as client:
        begun = time.perf_counter()
        answers = await {"independent": independent, "shared": shared}[mode](client, workload, connections)
        print(json.dumps({"asking": time.perf_counter() - begun, "answers": answers}))


if __name__ == "__main__":
    made = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    asyncio.run(main(made, sys.argv[2], int(sys.argv[3])))
