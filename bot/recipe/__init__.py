"""What is benchmarked: where a recipe's image stands, what is measured with it, and byte-exact edits of its files."""
