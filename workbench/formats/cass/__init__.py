"""cass playbooks."""
