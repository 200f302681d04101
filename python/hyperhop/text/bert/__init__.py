"""BERT-style sentence encoders read from a folder, without torch."""
