// Counts the tokens of each text in tokens.jsonl with OpenAI's o200k_base and Claude's older tokenizer.
// In a folder outside the repository:
//   npm install gpt-tokenizer@4 @anthropic-ai/tokenizer@0.0.4
//   NODE_PATH=node_modules node …/tests/core/record_tokens.mjs
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { encode } = require("gpt-tokenizer/encoding/o200k_base");
const { countTokens } = require("@anthropic-ai/tokenizer");

const file = new URL("tokens.jsonl", import.meta.url);
const lines = readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
const counted = lines.map(({ kind, text }) => ({ kind, o200k: encode(text).length, claude: countTokens(text), text }));
writeFileSync(file, counted.map((line) => JSON.stringify(line) + "\n").join(""));
