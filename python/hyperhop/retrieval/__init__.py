"""What every system's retriever shares: topics, questions in batches, retrieve then read."""
