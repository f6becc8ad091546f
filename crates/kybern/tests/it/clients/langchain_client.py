"""LangChain's client for OpenAI's API, unchanged, against a gateway. Prints a line for each check that held; stops at the
first that did not."""

import os
import time

import openai
import pydantic
from langchain_core import exceptions
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

URL, IMPATIENT, OFFLINE = (os.environ[f"KYBERN_{name}URL"] for name in ("", "IMPATIENT_", "OFFLINE_"))
KEY, POOR = os.environ["KYBERN_KEY"], os.environ["KYBERN_POOR_KEY"]
CITIES = HumanMessage("How is the weather in Lisbon and in Oslo?")


def model(name, **settings):
    return ChatOpenAI(**{"model": name, "base_url": URL, "api_key": KEY} | settings)


@tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return {"Lisbon": "sunny", "Oslo": "rainy"}[city]


def answers(calls):
    assert [(call["name"], call["args"]) for call in calls] == [
        ("get_weather", {"city": "Lisbon"}), ("get_weather", {"city": "Oslo"}),
    ], calls
    assert len({call["id"] for call in calls}) == 2, calls
    return [get_weather.invoke(call) for call in calls]


def whole(chunks):
    first, *rest = chunks
    for chunk in rest:
        first += chunk
    return first


def counted(reply):
    return [reply.usage_metadata[name] for name in ("input_tokens", "output_tokens", "total_tokens")]


def chat():
    reply = model("fake/echo", temperature=0.5, max_tokens=50).invoke("hello")
    assert (reply.content, reply.tool_calls) == ("you said: hello", []), reply
    told = reply.response_metadata
    assert (told["model_name"], told["finish_reason"]) == ("fake/echo", "stop"), reply
    assert counted(reply) == [12, 7, 19], reply


def stream():
    reply = whole(model("echo", stream_usage=True).stream("hello"))
    assert (reply.content, reply.response_metadata["finish_reason"]) == ("you said: hello", "stop"), reply
    assert counted(reply) == [12, 7, 19], reply


def routed():
    for name in ("balanced", "fake", "echo"):
        reply = model(name).invoke("hello")
        assert (reply.response_metadata["model_name"], reply.content) == ("fake/echo", "you said: hello"), reply


def agent():
    assistant = model("agent:assistant")
    reply = assistant.invoke("hello")
    assert (reply.response_metadata["model_name"], reply.content) == ("agent:assistant", "you said: hello"), reply
    reply = whole(assistant.stream("hello"))
    assert (reply.content, reply.response_metadata["finish_reason"]) == ("you said: hello", "stop"), reply


def tools():
    able = model("fake/tools").bind_tools([get_weather], tool_choice="auto", parallel_tool_calls=True)
    first = able.invoke([CITIES])
    assert first.response_metadata["finish_reason"] == "tool_calls", first
    # The message goes back as the client has read it.
    last = able.invoke([CITIES, first, *answers(first.tool_calls)])
    assert last.content == "Lisbon is sunny, Oslo is rainy", last


def streamed_tools():
    chunks = list(model("fake/tools").bind_tools([get_weather]).stream([CITIES]))
    fragments = [one for chunk in chunks for one in chunk.tool_call_chunks if one["args"]]
    assert len(fragments) >= 4, fragments
    reply = whole(chunks)
    assert reply.response_metadata["finish_reason"] == "tool_calls", reply
    answers(reply.tool_calls)


def json_schema():
    class City(pydantic.BaseModel):
        city: str
        degrees: int

    reply = model("fake/json").with_structured_output(City).invoke("hello")
    assert reply == City(city="Lisbon", degrees=21), reply


def embeddings():
    # Otherwise it sends tokens, of a tokenizer that it fetches from the internet.
    vectors = OpenAIEmbeddings(model="fake/vectors", base_url=URL, api_key=KEY, check_embedding_ctx_length=False)
    many = vectors.embed_documents(["a", "bcd"])
    assert many == [[1.0, 0.5, -0.25], [3.0, 0.5, -0.25]], many
    one = vectors.embed_query("a")
    assert one == [1.0, 0.5, -0.25], one


def models():
    # LangChain has no list of its own; this is the client through which it asks.
    known = [one.id for one in model("fake/echo").root_client.models.list()]
    assert {"fake/echo", "fake/vectors", "balanced"} <= set(known), known


def refused(kind, status, code, ask):
    try:
        ask()
    except openai.APIStatusError as error:
        # LangChain's own kinds of errors are OpenAI's as well; those for which it has none are OpenAI's alone.
        assert isinstance(error, kind) and (error.status_code, error.code) == (status, code), repr(error)
        return error
    raise AssertionError(f"was not refused with {code}")


def unauthenticated():
    stranger = model("fake/echo", api_key="kyb_00000000000000000000000000000000")
    refused(exceptions.ModelAuthenticationError, 401, "UNAUTHENTICATED", lambda: stranger.invoke("hello"))


def not_found():
    error = refused(exceptions.ModelNotFoundError, 404, "NOT_FOUND", lambda: model("ghost").invoke("hello"))
    assert "ghost" in error.message, error.message


def invalid():
    ask = lambda: model("fake/echo", n=2).invoke("hello")
    error = refused(exceptions.ModelInvalidRequestError, 400, "VALIDATION_ERROR", ask)
    assert error.body["details"][0]["path"] == "/n", error.body


def over_budget():
    poor = model("fake/echo", api_key=POOR)
    for ask in (lambda: poor.invoke("hello"), lambda: list(poor.stream("hello"))):
        refused(openai.APIStatusError, 402, "BUDGET_EXCEEDED", ask)


def rate_limited():
    once = model("fake/busy", base_url=IMPATIENT, max_retries=0)
    error = refused(exceptions.ModelRateLimitError, 429, "RATE_LIMITED", lambda: once.invoke("hello"))
    assert error.response.headers["retry-after"] == "2", error.response.headers


def retried():
    seen = []
    watched = openai.DefaultHttpxClient(event_hooks={"response": [lambda response: seen.append(response.status_code)]})
    begun = time.monotonic()
    reply = model("fake/busy", base_url=IMPATIENT, max_retries=3, http_client=watched).invoke("hello")
    took = time.monotonic() - begun
    assert seen == [429, 200] and took >= 1.9, (seen, took)
    assert reply.content == "you said: hello", reply


def cut():
    text = ""
    try:
        for chunk in model("fake/cut").stream("hello"):
            text += chunk.content
    except openai.APIError as error:
        assert error.code == "MODEL_ERROR" and text == "half a ", (repr(error), text)
        return
    raise AssertionError("a stream that was cut looks whole")


def no_model():
    for name in ("balanced", "agent:assistant"):
        nobody = model(name, base_url=OFFLINE)
        for ask in (lambda: nobody.invoke("hello"), lambda: list(nobody.stream("hello"))):
            refused(openai.UnprocessableEntityError, 422, "UNPROCESSABLE", ask)


for check in (
    chat, stream, routed, agent, tools, streamed_tools, json_schema, embeddings, models, unauthenticated, not_found,
    invalid, over_budget, rate_limited, retried, cut, no_model,
):
    check()
    print(check.__name__, flush=True)
