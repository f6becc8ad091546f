#!/usr/bin/env python3
"""Takes the facts about models out of the price table of the PyPI package litellm.

    pip download --no-deps litellm && unzip litellm-*.whl 'litellm/model_prices*'
    python3 take.py litellm/model_prices_and_context_window_backup.json > models.json

Kept: providers that Kybern speaks to, models that converse or embed, and that are not withdrawn. Prices become whole
nano-dollars per million tokens.
"""
import datetime
import json
import sys

# The table's name of a provider, and Kybern's.
PROVIDERS = {
    "openai": "openai",
    "anthropic": "anthropic",
    "gemini": "google",
    "deepseek": "deepseek",
    "groq": "groq",
    "mistral": "mistral",
    "zai": "zhipu",
    "cohere_chat": "cohere",
    "cohere": "cohere",
    "together_ai": "together",
    "fireworks_ai": "fireworks",
    "perplexity": "perplexity",
    "openrouter": "openrouter",
    "xai": "xai",
}
KINDS = {"chat": "chat", "responses": "chat", "embedding": "embedding"}


def price(entry, name):
    value = entry.get(name)
    return None if value is None else round(float(value) * 1e15)


def bare(key, provider):
    for prefix in (provider + "/", "gemini/", "mistral/", "zai/", "together_ai/", "fireworks_ai/", "openrouter/"):
        if key.startswith(prefix):
            return key[len(prefix):]
    return key


def number(value):
    return int(value) if isinstance(value, (int, float)) and value > 0 else None


def main():
    table = json.load(open(sys.argv[1], encoding="utf-8"))
    today = datetime.date.today().isoformat()
    found = {}
    for key, entry in table.items():
        source = entry.get("litellm_provider")
        provider, kind = PROVIDERS.get(source), KINDS.get(entry.get("mode"))
        if provider is None or kind is None or key.startswith("ft:"):
            continue
        if entry.get("deprecation_date", "9999") < today:
            continue
        read, written = price(entry, "input_cost_per_token"), price(entry, "output_cost_per_token")
        if read is None:
            continue
        model = {"name": bare(key, source), "kind": kind, "window": number(entry.get("max_input_tokens"))}
        if kind == "chat":
            model["maxOutput"] = number(entry.get("max_output_tokens"))
            for ours, theirs in (
                ("functions", "supports_function_calling"),
                ("images", "supports_vision"),
                ("jsonSchema", "supports_response_schema"),
                ("reasoning", "supports_reasoning"),
            ):
                if entry.get(theirs):
                    model[ours] = True
        prices = {"input": read}
        for ours, theirs in (("cached", "cache_read_input_token_cost"), ("cacheWrite", "cache_creation_input_token_cost")):
            value = price(entry, theirs)
            if value is not None and value != read:
                prices[ours] = value
        prices["output"] = written or 0
        model["prices"] = prices
        model = {name: value for name, value in model.items() if value is not None}
        found.setdefault(provider, {}).setdefault(model["name"], model)
    lines = []
    for provider in sorted(found):
        models = [json.dumps(found[provider][name], separators=(",", ":")) for name in sorted(found[provider])]
        lines.append(json.dumps(provider) + ":[\n" + ",\n".join(models) + "\n]")
    print("{\n" + ",\n".join(lines) + "\n}")


main()
