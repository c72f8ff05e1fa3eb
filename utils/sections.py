"""The parts of markdown files that programs write: the lines between two markers, which stay."""
from pathlib import Path


def replaced(path, begin, end, lines):
    """(text of the file, that text with these lines between the markers). ValueError if the markers do not
    stand there once each."""
    text = Path(path).read_text(encoding="utf-8")
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"{path} needs the lines '{begin}' and '{end}', once each")
    before, rest = text.split(begin)
    return text, "\n".join([before + begin, *lines, end + rest.split(end)[1]])
