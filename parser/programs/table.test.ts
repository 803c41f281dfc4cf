import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { decodeAddress } from "@sluice/wire/base58";
import { programParsers } from "./table.ts";

/** The tag of an Anchor instruction: its name in words joined by underscores. */
function anchorTag(name: string): string {
  const words = name.replace(/(?<=[a-z0-9])([A-Z])/g, "_$1").toLowerCase();
  return createHash("sha256").update(`global:${words}`).digest("hex").slice(0, 16);
}

/** Instructions whose name is not known; their tags are of real transactions. */
const unnamed = new Set(["setBidRules"]);

test("each program is in the table once, under an address of 32 bytes", () => {
  const ids = programParsers.map(({ id }) => id);
  expect(ids.filter((id) => decodeAddress(id)?.length !== 32)).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
});

test("a short name is of lower case words, as filters have it", () => {
  expect(programParsers.filter(({ source }) => !/^[a-z0-9]+(_[a-z0-9]+)*$/.test(source))).toEqual([]);
});

test("tags of a program have one length and none is there twice", () => {
  for (const { id, instructions } of programParsers) {
    const tags = instructions.map(({ tag }) => tag);
    expect({ id, tags: new Set(tags).size }).toEqual({ id, tags: tags.length });
    expect({ id, lengths: new Set(tags.map((tag) => tag.length)).size <= 1 }).toEqual({ id, lengths: true });
  }
});

test("a tag of eight bytes is the hash of the instruction's name", () => {
  const wrong = programParsers.flatMap(({ source, instructions }) =>
    instructions
      .filter(({ tag, name }) => tag.length === 16 && !unnamed.has(name) && anchorTag(name) !== tag)
      .map(({ name }) => `${source} ${name}`),
  );
  expect(wrong).toEqual([]);
});
