"""What a scripted judge writes: the form is the one that the request asks for, the content follows from the judge's leaning.

Owns: reading the asked form from a request, and filling it. Must not know: HTTP, clients, or Tribunal.

A leaning from 0 (finds fault) to 1 (approves) picks from placeholders. `{{yes|no}}` lists words from best to worst, `{{1..5}}`
a range from worst to best; `"{{=true|false}}"` and `"{{=0..10}}"` are values of JSON without quotes. `{{@name}}` picks from what
the patterns under `find` captured in the request, best first. What no placeholder can say stands as a whole under `otherwise`, for
leanings below one half.
"""

import json
import math
import re

PLACEHOLDER = re.compile(r'"\{\{=(?P<value>[^{}]+)\}\}"|\{\{(?P<text>[^{}]+)\}\}')
REASON = "{{The answer names the right city.|The answer does not convince.}}"
# Words of labels, from which it is seen what approves.
APPROVING = {"yes", "y", "true", "correct", "right", "good", "pass", "faithful", "supported", "relevant", "c", "a"}
# Integers of these names are flags.
FLAGS = {"verdict", "attributed", "correct", "noncommittal"}
DEEPEST = 12


class Reply:
    """A text with the probabilities of its verdict words, and the tool it is the arguments of."""

    def __init__(self, pieces, tool=None):
        self.pieces, self.tool = pieces, tool

    @property
    def text(self):
        return "".join(text for text, _ in self.pieces)


def reply(body, leaning, rules):
    """The answer to a chat or responses request. `rules` come first, then the asked form by itself."""
    tool = forced_tool(body)
    asked = text_of(body)
    rule = next((rule for rule in rules if re.search(rule["match"], asked, re.DOTALL)), {})
    schema = tool[1] if tool else schema_of(body) or schema_in(asked)
    template = rule.get("reply") if leaning >= 0.5 else rule.get("otherwise", rule.get("reply"))
    if template is None:
        template = filled(schema, rule.get("fields", {})) if schema else "{{yes|no}}"
    elif tool and isinstance(template, str):
        template = filled(schema, rule.get("fields", {}))
    pieces = rendered(template, leaning, captured(rule.get("find", {}), asked))
    return Reply(pieces, tool[0] if tool else None)


def text_of(body):
    """All text of the messages, in either wire form."""
    messages = body.get("messages") or body.get("input") or ""
    texts = [body.get("instructions") or ""]
    for message in [messages] if isinstance(messages, str) else messages:
        content = message.get("content") if isinstance(message, dict) else message
        parts = [content] if isinstance(content, str) else content or []
        texts += [part if isinstance(part, str) else part.get("text") or "" for part in parts]
    return "\n".join(texts)


def forced_tool(body):
    """Name and parameters of the tool that has to be called."""
    choice = body.get("tool_choice")
    tools = [tool.get("function") or tool for tool in body.get("tools") or []]
    if not tools or not (isinstance(choice, dict) or choice in ("required", "any")):
        return None
    wanted = (choice.get("function") or choice).get("name") if isinstance(choice, dict) else tools[0]["name"]
    tool = next((tool for tool in tools if tool["name"] == wanted), tools[0])
    return tool["name"], tool.get("parameters") or {}


def schema_of(body):
    chat = body.get("response_format") or {}
    if chat.get("type") == "json_schema":
        return chat["json_schema"].get("schema") or {}
    responses = (body.get("text") or {}).get("format") or {}
    return responses.get("schema") if responses.get("type") == "json_schema" else None


def schema_in(text):
    """The last JSON Schema that stands in a prompt."""
    decoder, found, start = json.JSONDecoder(), None, text.find("{")
    while start >= 0:
        try:
            value, end = decoder.raw_decode(text, start)
        except ValueError:
            start = text.find("{", start + 1)
            continue
        if isinstance(value, dict) and isinstance(value.get("properties"), dict):
            found = value
        start = text.find("{", end)
    return found


def captured(patterns, text):
    """Name to what its patterns captured, best first; a pattern that is not in the text gives the word `none`."""
    found = {}
    for name, alternatives in patterns.items():
        matches = [re.search(pattern, text, re.DOTALL) for pattern in alternatives]
        found[name] = [match.group(1) if match else "none" for match in matches]
    return found


