"""Tiny models with random weights, saved to folders as real ones are, each with its processor.

Torch is needed to call these, not to import them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

WORDS = (
    "a the red blue green picture at of what is in this say yes no one word car dog and there "
    "describe scene reply with user assistant system answer question 0 1 2 3 4 5 6 7 8 9 : . , ?"
)
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for p in m['content'] %}{% if p['type'] == 'image' %}IMAGE"
    "{% else %}{{ p['text'] }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


def tokenizer(
    specials: tuple[str, ...] = (), template: str = CHATML, named: dict[str, str] | None = None
) -> Any:
    """A byte-level tokenizer that splits anything and knows some words, trained on the spot.

    `named` are the special tokens that a processor finds by attribute.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    names = ["<pad>", "<|im_start|>", "<|im_end|>", *specials]
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=names,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator([WORDS] * 4, trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token="<pad>",
        eos_token="<|im_end|>",
        extra_special_tokens=list(specials),
        clean_up_tokenization_spaces=False,
        model_specific_special_tokens=named or {},
    )
    fast.chat_template = template
    return fast


def seeded(make: Callable[[], Any]) -> Any:
    """The model that `make` gives, with the same random weights each time, large enough that
    different prompts get different replies."""
    import torch

    torch.manual_seed(0)
    torch.set_num_threads(1)  # so small: more threads only wait for each other
    model = make().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0, 0.3)
    return model


def saved(folder: Path, model: Any, *processors: Any) -> Path:
    for part in (model, *processors):
        part.save_pretrained(folder)
    return folder


def llama(folder: Path, context: int = 512, **changes: Any) -> Path:
    """A chat model without pictures."""
    from transformers import LlamaConfig, LlamaForCausalLM

    words = tokenizer()
    config = LlamaConfig(
        vocab_size=len(words), max_position_embeddings=context, **SIZES, **_ends(words), **changes
    )
    return saved(folder, seeded(lambda: LlamaForCausalLM(config)), words)


def _ends(words: Any) -> dict[str, Any]:
    return {
        "pad_token_id": words.pad_token_id,
        "eos_token_id": words.eos_token_id,
        "bos_token_id": None,
    }


def qwen_vl(folder: Path, scale: int = 1, layers: int = 2) -> Path:
    """Qwen2.5-VL: pictures of any size, three-dimensional positions; `scale` times as wide."""
    import transformers as t

    marks = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
    words = tokenizer(marks, CHATML.replace("IMAGE", "<|vision_start|><|image_pad|><|vision_end|>"))
    ids = {m: words.convert_tokens_to_ids(m) for m in marks}
    config = t.Qwen2_5_VLConfig(
        text_config={
            "vocab_size": len(words),
            "max_position_embeddings": 2048,
            "rope_parameters": {
                "rope_type": "default", "rope_theta": 1e4,
                "mrope_section": [scale, scale, 2 * scale],
            },
            **SIZES,
            **_ends(words),
            "hidden_size": 32 * scale,
            "intermediate_size": 64 * scale,
            "num_hidden_layers": layers,
        },
        vision_config={
            "depth": layers, "hidden_size": 32 * scale, "num_heads": 4,
            "intermediate_size": 64 * scale,
            "out_hidden_size": 32 * scale, "patch_size": 14, "window_size": 28,
            "fullatt_block_indexes": [1],
        },
        image_token_id=ids["<|image_pad|>"], video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"], vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=False,
    )  # fmt: skip
    images = t.Qwen2VLImageProcessor(size={"shortest_edge": 28 * 28, "longest_edge": 112 * 112})
    videos = t.Qwen2VLVideoProcessor()
    processor = t.Qwen2_5_VLProcessor(images, words, videos, chat_template=words.chat_template)
    return saved(folder, seeded(lambda: t.Qwen2_5_VLForConditionalGeneration(config)), processor)


def qwen3_vl(folder: Path) -> Path:
    """Qwen3-VL: features of several layers of the picture model go into the words' layers."""
    import transformers as t

    marks = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
    words = tokenizer(marks, CHATML.replace("IMAGE", "<|vision_start|><|image_pad|><|vision_end|>"))
    ids = {m: words.convert_tokens_to_ids(m) for m in marks}
    config = t.Qwen3VLConfig(
        text_config={
            "vocab_size": len(words), "max_position_embeddings": 2048, "head_dim": 8,
            "rope_parameters": {
                "rope_type": "default", "rope_theta": 1e4, "mrope_section": [2, 1, 1],
                "mrope_interleaved": True,
            },
            **SIZES, **_ends(words),
        },
        vision_config={
            "depth": 2, "hidden_size": 32, "num_heads": 4, "intermediate_size": 64,
            "out_hidden_size": 32, "patch_size": 16, "num_position_embeddings": 64,
            "deepstack_visual_indexes": [0],
        },
        image_token_id=ids["<|image_pad|>"], video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"], vision_end_token_id=ids["<|vision_end|>"],
    )  # fmt: skip
    images = t.Qwen2VLImageProcessor(
        patch_size=16, size={"shortest_edge": 32 * 32, "longest_edge": 128 * 128}
    )
    videos = t.Qwen3VLVideoProcessor()
    processor = t.Qwen3VLProcessor(images, words, videos, chat_template=words.chat_template)
    return saved(folder, seeded(lambda: t.Qwen3VLForConditionalGeneration(config)), processor)


