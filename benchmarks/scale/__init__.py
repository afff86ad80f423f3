"""What data larger than memory and a cluster cost."""
