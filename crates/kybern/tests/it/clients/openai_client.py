"""OpenAI's client for Python, unchanged, against a gateway. Prints a line for each check that held; stops at the first
that did not."""

import json
import os
import time

import openai
import pydantic

URL, IMPATIENT, OFFLINE = (os.environ[f"KYBERN_{name}URL"] for name in ("", "IMPATIENT_", "OFFLINE_"))
KEY, POOR = os.environ["KYBERN_KEY"], os.environ["KYBERN_POOR_KEY"]
client = openai.OpenAI(base_url=URL, api_key=KEY)
HELLO = [{"role": "user", "content": "hello"}]
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
CITIES = [{"role": "user", "content": "How is the weather in Lisbon and in Oslo?"}]


def answers(calls):
    assert [call.function.name for call in calls] == ["get_weather", "get_weather"], calls
    assert len({call.id for call in calls}) == 2, calls
    said = {"Lisbon": "sunny", "Oslo": "rainy"}
    city = [json.loads(call.function.arguments)["city"] for call in calls]
    assert city == ["Lisbon", "Oslo"], city
    return [
        {"role": "tool", "tool_call_id": call.id, "content": said[name]} for call, name in zip(calls, city)
    ]


def chat():
    reply = client.chat.completions.create(model="fake/echo", messages=HELLO, temperature=0.5, max_tokens=50)
    assert reply.object == "chat.completion" and reply.model == "fake/echo", reply
    choice = reply.choices[0]
    assert (choice.message.role, choice.message.content) == ("assistant", "you said: hello"), reply
    assert choice.finish_reason == "stop" and choice.message.tool_calls is None, reply
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.total_tokens) == (12, 7, 19), reply


def stream():
    text, usage, finish = "", [], []
    options = {"include_usage": True}
    for chunk in client.chat.completions.create(model="echo", messages=HELLO, stream=True, stream_options=options):
        assert chunk.object == "chat.completion.chunk", chunk
        for choice in chunk.choices:
            text += choice.delta.content or ""
            finish += [choice.finish_reason] if choice.finish_reason else []
        usage += [chunk.usage] if chunk.usage else []
    assert (text, finish) == ("you said: hello", ["stop"]), (text, finish)
    assert [(one.prompt_tokens, one.completion_tokens) for one in usage] == [(12, 7)], usage


def routed():
    for model in ("balanced", "fake", "echo"):
        reply = client.chat.completions.create(model=model, messages=HELLO)
        assert (reply.model, reply.choices[0].message.content) == ("fake/echo", "you said: hello"), reply


