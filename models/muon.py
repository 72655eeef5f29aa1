"""The Muon optimizer (Jordan and others, 2024) in float32.

An update is the momentum with all its singular values pushed to about one, so
every direction of a matrix learns at the same pace. PyTorch's own Muon computes
in bfloat16, which is tens of times slower on a CPU without bfloat16 units.
"""

import torch


def orthogonalise(m):
    """[batch, a, b] -> about the same singular vectors with singular values 0.7 to 1.2."""
    tall = m.shape[1] > m.shape[2]
    x = m.mT if tall else m
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(5):  # odd polynomial, coefficients from the authors
        gram = x @ x.mT
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return x.mT if tall else x


class Muon(torch.optim.Optimizer):
    """For weight matrices only; matrices of equal shape are handled together."""

    def __init__(self, params, lr, momentum=0.95):
        super().__init__(params, {"lr": lr, "momentum": momentum})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            by_shape = {}
            for p in group["params"]:
                by_shape.setdefault(p.shape, []).append(p)
            for shape, params in by_shape.items():
                self.update(params, shape, group["lr"], group["momentum"])

    def update(self, params, shape, lr, momentum):
        """One step for the matrices `params`, all of one shape."""
        steps = []
        for p in params:
            average = self.state[p].setdefault("momentum", torch.zeros_like(p))
            average.lerp_(p.grad, 1 - momentum)
            steps.append(p.grad.lerp(average, momentum))  # Nesterov
        steps = orthogonalise(torch.stack(steps))
        scale = lr * max(1.0, shape[0] / shape[1]) ** 0.5
        for p, step in zip(params, steps):
            p.sub_(scale * step)
