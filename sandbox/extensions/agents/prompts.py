"""Prompts of MCP: texts that give an agent a task. A person starts one of them by its name."""

from typing import NamedTuple

from sandbox.extensions.agents.hints import EXPLAIN, OVERVIEW, REFEREE, REQUESTS, SEARCH
from sandbox.extensions.agents.tool import ToolError


class Prompt(NamedTuple):
    name: str
    title: str
    about: str
    arguments: dict[str, tuple[str, bool]]  # a text about each, and whether it is required
    text: str

    def fill(self, arguments: dict[str, str]) -> str:
        """Returns the text with the arguments in place of their names. Cuts each argument after 200 characters. A
        missing optional argument becomes `(not given)`. Raises ToolError if a required argument is missing."""
        for name, (about, is_required) in self.arguments.items():
            if is_required and not arguments.get(name, "").strip():
                raise ToolError(f"{name} is missing: {about}")
        values = {name: arguments.get(name, "").strip()[:200] or "(not given)" for name in self.arguments}
        return self.text.format(**values)


PROMPTS = (
    Prompt(
        "test_my_client",
        "Test my client",
        "Finds what a client of the bank does wrong.",
        {"client": ("What the client is, and how its tests are run.", False)},
        f"""Find out what this client does wrong at the bank: {{client}}

1. Call {OVERVIEW}. It says at which address the bank is. Let the client run against it: its tests, or one payment.
2. Call {OVERVIEW} again, and follow `next` of each result: {REFEREE} names the mistakes, {EXPLAIN} says why
   a call was refused, {REQUESTS} lists the calls.
3. Change the client as `instead` and `would_succeed` say, and run it again in a world of its own, until {REFEREE}
   has no finding and no call is refused without need.
4. Then try what can go wrong: list_values has names that lead to an outcome, post_faults makes the bank fail, and
   post_clock lets tokens and addresses expire.

Report each mistake with its rule, its call and its clause. Do not guess: each is proven by a call.
""",
    ),
    Prompt(
        "why_was_this_refused",
        "Why was this refused?",
        "Explains the answer to one call.",
        {"request_id": ("The Request-ID of the call.", True)},
        f"""Explain why the bank answered the call with the Request-ID {{request_id}} as it did.

Call {EXPLAIN} with it. Say which rule decided, with its clause, on which facts (`decided_by`, `history`), and
what would have succeeded (`would_succeed`). If the clause is not clear, call {SEARCH} with it. If there is no such
call, {REQUESTS} lists those that there are.
""",
    ),
)
BY_NAME = {prompt.name: prompt for prompt in PROMPTS}
