"""ACE playbooks: sections of bullets, their budget, the operations on them, what runs tell."""
