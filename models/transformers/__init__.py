"""The `transformers:` adapter: Hugging Face models on this machine, by hub name or folder.

```text
loader        address -> adapter           network   a model and its processor, loaded and warm
conversation  messages as a template wants them
talker        conversations to replies: Qwen-VL, SmolVLM, LLaVA-OneVision, Gemma, Llama ...
describer     pictures to sentences, for models that read no prompt: BLIP, GIT
local         what these share             captioner, chat  by role
seer          networks that only look      objects, actions  by role
```

Weights are read from safetensors files only, and a program that comes with them runs only
where the user's own config says so. Torch and transformers are imported at the first call.
"""
