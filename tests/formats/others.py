"""One small file of every other tool's format, written by hand: (file name, text)."""

import sqlite3
from contextlib import closing
from pathlib import Path

SKILLBOOK = """{
  "skills": {
    "ask-00001": {
      "id": "ask-00001",
      "section": "ask",
      "content": "Ask for the booking number first.",
      "justification": "It saves a turn.",
      "helpful": 3,
      "harmful": 1,
      "neutral": 2,
      "created_at": "2026-03-18T14:08:22.5+00:00",
      "embedding": null,
      "status": "active",
      "sources": [0.50, "a"]
    },
    "close-00002": {
      "id": "close-00002",
      "section": "close",
      "content": "Say goodbye — once.",
      "helpful": 0,
      "harmful": 4,
      "neutral": 0,
      "status": "invalid"
    },
    "ask-00004": {
      "id": "ask-00004",
      "section": "ask",
      "content": "Never ask twice."
    }
  },
  "sections": {
    "ask": [
      "ask-00004",
      "ask-00001",
      "ask-00099"
    ],
    "close": [
      "close-00002"
    ]
  },
  "next_id": 4,
  "similarity_decisions": {"ask-00001,ask-00004": {"decision": "KEEP", "similarity": 0.8}}
}"""

CASS = """# rules of the team
schema_version: 2
name: "team"
metadata:
  createdAt: "2025-01-01T00:00:00.000Z"
  totalReflections: 1
deprecatedPatterns: []
bullets:
  - id: "b-1"
    scope: "global"
    category: "testing"
    content: "Run the tests before a commit"
    state: "active"
    maturity: "established"
    helpfulCount: 2
    harmfulCount: 0
    feedbackEvents: []
    createdAt: "2025-01-01T00:00:00.000Z"
    tags: ["tests", "workflow"]
  # the next one is disputed
  - id: 'b-2'
    category: style
    content: |
      Keep functions short.
      Name things.
    helpfulCount: 1   # votes
    maturity: candidate
    pinned: true

  - {id: b-3, category: testing, content: "No sleeps", deprecated: true, helpfulCount: 0}
"""

PATTERNS = """{
  "patterns": {
    "state_machine": {
      "id": "pat-001",
      "name": "State machine",
      "confidence": 0.90,
      "applications": 2,
      "created": "2025-01-11",
      "category": "async",
      "pattern": "Use a state machine for phases",
      "problem": "Flags contradict each other",
      "target_skills": ["debugger", "api"]
    },
    "numbers": {
      "name": "Numbers in success criteria",
      "confidence": 1,
      "category": "docs"
    }
  },
  "meta": {
    "version": "1.0.0",
    "total_patterns": 2
  }
}
"""

LEARNINGS = """# Learnings

Kept by the team.

---

## 2026-02-22 — Tool name

- **Category**: correction | **Area**: docs | **Status**: resolved
- **Context**: The tool is `queryData`,
  not `query_data`.
- **Resolution**: Changed the page.

## [LRN-20260412-002] discovery missed variants

- **Category**: knowledge_gap | **Area**: tests | **Status**: pending
- **Priority**: low

### Summary
The runner depends on the package manager.

---

## [ERR-20261003-001] deploy

**Logged**: 2026-10-03T10:00:00Z
**Priority**: critical
**Status**: wont_fix
**Area**: infra

### Summary
The deploy stops halfway.

### Error
```
## not a heading
exit 1
```

### Metadata
- Related Files: deploy.sh
- Tags: ci

---

## How to promote

Copy it.
"""

BEADS = (
    '{"id":"bd-1","title":"Fix it","status":"open","priority":1,"issue_type":"bug"}\n'
    '{"_type":"memory","key":"build","value":"Use make, not npm."}\n'
    '{"_type":"memory","key":"style","value":"Tabs.","created_at":"2026-01-02T03:04:05Z","by":"ann"}\n'
    '{"id":"bd-2","title":"Other","status":"open","priority":2,"issue_type":"task"}\n'
)

MCP = (
    '{"type":"entity","name":"Ann Lee","entityType":"person","observations":["Speaks Welsh","Lives in\\nBath"]}\n'
    '{"type":"entity","name":"Bath","entityType":"city","observations":[]}'
    '{"type":"relation","from":"Ann Lee","to":"Bath","relationType":"lives in","since":2020}\n'
)

MEM0 = """{"results": [
  {"id": "m1", "memory": "Likes tea", "hash": "h", "metadata": {"k": 1}, "score": 0.5, "user_id": "ann",
   "created_at": "2026-01-02T03:04:05-08:00", "updated_at": null, "categories": ["food", "food"]},
  {"id": "m2", "memory": "Lives in Bath", "hash": "i", "metadata": null, "created_at": "2026-01-03T00:00:00Z"}
], "relations": [{"source": "ann", "relationship": "lives_in", "destination": "bath"}]}
"""

LETTA = """{
  "agents": [
    {
      "name": "Helper",
      "agent_type": "memgpt_agent",
      "block_ids": ["block-0", "block-1"],
      "llm_config": {"model": "m"}
    }
  ],
  "blocks": [
    {"id": "block-0", "label": "human", "value": "Name: Ann\\nLikes “tea”", "limit": 2000},
    {"id": "block-1", "label": "persona", "value": "I am Sam.", "limit": 2000, "description": "who you are"}
  ],
  "tools": []
}
"""

