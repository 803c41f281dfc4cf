import { expect, test } from "bun:test";
import { recordedVersions, toldNow, withVersion } from "./testing/told-versions.ts";
import { parserVersion } from "./version.ts";

const first = { version: 1, built: "a", real: "b" };
const second = { version: 2, built: "c", real: "d" };

test("what the parser tells is what is recorded for its version: raise parserVersion where it is not", () => {
  expect(withVersion(recordedVersions(), toldNow())).toEqual(recordedVersions());
  expect(recordedVersions().at(-1)?.version).toBe(parserVersion);
});

test("another output under the same version is refused, and so is an older version", () => {
  for (const changed of [{ built: "x" }, { real: "x" }]) {
    expect(() => withVersion([first, second], { ...second, ...changed })).toThrow("raise parserVersion");
  }
  expect(() => withVersion([first, second], first)).toThrow("parserVersion is older");
});

test("a raised version is recorded behind the others, and an equal one stays", () => {
  expect(withVersion([first], second)).toEqual([first, second]);
  expect(withVersion([first, second], second)).toEqual([first, second]);
});

test("without the real transactions their recorded digest stays, and is added where it was not known", () => {
  expect(withVersion([first, second], { ...second, real: null })).toEqual([first, second]);
  expect(withVersion([first, { ...second, real: null }], second)).toEqual([first, second]);
});
