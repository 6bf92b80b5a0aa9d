"""Files in which agents are told which hooks to run."""
