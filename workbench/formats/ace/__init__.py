"""ACE playbook files, with the logs and replies that belong to them."""
