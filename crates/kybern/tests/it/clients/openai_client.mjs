// OpenAI's client for Node, unchanged, against a gateway. Prints a line for each check that held; stops at the first
// that did not.
import assert from "node:assert/strict";
import OpenAI from "openai";

const { KYBERN_URL: baseURL, KYBERN_IMPATIENT_URL: impatient, KYBERN_OFFLINE_URL: offline } = process.env;
const { KYBERN_KEY: apiKey, KYBERN_POOR_KEY: poor } = process.env;
const client = new OpenAI({ baseURL, apiKey });
const messages = [{ role: "user", content: "hello" }];
const parameters = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const weather = {
  type: "function",
  function: { name: "get_weather", description: "The weather of a city.", parameters },
};
const cities = [{ role: "user", content: "How is the weather in Lisbon and in Oslo?" }];

function answers(calls) {
  assert.deepEqual(calls.map((call) => call.function.name), ["get_weather", "get_weather"]);
  assert.equal(new Set(calls.map((call) => call.id)).size, 2);
  const said = { Lisbon: "sunny", Oslo: "rainy" };
  const names = calls.map((call) => JSON.parse(call.function.arguments).city);
  assert.deepEqual(names, ["Lisbon", "Oslo"]);
  return calls.map((call, n) => ({ role: "tool", tool_call_id: call.id, content: said[names[n]] }));
}

async function refused(kind, status, code, ask) {
  const error = await ask().then(() => assert.fail(`was not refused with ${code}`), (error) => error);
  assert.ok(error instanceof kind, error);
  assert.deepEqual([error.status, error.code], [status, code]);
  return error;
}

