"""The `openai:` adapter: models behind any server that speaks OpenAI's HTTP API.

```text
loader     address -> adapter; the health check      speaker    a conversation to a reply
endpoint   where it is, the key, the limits          chat       messages to replies
server     one connection: slots, pauses, memory     captioner  pictures to prose
caller     one request: repeats, refused parts       embedder   texts to vectors
fault      what can go wrong                         speech     sound to text
diagnose   what a server's error means               pictures   JPEG, times, sizes
replies    a completion to a typed Reply             threads    many at once
```

Works with OpenAI, vLLM, LM Studio, Ollama, llama.cpp. The `openai` package is imported at
the first request, so that a statement whose captions are all there needs neither it nor a
key.
"""
