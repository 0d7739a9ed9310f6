"""Which whole numbers a size may be: all, multiples, odd ones, powers of two."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Numbers that leave ``rest`` when divided by ``every``; with ``powers`` those of two alone."""

    every: int = 1
    rest: int = 0
    powers: bool = False

    def __contains__(self, value: int) -> bool:
        power = value > 0 and not value & (value - 1)
        return (value - self.rest) % self.every == 0 and (power or not self.powers)

    def at_least(self, value: int) -> int:
        """The smallest that is no less than ``value``."""
        if self.powers:
            return max(self.every, 1 << max(value - 1, 0).bit_length())
        return value + (self.rest - value) % self.every

    def at_most(self, value: int) -> int:
        """The largest that is no more than ``value``; 0 where no power of two is."""
        if self.powers:
            power = 1 << max(value, 0).bit_length() >> 1
            return power if power >= self.every else 0
        return value - (value - self.rest) % self.every

    def after(self, value: int) -> int:
        """The next one after ``value``, which is one."""
        return value * 2 if self.powers else value + self.every

    def words(self) -> str:
        """``multiples of 32``, ``odd numbers``, ``powers of two from 8``; nothing for all."""
        if self.powers:
            return "powers of two" + (f" from {self.every}" if self.every > 1 else "")
        if not self.rest:
            return f"multiples of {self.every}" if self.every > 1 else ""
        return f"odd multiples of {self.rest}" if self.rest > 1 else "odd numbers"
