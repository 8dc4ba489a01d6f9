"""Whether texts are what they are taken for: a sample of segments, and signs that they are not."""