const checks = {
  async chat() {
    const reply = await client.chat.completions.create({ model: "fake/echo", messages, temperature: 0.5, max_tokens: 50 });
    assert.deepEqual([reply.object, reply.model], ["chat.completion", "fake/echo"]);
    const [choice] = reply.choices;
    assert.deepEqual([choice.message.role, choice.message.content], ["assistant", "you said: hello"]);
    assert.equal(choice.finish_reason, "stop");
    const { prompt_tokens, completion_tokens, total_tokens } = reply.usage;
    assert.deepEqual([prompt_tokens, completion_tokens, total_tokens], [12, 7, 19]);
  },
  async stream() {
    let text = "";
    const [finish, usage] = [[], []];
    const options = { stream: true, stream_options: { include_usage: true } };
    for await (const chunk of await client.chat.completions.create({ model: "echo", messages, ...options })) {
      assert.equal(chunk.object, "chat.completion.chunk");
      for (const choice of chunk.choices) {
        text += choice.delta.content ?? "";
        if (choice.finish_reason) finish.push(choice.finish_reason);
      }
      if (chunk.usage) usage.push([chunk.usage.prompt_tokens, chunk.usage.completion_tokens]);
    }
    assert.deepEqual([text, finish, usage], ["you said: hello", ["stop"], [[12, 7]]]);
  },
  async routed() {
    for (const model of ["balanced", "fake", "echo"]) {
      const reply = await client.chat.completions.create({ model, messages });
      assert.deepEqual([reply.model, reply.choices[0].message.content], ["fake/echo", "you said: hello"]);
    }
  },
  async agent() {
    const model = "agent:assistant";
    const reply = await client.chat.completions.create({ model, messages });
    assert.deepEqual([reply.model, reply.choices[0].message.content], [model, "you said: hello"]);
    let [text, finish] = ["", null];
    for await (const { choices } of await client.chat.completions.create({ model, messages, stream: true })) {
      text += choices[0].delta.content ?? "";
      finish = choices[0].finish_reason;
    }
    assert.deepEqual([text, finish], ["you said: hello", "stop"]);
  },
  async tools() {
    const asks = { model: "fake/tools", tools: [weather], tool_choice: "auto", parallel_tool_calls: true };
    const first = await client.chat.completions.create({ ...asks, messages: cities });
    assert.equal(first.choices[0].finish_reason, "tool_calls");
    const { message } = first.choices[0];
    // The message goes back as the client has read it.
    const conversation = [...cities, message, ...answers(message.tool_calls)];
    const last = await client.chat.completions.create({ ...asks, messages: conversation });
    assert.equal(last.choices[0].message.content, "Lisbon is sunny, Oslo is rainy");
  },
  async streamed_tools() {
    const runner = client.chat.completions.stream({ model: "fake/tools", messages: cities, tools: [weather] });
    let fragments = 0;
    runner.on("tool_calls.function.arguments.delta", () => fragments++);
    const whole = await runner.finalChatCompletion();
    assert.ok(fragments >= 4, `${fragments} fragments`);
    assert.equal(whole.choices[0].finish_reason, "tool_calls");
    answers(whole.choices[0].message.tool_calls);
  },
  async json_schema() {
    const properties = { city: { type: "string" }, degrees: { type: "integer" } };
    const schema = { type: "object", properties, required: ["city", "degrees"], additionalProperties: false };
    const format = { type: "json_schema", json_schema: { name: "City", schema, strict: true } };
    const reply = await client.chat.completions.parse({ model: "fake/json", messages, response_format: format });
    assert.deepEqual(JSON.parse(reply.choices[0].message.content), { city: "Lisbon", degrees: 21 });
  },
  async embeddings() {
    for (const chosen of [{}, { encoding_format: "float" }]) {
      const reply = await client.embeddings.create({ model: "fake/vectors", input: ["a", "bcd"], ...chosen });
      assert.deepEqual(reply.data.map((one) => [...one.embedding]), [[1, 0.5, -0.25], [3, 0.5, -0.25]]);
      assert.deepEqual([reply.data.map((one) => one.index), reply.usage.prompt_tokens], [[0, 1], 4]);
    }
  },
  async models() {
    const known = new Set();
    for await (const model of client.models.list()) known.add(model.id);
    for (const id of ["fake/echo", "fake/vectors", "balanced"]) assert.ok(known.has(id), id);
  },
  async unauthenticated() {
    const stranger = new OpenAI({ baseURL, apiKey: "kyb_00000000000000000000000000000000" });
    const ask = () => stranger.chat.completions.create({ model: "fake/echo", messages });
    await refused(OpenAI.AuthenticationError, 401, "UNAUTHENTICATED", ask);
  },
  async not_found() {
    const ask = () => client.chat.completions.create({ model: "ghost", messages });
    assert.match((await refused(OpenAI.NotFoundError, 404, "NOT_FOUND", ask)).message, /ghost/);
  },
  async invalid() {
    const ask = () => client.chat.completions.create({ model: "fake/echo", messages, n: 2 });
    const error = await refused(OpenAI.BadRequestError, 400, "VALIDATION_ERROR", ask);
    assert.equal(error.error.details[0].path, "/n");
  },
  async over_budget() {
    const broke = new OpenAI({ baseURL, apiKey: poor });
    for (const stream of [false, true]) {
      const ask = () => broke.chat.completions.create({ model: "fake/echo", messages, stream });
      await refused(OpenAI.APIError, 402, "BUDGET_EXCEEDED", ask);
    }
  },
  async rate_limited() {
    const once = new OpenAI({ baseURL: impatient, apiKey, maxRetries: 0 });
    const ask = () => once.chat.completions.create({ model: "fake/busy", messages });
    const error = await refused(OpenAI.RateLimitError, 429, "RATE_LIMITED", ask);
    assert.equal(error.headers.get("retry-after"), "2");
  },
  async retried() {
    const seen = [];
    const watched = async (...asked) => {
      const answer = await fetch(...asked);
      seen.push(answer.status);
      return answer;
    };
    const again = new OpenAI({ baseURL: impatient, apiKey, maxRetries: 3, fetch: watched });
    const begun = performance.now();
    const reply = await again.chat.completions.create({ model: "fake/busy", messages });
    const took = performance.now() - begun;
    assert.deepEqual(seen, [429, 200]);
    assert.ok(took >= 1900, `after ${took} ms`);
    assert.equal(reply.choices[0].message.content, "you said: hello");
  },
  async cut() {
    let text = "";
    const ask = async () => {
      for await (const chunk of await client.chat.completions.create({ model: "fake/cut", messages, stream: true })) {
        text += chunk.choices[0].delta.content ?? "";
      }
    };
    await refused(OpenAI.APIError, undefined, "MODEL_ERROR", ask);
    assert.equal(text, "half a ");
  },
  async no_model() {
    const nobody = new OpenAI({ baseURL: offline, apiKey });
    for (const model of ["balanced", "agent:assistant"]) {
      for (const stream of [false, true]) {
        const ask = () => nobody.chat.completions.create({ model, messages, stream });
        await refused(OpenAI.UnprocessableEntityError, 422, "UNPROCESSABLE", ask);
      }
    }
  },
};

for (const [name, check] of Object.entries(checks)) {
  await check();
  console.log(name);
}
