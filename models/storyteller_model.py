"""storyteller as a PyTorch module: the Llama architecture, nothing more.

Parameter names are those of transformers' LlamaForCausalLM, so that what is
trained here loads there (and in kvtape) without any renaming.

Letters in shape comments: b batch, T tokens, d hidden, H query heads, G KV heads,
D head_dim, F ffn, V vocab.
"""

import json
import os
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from torch import nn


@dataclass
class Shape:
    """The numbers that fix the architecture."""

    vocab: int = 1024
    hidden: int = 160
    layers: int = 4
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 64
    ffn: int = 384
    context: int = 1024
    # A large base leaves many RoPE pairs nearly still over the whole context:
    # heads that look for a word, wherever it is, need pairs that do not turn.
    rope_theta: float = 1e6
    norm_eps: float = 1e-5

    def config(self):
        """The same as the config.json of a Llama checkpoint."""
        return {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "vocab_size": self.vocab,
            "hidden_size": self.hidden,
            "intermediate_size": self.ffn,
            "num_hidden_layers": self.layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.kv_heads,
            "head_dim": self.head_dim,
            "max_position_embeddings": self.context,
            "rope_theta": self.rope_theta,
            "rope_parameters": {"rope_type": "default", "rope_theta": self.rope_theta},
            "rms_norm_eps": self.norm_eps,
            "hidden_act": "silu",
            "attention_bias": False,
            "mlp_bias": False,
            "tie_word_embeddings": True,
            "bos_token_id": 0,
            "eos_token_id": 0,
            "torch_dtype": "float16",
        }


def rope_tables(shape, length):
    """cos and sin, each [T, D] in float64, in the half-split layout."""
    pair = torch.arange(shape.head_dim // 2, dtype=torch.float64)
    frequency = shape.rope_theta ** (-2 * pair / shape.head_dim)
    angle = torch.arange(length, dtype=torch.float64)[:, None] * frequency
    angle = torch.cat([angle, angle], dim=1)
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    """Turns pair (i, i + D/2) of x [b, heads, T, D] by the angle of its position."""
    half = x.shape[-1] // 2
    turned = torch.cat([-x[..., half:], x[..., :half]], dim=-1)
    return x * cos + turned * sin


class RMSNorm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)


class Attention(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s = s
        self.q_proj = nn.Linear(s.hidden, s.heads * s.head_dim, bias=False)
        self.k_proj = nn.Linear(s.hidden, s.kv_heads * s.head_dim, bias=False)
        self.v_proj = nn.Linear(s.hidden, s.kv_heads * s.head_dim, bias=False)
        self.o_proj = nn.Linear(s.heads * s.head_dim, s.hidden, bias=False)

    def split(self, x, heads):
        """[b, T, heads * D] -> [b, heads, T, D]"""
        return x.view(*x.shape[:2], heads, self.s.head_dim).transpose(1, 2)

    def forward(self, x, cos, sin):
        s = self.s
        q = rotate(self.split(self.q_proj(x), s.heads), cos, sin)
        k = rotate(self.split(self.k_proj(x), s.kv_heads), cos, sin)
        v = self.split(self.v_proj(x), s.kv_heads)
        # H / G query heads read the same KV head.
        k = k.repeat_interleave(s.heads // s.kv_heads, dim=1)
        v = v.repeat_interleave(s.heads // s.kv_heads, dim=1)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(out.transpose(1, 2).flatten(2))


class MLP(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.gate_proj = nn.Linear(s.hidden, s.ffn, bias=False)
        self.up_proj = nn.Linear(s.hidden, s.ffn, bias=False)
        self.down_proj = nn.Linear(s.ffn, s.hidden, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.input_layernorm = RMSNorm(s.hidden, s.norm_eps)
        self.self_attn = Attention(s)
        self.post_attention_layernorm = RMSNorm(s.hidden, s.norm_eps)
        self.mlp = MLP(s)

    def forward(self, x, cos, sin):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class Trunk(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.embed_tokens = nn.Embedding(s.vocab, s.hidden)
        self.layers = nn.ModuleList(Layer(s) for _ in range(s.layers))
        self.norm = RMSNorm(s.hidden, s.norm_eps)


class Storyteller(nn.Module):
    """tokens [b, T] -> logits [b, T, V]; the output head is the embedding.

    No KV cache: training sees whole sequences, and the cache is kvtape's subject.
    """

    def __init__(self, shape):
        super().__init__()
        self.shape = shape
        self.model = Trunk(shape)

    def hidden(self, tokens):
        """The normed residual stream [b, T, d]."""
        x = self.model.embed_tokens(tokens)
        cos, sin = (t.to(x.dtype) for t in rope_tables(self.shape, tokens.shape[1]))
        for layer in self.model.layers:
            x = layer(x, cos, sin)
        return self.model.norm(x)

    def forward(self, tokens):
        return F.linear(self.hidden(tokens), self.model.embed_tokens.weight)


def save(model, folder):
    """Writes config.json and model.safetensors, weights rounded to float16."""
    state = {k: v.detach().to(torch.float16) for k, v in model.state_dict().items()}
    assert all(v.isfinite().all() for v in state.values())
    save_file(state, f"{folder}/model.safetensors", metadata={"format": "pt"})
    os.chmod(f"{folder}/model.safetensors", 0o644)
    with open(f"{folder}/config.json", "w") as file:
        json.dump(model.shape.config(), file, indent=2)
        file.write("\n")


def load(folder):
    """The saved model with its rounded weights, computing in float32."""
    with open(f"{folder}/config.json") as file:
        c = json.load(file)
    shape = Shape(
        c["vocab_size"], c["hidden_size"], c["num_hidden_layers"],
        c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"],
        c["intermediate_size"], c["max_position_embeddings"],
        c["rope_theta"], c["rms_norm_eps"],
    )  # fmt: skip
    model = Storyteller(shape)
    state = load_file(f"{folder}/model.safetensors")
    model.load_state_dict({k: v.float() for k, v in state.items()})
    return model.eval()
