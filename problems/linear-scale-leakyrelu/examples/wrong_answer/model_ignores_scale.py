# A module that is made with the scale, and does not use it.
# verdict: wrong_answer

from torch import nn


class ModelNew(nn.Module):
    def __init__(self, in_features, out_features, scale, slope):
        super().__init__()
        self.layer = nn.Linear(in_features, out_features)
        self.slope = slope

    def forward(self, x):
        return nn.functional.leaky_relu(self.layer(x), self.slope)
