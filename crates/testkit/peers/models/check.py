"""Holds requests and answers against the types that the providers' own packages publish.

Reads a list of {provider, request, answer} on stdin. What a type does not know is a fault, and so is what does
not have its type; each request is also spoiled once, which must be seen.
"""

import copy
import json
import sys

from pydantic import ConfigDict, TypeAdapter, ValidationError


def gemini():
    from google.genai import types

    class Request(types._common.BaseModel):
        contents: list[types.Content]
        system_instruction: types.Content | None = None
        generation_config: types.GenerationConfig | None = None

    return Request, types.GenerateContentResponse, ("generationConfig", "responseMimeType")


def anthropic():
    from anthropic.types import Message
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

    return MessageCreateParamsNonStreaming, Message, ("max_tokens",)


def openai():
    from openai.types.chat import ChatCompletion
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

    return CompletionCreateParamsNonStreaming, ChatCompletion, ("messages",)


def adapter(type_):
    if hasattr(type_, "model_fields"):
        return TypeAdapter(type_)
    # A dictionary with known keys: others are a fault.
    type_.__pydantic_config__ = ConfigDict(extra="forbid")
    return TypeAdapter(type_)


def spoiled(request, path):
    request = copy.deepcopy(request)
    place = request
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = {"no": ["such", "thing"]}
    return request


def look_at_all(value):
    """What may be any sequence is checked when it is looked at, and not before."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list) or hasattr(value, "__next__"):
        for item in value:
            look_at_all(item)


def fits(type_, value):
    try:
        look_at_all(adapter(type_).validate_python(value))
    except ValidationError as error:
        return str(error)
    return None


def main():
    kinds = {"gemini": gemini, "anthropic": anthropic, "openai": openai}
    for entry in json.load(sys.stdin):
        provider, request = entry["provider"], entry["request"]
        request_type, answer_type, path = kinds[provider]()
        for type_, value in ((request_type, request), (answer_type, entry["answer"])):
            why = fits(type_, value)
            if why:
                sys.exit(f"{provider}: {why}\n{json.dumps(value)[:2000]}")
        if fits(request_type, spoiled(request, path)) is None:
            sys.exit(f"{provider}: a spoiled request fits, too")
        print(f"{provider} fits")


main()
