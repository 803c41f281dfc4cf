import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readDevKeys } from "./dev-file.ts";
import { CommandFailure } from "./terminal.ts";

const directory = mkdtempSync(join(tmpdir(), "sluice-dev-file-"));
const path = join(directory, "dev.json");
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test("keys of an earlier run are read, those of unknown tiers are not, and without a file there are none", () => {
  expect(readDevKeys(directory)).toEqual({});
  writeFileSync(path, JSON.stringify({ keys: { free: "sk_1", enterprise: 7, gold: "sk_2" } }));
  expect(readDevKeys(directory)).toEqual({ free: "sk_1" });
});

test("a damaged file is named with the way out, and stays as it is, since new keys would shut out every client", () => {
  for (const damage of ["", "{", "null", "[]", '{"keys":null}', '{"keys":"x"}', "\0\0\0"]) {
    writeFileSync(path, damage);
    expect(() => readDevKeys(directory)).toThrow(CommandFailure);
    expect(() => readDevKeys(directory)).toThrow(`${path} is damaged`);
    expect(() => readDevKeys(directory)).toThrow("--fresh");
    expect(readFileSync(path, "utf8")).toBe(damage);
  }
});