MEMORY_MD = """# Memory Index

- [User role](user_role.md) — Ann is a data scientist
- [No mocks](notes/no_mocks.md) — never mock the database

## Habits

- Use pnpm, not npm.
  It is faster.
- Ask first.

Deploys happen on Fridays.
"""

CLAUDE_MD = """# Project

See @docs/setup.md
@docs/style.md

## Commands

- `make test` runs the tests
- `make lint`:
  - ruff
  - mypy

```sh
make all
```

<!-- memory-workbench:begin -->
- written by the program
<!-- memory-workbench:end -->
"""

TOPIC_MD = """---
name: no-mocks
description: never mock the database
type: feedback
created: 2026-02-03
---

Integration tests use the real database.

**Why:** a mock hid a broken migration.
"""

CLAUDE_MEM = """{"exportedAt": "2026-01-05T00:00:00.000Z", "query": "auth", "totalObservations": 2,
 "observations": [
  {"id": 7, "memory_session_id": "s1", "project": "p", "type": "bugfix", "title": "Login fixed",
   "subtitle": "token refresh", "narrative": "The token was not refreshed.", "facts": "[\\"TTL is 60 s\\"]",
   "concepts": "[\\"auth\\", \\"jwt\\"]", "files_modified": "[\\"auth.py\\"]", "created_at": "2026-01-02T03:04:05.000Z",
   "created_at_epoch": 1767323045000},
  {"id": 8, "memory_session_id": "s1", "project": "p", "type": "riddle", "title": "Only a title",
   "facts": "[]", "created_at_epoch": 1767323046000}],
 "sessions": [{"id": 1}], "summaries": [], "prompts": [{"id": 1}, {"id": 2}]}
"""

OVERVIEW = """# Working Memory

## Current Task
<!-- What are you working on? -->

Add the import.

## Key Decisions
<!-- Important decisions made and why -->
- JSON first

## Known Context

## Pending Issues
<!-- Blockers or open questions -->

## Recent Operations
ran the tests
"""

DETAIL = """# Authentication

<!--
META:
- created: 2024-01-15T10:30:00Z
- keywords: ["authentication", "jwt"]
- owner: ann
-->

An introduction.

## Decision

Use JWT with refresh.

## Rationale

- stateless
"""

MESSAGES = (
    '{"id": "u1", "role": "user", "content": "Use pnpm.", "timestamp": "2026-01-02T03:04:05Z"}\n'
    '{"role": "assistant", "content": [{"type": "text", "text": "Done."}, {"type": "image"}], "n": 1}\n'
    '{"role": "assistant", "content": [{"type": "text", "text": "Done."}], "n": 2}\n'
    '{"type": "message", "message": {"role": "user", "content": "Thanks."}, "ts": 1767323045}\n'
)

LESSONS = """{"ts":"2026-01-02T03:04:05.000Z","kind":"PATTERN","title":"Thin controllers","message":"They ask, services decide."}
{"ts":"2026-01-02T03:04:06.000Z","kind":"gotcha","title":"Ports","message":"5173 is taken here.","tags":["dev"],"helpful":2}
{"n":7,"lesson":"Lock files are committed."}
"""  # noqa: E501

TEXTS: dict[str, tuple[str, str]] = {
    "skillbook": ("skillbook.json", SKILLBOOK),
    "cass": ("playbook.yaml", CASS),
    "semantic-patterns": ("semantic-patterns.json", PATTERNS),
    "learnings": ("LEARNINGS.md", LEARNINGS),
    "beads": ("issues.jsonl", BEADS),
    "mcp-memory": ("memory.jsonl", MCP),
    "mem0": ("mem0.json", MEM0),
    "letta": ("helper.af", LETTA),
    "claude-memory": ("MEMORY.md", MEMORY_MD),
    "claude-mem": ("export.json", CLAUDE_MEM),
    "external-overview": ("overview.md", OVERVIEW),
    "external-detail": ("auth.md", DETAIL),
    "external-messages": ("messages.jsonl", MESSAGES),
    "json-lines": ("lessons.jsonl", LESSONS),
}

ROWS = (
    (7, "s1", "p", "bugfix", "Login fixed", "token refresh", "The token was not refreshed.", '["TTL is 60 s"]',
     '["auth", "jwt"]', '["auth.py"]', "2026-01-02T03:04:05.000Z", 1767323045000),
    (8, "s1", "p", "riddle", "Only a title", None, None, "[]", None, None, None, 1767323046000),
    (9, "s1", "p", "discovery", None, None, None, None, None, None, None, 1767323047000),
)  # fmt: skip


def claude_mem_database(path: Path) -> Path:
    """Write a database as claude-mem does, in WAL mode, with three observations and two prompts."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute(
            "CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, type TEXT,"
            " title TEXT, subtitle TEXT, narrative TEXT, facts TEXT, concepts TEXT, files_modified TEXT,"
            " created_at TEXT, created_at_epoch INTEGER)"
        )
        database.execute("CREATE TABLE user_prompts (id INTEGER PRIMARY KEY)")
        database.executemany(f"INSERT INTO observations VALUES ({', '.join('?' * 12)})", ROWS)
        database.executemany("INSERT INTO user_prompts VALUES (?)", [(1,), (2,)])
        database.commit()
    return path
