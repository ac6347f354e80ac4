"""How fast genaipa itself is: `python -m benchmarks` measures it side by side with what it could be compared to."""
