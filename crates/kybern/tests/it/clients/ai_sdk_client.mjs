// Vercel's AI SDK, unchanged, against a gateway. Prints a line for each check that held; stops at the first that did not.
import assert from "node:assert/strict";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, embed, embedMany, generateText, isStepCount, jsonSchema, Output, streamText, tool } from "ai";

const { KYBERN_URL: baseURL, KYBERN_IMPATIENT_URL: impatient, KYBERN_OFFLINE_URL: offline } = process.env;
const { KYBERN_KEY: apiKey, KYBERN_POOR_KEY: poor } = process.env;
const settings = { name: "kybern", baseURL, apiKey, includeUsage: true, supportsStructuredOutputs: true };
const kybern = createOpenAICompatible(settings);
const hello = { model: kybern("fake/echo"), prompt: "hello" };
const inputSchema = jsonSchema({ type: "object", properties: { city: { type: "string" } }, required: ["city"] });
const weather = { description: "The weather of a city.", inputSchema };
const cities = { model: kybern("fake/tools"), prompt: "How is the weather in Lisbon and in Oslo?" };

function provider(more) {
  return createOpenAICompatible({ ...settings, ...more });
}

function called(calls) {
  const names = calls.map(({ toolName, input }) => [toolName, input]);
  assert.deepEqual(names, [["get_weather", { city: "Lisbon" }], ["get_weather", { city: "Oslo" }]]);
  assert.equal(new Set(calls.map((call) => call.toolCallId)).size, 2);
}

// What comes in pieces: an error is one of them, and is not thrown.
async function streamed(asked) {
  const parts = [];
  for await (const part of streamText({ ...asked, onError() {} }).stream) parts.push(part);
  const of = (type) => parts.filter((part) => part.type === type);
  const text = of("text-delta").map((part) => part.text).join("");
  return { of, text, finish: of("finish").at(-1), error: of("error").at(0)?.error };
}

function failed(error, status, code) {
  assert.ok(APICallError.isInstance(error), error);
  assert.deepEqual([error.statusCode, error.data.error.code], [status, code]);
  return error;
}

async function refused(status, code, asked) {
  const error = await generateText(asked).then(() => assert.fail(`was not refused with ${code}`), (error) => error);
  return failed(error, status, code);
}

function counted({ inputTokens, outputTokens, totalTokens }) {
  assert.deepEqual([inputTokens, outputTokens, totalTokens], [12, 7, 19]);
}

