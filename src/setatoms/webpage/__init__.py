"""What all our HTML pages share: the style, sorting, and safety against what the data say."""

from setatoms.webpage.assembly import assemble, read_part, write_page
from setatoms.webpage.safety import content_policy, embed_json, to_html, visible

__all__ = [
    "assemble",
    "content_policy",
    "embed_json",
    "read_part",
    "to_html",
    "visible",
    "write_page",
]
