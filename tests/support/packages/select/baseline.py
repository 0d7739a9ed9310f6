def solution(mask, x, total, odd, n):
    total.add_(x * mask)
    odd.copy_(total % 2 == 1)