def gemma(folder: Path) -> Path:
    """Gemma 3: every picture is as many tokens, seen in both directions; sliding attention."""
    import transformers as t

    named = {
        "boi_token": "<start_of_image>",
        "eoi_token": "<end_of_image>",
        "image_token": "<image_soft_token>",
    }
    template = CHATML.replace("IMAGE", "<start_of_image>")
    words = tokenizer(tuple(named.values()), template, named)
    begin, end, image = (words.convert_tokens_to_ids(m) for m in named.values())
    config = t.Gemma3Config(
        text_config={
            "vocab_size": len(words), "max_position_embeddings": 2048, "head_dim": 8,
            "sliding_window": 64, "query_pre_attn_scalar": 8,
            "layer_types": ["sliding_attention", "full_attention"],
            **SIZES, **_ends(words),
        },
        vision_config={
            "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
            "num_attention_heads": 4, "image_size": 56, "patch_size": 14,
            "vision_use_head": False,
        },
        mm_tokens_per_image=4, boi_token_index=begin, eoi_token_index=end,
        image_token_index=image, tie_word_embeddings=False, **_ends(words),
    )  # fmt: skip
    images = t.Gemma3ImageProcessor(size={"height": 56, "width": 56})
    processor = t.Gemma3Processor(
        images, words, chat_template=words.chat_template, image_seq_length=4
    )
    return saved(folder, seeded(lambda: t.Gemma3ForConditionalGeneration(config)), processor)


def idefics(folder: Path) -> Path:
    """Idefics3, which SmolVLM is: pictures cut into tiles of one size."""
    import transformers as t

    marks = ("<fake_token_around_image>", "<image>", "<end_of_utterance>", "<global-img>")
    words = tokenizer(marks, CHATML.replace("IMAGE", "<image>"))
    config = t.Idefics3Config(
        text_config={
            "model_type": "llama", "vocab_size": len(words), "max_position_embeddings": 2048,
            **SIZES, **_ends(words),
        },
        vision_config={
            "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
            "num_attention_heads": 4, "image_size": 56, "patch_size": 14,
        },
        image_token_id=words.convert_tokens_to_ids("<image>"), scale_factor=2,
        pad_token_id=words.pad_token_id, tie_word_embeddings=False,
    )  # fmt: skip
    images = t.Idefics3ImageProcessor(
        size={"longest_edge": 112}, max_image_size={"longest_edge": 56}
    )
    processor = t.Idefics3Processor(
        images, words, image_seq_len=4, chat_template=words.chat_template
    )
    return saved(folder, seeded(lambda: t.Idefics3ForConditionalGeneration(config)), processor)


def llava(folder: Path) -> Path:
    """LLaVA-OneVision: SigLIP pictures in tiles, Qwen2 for words."""
    import transformers as t

    words = tokenizer(("<image>", "<video>"), CHATML.replace("IMAGE", "<image>\n"))
    config = t.LlavaOnevisionConfig(
        text_config={
            "model_type": "qwen2", "vocab_size": len(words), "max_position_embeddings": 2048,
            **SIZES, **_ends(words),
        },
        vision_config={
            "model_type": "siglip_vision_model", "hidden_size": 32, "intermediate_size": 64,
            "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 28, "patch_size": 14,
            "vision_use_head": False,
        },
        image_token_id=words.convert_tokens_to_ids("<image>"),
        video_token_id=words.convert_tokens_to_ids("<video>"),
        image_grid_pinpoints=[[28, 28], [28, 56], [56, 28]],
        vision_feature_layer=-1, tie_word_embeddings=False,
    )  # fmt: skip
    images = t.LlavaOnevisionImageProcessor(
        size={"height": 28, "width": 28}, image_grid_pinpoints=[[28, 28], [28, 56], [56, 28]]
    )
    videos = t.LlavaOnevisionVideoProcessor(size={"height": 28, "width": 28})
    processor = t.LlavaOnevisionProcessor(
        images, words, videos, num_image_tokens=4, vision_feature_select_strategy="full",
        chat_template=words.chat_template,
    )  # fmt: skip
    return saved(
        folder, seeded(lambda: t.LlavaOnevisionForConditionalGeneration(config)), processor
    )


def blip(folder: Path) -> Path:
    """BLIP: a picture in, a sentence out; it reads no prompt."""
    import transformers as t

    words = tokenizer(("[DEC]",))
    config = t.BlipConfig(
        text_config={
            "vocab_size": len(words), "hidden_size": 32, "encoder_hidden_size": 32,
            "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
            "max_position_embeddings": 64, "bos_token_id": words.convert_tokens_to_ids("[DEC]"),
            "sep_token_id": words.eos_token_id, "eos_token_id": words.eos_token_id,
            "pad_token_id": words.pad_token_id,
        },
        vision_config={
            "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
            "num_attention_heads": 4, "image_size": 32, "patch_size": 16,
        },
    )  # fmt: skip
    images = t.BlipImageProcessor(size={"height": 32, "width": 32})
    return saved(
        folder,
        seeded(lambda: t.BlipForConditionalGeneration(config)),
        t.BlipProcessor(images, words),
    )


VISION: dict[str, Callable[[Path], Path]] = {
    "qwen_vl": qwen_vl,
    "qwen3_vl": qwen3_vl,
    "gemma": gemma,
    "idefics": idefics,
    "llava": llava,
}


def picture(seed: int, width: int = 64, height: int = 40) -> np.ndarray:
    """Noise that a seed makes, RGB."""
    return np.random.default_rng(seed).integers(0, 255, (height, width, 3), dtype=np.uint8)
