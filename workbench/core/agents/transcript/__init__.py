"""What a session of an agent tells that is worth remembering: plain values and rules."""
