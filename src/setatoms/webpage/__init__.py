"""What all our HTML pages share: the style, sorting, and safety against what the data say."""

from setatoms.markup import visible
from setatoms.webpage.assembly import fill_page, templates, write_page
from setatoms.webpage.safety import content_policy, embed_json

__all__ = ["content_policy", "embed_json", "fill_page", "templates", "visible", "write_page"]
