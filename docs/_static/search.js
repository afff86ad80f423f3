// Opened from a disk, a page may not read others, so results come without lines from their pages.
"use strict";

if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