def filled(schema, fields, root=None, name=None, depth=0):
    """A template of an object of this schema; `fields` has templates for properties by name."""
    root = schema if root is None else root
    if name in fields:
        return fields[name]
    if depth > DEEPEST:
        return None
    if "$ref" in schema:
        return filled(pointed_at(root, schema["$ref"]), fields, root, name, depth + 1)
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            options = [option for option in schema[several] if option.get("type") != "null"] or schema[several]
            return filled(options[0], fields, root, name, depth + 1)
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        return filled_object(schema, fields, root, depth)
    if kind == "array":
        return [filled(schema.get("items") or {}, fields, root, None, depth + 1)]
    return filled_leaf(schema, name, kind)


def pointed_at(root, pointer):
    for part in pointer.removeprefix("#/").split("/"):
        root = root.get(part, {})
    return root


def filled_object(schema, fields, root, depth):
    properties = schema.get("properties") or {}
    further = schema.get("additionalProperties")
    if not properties and isinstance(further, dict):
        return {"quality": filled(further, fields, root, None, depth + 1)}
    return {name: filled(part, fields, root, name, depth + 1) for name, part in properties.items()}


def filled_leaf(schema, name, kind):
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return choice(schema["enum"])
    if pattern := re.fullmatch(r"\^\(([\w|]+)\)\$", schema.get("pattern", "")):
        return choice(pattern.group(1).split("|"))
    if kind == "boolean":
        return "{{=true|false}}"
    if kind == "integer":
        low, high = (0, 1) if name in FLAGS else (1, 5)
        return "{{=%d..%d}}" % (schema.get("minimum", low), schema.get("maximum", high))
    if kind == "number":
        return "{{=%s..%s}}" % (float(schema.get("minimum", 0)), float(schema.get("maximum", 1)))
    return REASON


def choice(values):
    """A placeholder for one of these, with what approves in front: large numbers, approving words, else as they stand."""
    if all(isinstance(value, (int, float)) for value in values):
        return "{{=%s}}" % "|".join(json.dumps(value) for value in sorted(values, reverse=True))
    return "{{%s}}" % "|".join(sorted(values, key=lambda value: str(value).lower() not in APPROVING))


def rendered(template, leaning, found):
    """Text pieces of a template, each with the probabilities of the words that could stand there, or None."""
    text = template if isinstance(template, str) else json.dumps(template, ensure_ascii=False)
    pieces, end = [], 0
    for match in PLACEHOLDER.finditer(text):
        pieces.append((text[end:match.start()], None))
        words = alternatives(match["value"] or match["text"], found)
        chosen = round((1 - leaning) * (len(words) - 1) + 1e-9)
        is_word = not any(" " in word for word in words)
        pieces.append((words[chosen], shares(words, chosen) if is_word else None))
        end = match.end()
    pieces.append((text[end:], None))
    return [piece for piece in pieces if piece[0]]


def alternatives(written, found):
    """The words of a placeholder, best first."""
    if written.startswith("@"):
        return found.get(written[1:], ["none"])
    limits = re.fullmatch(r"(-?[\d.]+?)\.\.(-?[\d.]+)", written)
    if not limits:
        return written.split("|")
    if "." in limits[1] + limits[2]:
        low, high = float(limits[1]), float(limits[2])
        return [str(round(high - (high - low) * step / 20, 3)) for step in range(21)]
    return [str(value) for value in range(int(limits[2]), int(limits[1]) - 1, -1)]


def shares(words, chosen):
    """Probabilities that fall with the distance from the chosen word."""
    weights = [0.15 ** abs(index - chosen) for index in range(len(words))]
    return {word: weight / sum(weights) for word, weight in zip(words, weights)}


def token_logprobs(pieces, most):
    """The `content` list of an OpenAI logprobs block; its tokens join to the text."""
    tokens = []
    for text, words in pieces:
        if words:
            ranked = sorted(words.items(), key=lambda entry: -entry[1])[:most]
            tokens.append(token(text, math.log(words[text]), [(word, math.log(share)) for word, share in ranked]))
        else:
            tokens += [token(part, -0.01, [(part, -0.01)][:most]) for part in re.findall(r"\s*\w+|\s*[^\w\s]+|\s+", text)]
    return tokens


def token(text, logprob, top):
    entry = {"token": text, "logprob": logprob, "bytes": list(text.encode())}
    tops = [{"token": word, "logprob": share, "bytes": list(word.encode())} for word, share in top]
    return {**entry, "top_logprobs": tops}
