/** The guides work as typed: each is followed from a fresh clone, every command and every sample of it. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Block, blocksOf, GuideReader } from "./testing/guide.ts";
import { root } from "./testing/network.ts";

const guides = [
  "README.md",
  "docs/guides/gateway.md",
  "docs/guides/engine.md",
  "docs/guides/resolver.md",
  "docs/guides/devnet.md",
  "docs/guides/oracle.md",
  "docs/guides/history.md",
  "docs/guides/enhanced.md",
  "docs/guides/sql.md",
  "docs/guides/streams.md",
  "docs/guides/webhooks.md",
];
const read = (guide: string): Block[] => blocksOf(readFileSync(join(root, guide), "utf8"));

/** What is not followed, each for the reason that its page states. A new one is a decision. */
const notFollowed = [
  "README.md: the tests run in a tree that is installed already",
  "README.md: a test does not run all tests",
  "docs/guides/gateway.md: the file is the operator's own",
  "docs/guides/devnet.md: it shows the shape of the parameters; engine.md makes and sends a bundle",
  "docs/guides/enhanced.md: the files are the operator's own",
  "docs/guides/enhanced.md: a new chain may have no NFT yet",
];

test("every block of a guide names its language, and what cannot be executed says why", () => {
  const blocks = guides.flatMap((guide) => read(guide).map((block) => ({ guide, ...block })));
  expect(blocks.filter(({ language }) => language === "sh").length).toBeGreaterThan(15);
  const languages = ["sh", "ts", "js", "json", "toml", "text", "python", "go"];
  const unnamed = blocks.filter(({ language }) => !languages.includes(language));
  expect(unnamed.map(({ guide, line }) => `${guide}:${line}`)).toEqual([]);
  const skipped = blocks.flatMap(({ guide, notRun }) => (notRun === null ? [] : [`${guide}: ${notRun}`]));
  for (const reason of skipped) console.warn(`NOT RUN: ${reason}`);
  expect(skipped).toEqual(notFollowed);
});

for (const guide of guides) {
  test(`${guide} works as typed`, async () => {
    // That npx finds the command is seen once.
    await using reader = await GuideReader.open({ usesNpx: guide === "README.md" });
    for (const block of read(guide)) if (block.notRun === null) await reader.follow(block);
  }, 240_000);
}

test("the follower sees a command that fails, a refusal over HTTP, a sample that throws and another answer", async () => {
  await using reader = await GuideReader.open({ usesNpx: false });
  const block = (language: string, text: string, isAnswer = false): Block => {
    return { line: 1, language, text, notRun: null, saveAs: null, isAnswer };
  };
  await reader.follow(block("sh", "A=1"));
  await reader.follow(block("sh", 'echo "{\\"a\\": \\"b$A\\", \\"c\\": [1]}"'));
  await reader.follow(block("json", '{"a": "…", "c": [1]}', true));
  for (const broken of [
    block("sh", "false; true"),
    block("sh", "npx sluice no-such-command"),
    block("sh", "curl http://127.0.0.1:1/"),
    block("sh", "echo $B"),
    block("ts", 'throw new Error("broken")'),
    block("json", '{"a": "…", "c": [2]}', true),
    block("json", "{,}"),
  ]) {
    await expect(reader.follow(broken)).rejects.toThrow(`the ${broken.language} block at line 1`);
  }
  const page =
    "```sh\na\n```\n<!-- not run: because -->\n```ts\nb\n```\n\n<!-- save as: x.json -->\n\n```json\n{}\n```\n";
  expect(blocksOf(page).map(({ language, notRun, saveAs }) => [language, notRun, saveAs])).toEqual([
    ["sh", null, null],
    ["ts", "because", null],
    ["json", null, "x.json"],
  ]);
}, 60_000);