def agent():
    reply = client.chat.completions.create(model="agent:assistant", messages=HELLO)
    assert (reply.model, reply.choices[0].message.content) == ("agent:assistant", "you said: hello"), reply
    chunks = list(client.chat.completions.create(model="agent:assistant", messages=HELLO, stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "you said: hello", chunks
    assert chunks[-1].choices[0].finish_reason == "stop", chunks


def tools():
    first = client.chat.completions.create(
        model="fake/tools", messages=CITIES, tools=[WEATHER], tool_choice="auto", parallel_tool_calls=True
    )
    assert first.choices[0].finish_reason == "tool_calls", first
    message = first.choices[0].message
    # The message goes back as the client has read it.
    conversation = CITIES + [message] + answers(message.tool_calls)
    last = client.chat.completions.create(model="fake/tools", messages=conversation, tools=[WEATHER])
    assert last.choices[0].message.content == "Lisbon is sunny, Oslo is rainy", last


def streamed_tools():
    with client.chat.completions.stream(model="fake/tools", messages=CITIES, tools=[WEATHER]) as events:
        kinds = [event.type for event in events]
        whole = events.get_final_completion()
    assert kinds.count("tool_calls.function.arguments.done") == 2, kinds
    assert kinds.count("tool_calls.function.arguments.delta") >= 4, kinds
    assert whole.choices[0].finish_reason == "tool_calls", whole
    answers(whole.choices[0].message.tool_calls)


def json_schema():
    class City(pydantic.BaseModel):
        city: str
        degrees: int

    reply = client.chat.completions.parse(model="fake/json", messages=HELLO, response_format=City)
    assert reply.choices[0].message.parsed == City(city="Lisbon", degrees=21), reply


def embeddings():
    for chosen in ({}, {"encoding_format": "float"}):
        reply = client.embeddings.create(model="fake/vectors", input=["a", "bcd"], **chosen)
        assert [one.embedding for one in reply.data] == [[1.0, 0.5, -0.25], [3.0, 0.5, -0.25]], reply
        assert [one.index for one in reply.data] == [0, 1] and reply.usage.prompt_tokens == 4, reply


def models():
    known = [model.id for model in client.models.list()]
    assert {"fake/echo", "fake/vectors", "balanced"} <= set(known), known


def refused(kind, status, code, ask):
    try:
        ask()
    except openai.APIStatusError as error:
        assert type(error) is kind and error.status_code == status and error.code == code, repr(error)
        return error
    raise AssertionError(f"was not refused with {code}")


def unauthenticated():
    stranger = client.with_options(api_key="kyb_00000000000000000000000000000000")
    ask = lambda: stranger.chat.completions.create(model="fake/echo", messages=HELLO)
    refused(openai.AuthenticationError, 401, "UNAUTHENTICATED", ask)


def not_found():
    ask = lambda: client.chat.completions.create(model="ghost", messages=HELLO)
    error = refused(openai.NotFoundError, 404, "NOT_FOUND", ask)
    assert "ghost" in error.message, error.message


def invalid():
    ask = lambda: client.chat.completions.create(model="fake/echo", messages=HELLO, n=2)
    error = refused(openai.BadRequestError, 400, "VALIDATION_ERROR", ask)
    assert error.body["details"][0]["path"] == "/n", error.body


def over_budget():
    poor = client.with_options(api_key=POOR)
    ask = lambda: poor.chat.completions.create(model="fake/echo", messages=HELLO)
    refused(openai.APIStatusError, 402, "BUDGET_EXCEEDED", ask)
    ask = lambda: poor.chat.completions.create(model="fake/echo", messages=HELLO, stream=True)
    refused(openai.APIStatusError, 402, "BUDGET_EXCEEDED", ask)


def rate_limited():
    once = openai.OpenAI(base_url=IMPATIENT, api_key=KEY, max_retries=0)
    ask = lambda: once.chat.completions.create(model="fake/busy", messages=HELLO)
    error = refused(openai.RateLimitError, 429, "RATE_LIMITED", ask)
    assert error.response.headers["retry-after"] == "2", error.response.headers


def retried():
    again = openai.OpenAI(base_url=IMPATIENT, api_key=KEY, max_retries=3)
    begun = time.monotonic()
    raw = again.chat.completions.with_raw_response.create(model="fake/busy", messages=HELLO)
    took = time.monotonic() - begun
    assert raw.retries_taken == 1 and took >= 1.9, (raw.retries_taken, took)
    assert raw.parse().choices[0].message.content == "you said: hello", raw.text


def cut():
    text = ""
    try:
        for chunk in client.chat.completions.create(model="fake/cut", messages=HELLO, stream=True):
            text += chunk.choices[0].delta.content or ""
    except openai.APIError as error:
        assert error.code == "MODEL_ERROR" and text == "half a ", (repr(error), text)
        return
    raise AssertionError("a stream that was cut looks whole")


def no_model():
    nobody = openai.OpenAI(base_url=OFFLINE, api_key=KEY)
    for model in ("balanced", "agent:assistant"):
        for streams in (False, True):
            ask = lambda: nobody.chat.completions.create(model=model, messages=HELLO, stream=streams)
            refused(openai.UnprocessableEntityError, 422, "UNPROCESSABLE", ask)


for check in (
    chat, stream, routed, agent, tools, streamed_tools, json_schema, embeddings, models, unauthenticated, not_found,
    invalid, over_budget, rate_limited, retried, cut, no_model,
):
    check()
    print(check.__name__, flush=True)
