"""Studies of how good the answers are: each prints its figures and can put them into a page."""
