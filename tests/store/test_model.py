"""Random use against a plain model: whatever is done in whatever order, the store holds what the
model holds.
"""

from tests.store.machine import SharedMachine, StoreMachine

TestStore = StoreMachine.TestCase
TestShared = SharedMachine.TestCase
