"""The demo: a graph of real facts about countries and questions that are answered on it."""
