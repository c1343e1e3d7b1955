"""Tiny detectors and action recognisers with random weights, saved as real ones are."""

from __future__ import annotations

from pathlib import Path

from tests.models.tiny import saved, seeded

THINGS = {0: "cat", 1: "dog", 2: "car"}
DEEDS = {0: "running", 1: "baking", 2: "falling"}


def detr(folder: Path) -> Path:
    """DETR over a small ResNet."""
    import transformers as t

    backbone = t.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], out_features=["stage2"],
        layer_type="basic",
    )  # fmt: skip
    config = t.DetrConfig(
        backbone_config=backbone, use_timm_backbone=False, backbone=None,
        use_pretrained_backbone=False, d_model=32, encoder_layers=1, decoder_layers=1,
        encoder_ffn_dim=32, decoder_ffn_dim=32, encoder_attention_heads=4,
        decoder_attention_heads=4, num_queries=5, id2label=THINGS,
        label2id={v: k for k, v in THINGS.items()},
    )  # fmt: skip
    processor = t.DetrImageProcessor(size={"shortest_edge": 64, "longest_edge": 96})
    return saved(folder, seeded(lambda: t.DetrForObjectDetection(config)), processor)


def videomae(folder: Path) -> Path:
    """VideoMAE for 16 pictures of 32 x 32."""
    import transformers as t

    config = t.VideoMAEConfig(
        image_size=32, patch_size=16, num_frames=16, tubelet_size=2, hidden_size=32,
        num_hidden_layers=1, num_attention_heads=4, intermediate_size=32, id2label=DEEDS,
        label2id={v: k for k, v in DEEDS.items()},
    )  # fmt: skip
    processor = t.VideoMAEImageProcessor(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    )
    return saved(folder, seeded(lambda: t.VideoMAEForVideoClassification(config)), processor)
