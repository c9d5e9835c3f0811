"""A text that is being typed: what each key makes of it."""

from __future__ import annotations

from dataclasses import dataclass

from gitgate.ui.decoder import Key

LONGEST = 64 << 10
"""Characters of a text that is typed or pasted; an editor gives more."""

_TYPED = ("char", "paste")


@dataclass(frozen=True, slots=True)
class Field:
    """`text` with the cursor before its character `at`."""

    text: str = ""
    at: int = 0

    @classmethod
    def of(cls, text: str) -> Field:
        """`text` with the cursor at its end."""
        return cls(text, len(text))

    def takes(self, key: Key) -> bool:
        """Whether what is typed or pasted by `key` has room. Nothing is ever taken in part."""
        return key.name not in _TYPED or len(self.text) + len(key.text) <= LONGEST

    def press(self, key: Key) -> Field:
        """The text after `key`; the same for a key that is not for editing or has no room."""
        if not self.takes(key):
            return self
        before, after = self.text[: self.at], self.text[self.at :]
        match key.name:
            case "char" | "paste":
                typed = key.text.replace("\r\n", "\n").replace("\r", "\n")
                return Field(before + typed + after, self.at + len(typed))
            case "backspace":
                return Field(before[:-1] + after, max(self.at - 1, 0))
            case "delete":
                return Field(before + after[1:], self.at)
            case "ctrl-u":
                return Field(after, 0)
            case "ctrl-k":
                return Field(before, self.at)
            case "ctrl-w":
                kept = before.rstrip()
                kept = kept[: max(kept.rfind(" "), kept.rfind("\n")) + 1]
                return Field(kept + after, len(kept))
        return Field(self.text, self._moved(key.name))

    def _moved(self, name: str) -> int:
        match name:
            case "left":
                return max(self.at - 1, 0)
            case "right":
                return min(self.at + 1, len(self.text))
            case "home":
                return 0
            case "end":
                return len(self.text)
        return self.at