const checks = {
  async chat() {
    const reply = await generateText({ ...hello, temperature: 0.5, maxOutputTokens: 50 });
    assert.deepEqual([reply.text, reply.finishReason], ["you said: hello", "stop"]);
    assert.equal(reply.response.modelId, "fake/echo");
    counted(reply.usage);
  },
  async stream() {
    const reply = await streamed({ ...hello, model: kybern("echo") });
    assert.deepEqual([reply.text, reply.finish.finishReason], ["you said: hello", "stop"]);
    counted(reply.finish.totalUsage);
  },
  async routed() {
    for (const name of ["balanced", "fake", "echo"]) {
      const reply = await generateText({ ...hello, model: kybern(name) });
      assert.deepEqual([reply.response.modelId, reply.text], ["fake/echo", "you said: hello"]);
    }
  },
  async agent() {
    const asked = { ...hello, model: kybern("agent:assistant") };
    const reply = await generateText(asked);
    assert.deepEqual([reply.response.modelId, reply.text], ["agent:assistant", "you said: hello"]);
    const inPieces = await streamed(asked);
    assert.deepEqual([inPieces.text, inPieces.finish.finishReason], ["you said: hello", "stop"]);
  },
  async tools() {
    const execute = ({ city }) => ({ Lisbon: "sunny", Oslo: "rainy" })[city];
    const reply = await generateText({
      ...cities,
      tools: { get_weather: tool({ ...weather, execute }) },
      toolChoice: "auto",
      stopWhen: isStepCount(2),
      providerOptions: { kybern: { parallel_tool_calls: true } },
    });
    const [first, last] = reply.steps;
    assert.equal(first.finishReason, "tool-calls");
    called(first.toolCalls);
    assert.equal(last.text, "Lisbon is sunny, Oslo is rainy");
  },
  async streamed_tools() {
    const reply = await streamed({ ...cities, tools: { get_weather: tool(weather) } });
    const fragments = reply.of("tool-input-delta").length;
    assert.ok(fragments >= 4, `${fragments} fragments`);
    assert.equal(reply.finish.finishReason, "tool-calls");
    called(reply.of("tool-call"));
  },
  async json_schema() {
    const properties = { city: { type: "string" }, degrees: { type: "integer" } };
    const schema = { type: "object", properties, required: ["city", "degrees"], additionalProperties: false };
    const output = Output.object({ schema: jsonSchema(schema) });
    const reply = await generateText({ ...hello, model: kybern("fake/json"), output });
    assert.deepEqual(reply.output, { city: "Lisbon", degrees: 21 });
  },
  async embeddings() {
    const model = kybern.embeddingModel("fake/vectors");
    const many = await embedMany({ model, values: ["a", "bcd"] });
    assert.deepEqual([many.embeddings, many.usage.tokens], [[[1, 0.5, -0.25], [3, 0.5, -0.25]], 4]);
    const one = await embed({ model, value: "a" });
    assert.deepEqual(one.embedding, [1, 0.5, -0.25]);
  },
  async models() {
    // The SDK has no call for the list; whoever offers a choice of models reads it beside.
    const answer = await fetch(`${baseURL}/models`, { headers: { authorization: `Bearer ${apiKey}` } });
    const known = (await answer.json()).data.map((model) => model.id);
    for (const id of ["fake/echo", "fake/vectors", "balanced"]) assert.ok(known.includes(id), id);
  },
  async unauthenticated() {
    const stranger = provider({ apiKey: "kyb_00000000000000000000000000000000" });
    await refused(401, "UNAUTHENTICATED", { ...hello, model: stranger("fake/echo") });
  },
  async not_found() {
    assert.match((await refused(404, "NOT_FOUND", { ...hello, model: kybern("ghost") })).message, /ghost/);
  },
  async invalid() {
    const error = await refused(400, "VALIDATION_ERROR", { ...hello, providerOptions: { kybern: { n: 2 } } });
    assert.equal(JSON.parse(error.responseBody).error.details[0].path, "/n");
  },
  async over_budget() {
    const asked = { ...hello, model: provider({ apiKey: poor })("fake/echo") };
    await refused(402, "BUDGET_EXCEEDED", asked);
    failed((await streamed(asked)).error, 402, "BUDGET_EXCEEDED");
  },
  async rate_limited() {
    const asked = { ...hello, model: provider({ baseURL: impatient })("fake/busy"), maxRetries: 0 };
    const error = await refused(429, "RATE_LIMITED", asked);
    assert.deepEqual([error.responseHeaders["retry-after"], error.isRetryable], ["2", true]);
  },
  async retried() {
    const seen = [];
    const watched = async (...asked) => {
      const answer = await fetch(...asked);
      seen.push(answer.status);
      return answer;
    };
    const again = provider({ baseURL: impatient, fetch: watched });
    const begun = performance.now();
    const reply = await generateText({ ...hello, model: again("fake/busy"), maxRetries: 3 });
    const took = performance.now() - begun;
    assert.deepEqual(seen, [429, 200]);
    assert.ok(took >= 1900, `after ${took} ms`);
    assert.equal(reply.text, "you said: hello");
  },
  async cut() {
    const reply = await streamed({ ...hello, model: kybern("fake/cut") });
    assert.deepEqual([reply.text, reply.error.code], ["half a ", "MODEL_ERROR"]);
    assert.notEqual(reply.finish?.finishReason, "stop");
  },
  async no_model() {
    const nobody = provider({ baseURL: offline });
    for (const name of ["balanced", "agent:assistant"]) {
      const asked = { ...hello, model: nobody(name) };
      await refused(422, "UNPROCESSABLE", asked);
      failed((await streamed(asked)).error, 422, "UNPROCESSABLE");
    }
  },
};

for (const [name, check] of Object.entries(checks)) {
  await check();
  console.log(name);
}
