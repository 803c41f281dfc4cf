import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
// @ts-expect-error The script is plain JavaScript, so that npm can run it before Bun is installed.
import { missingEntries, platformOf } from "./complete-lock.mjs";

const lock = JSON.parse(readFileSync(join(import.meta.dir, "../package-lock.json"), "utf8"));

test("the lock holds an entry for every optional package of every platform", () => {
  expect(Object.keys(lock.packages).length).toBeGreaterThan(100);
  expect(missingEntries(lock)).toEqual([]);
});

test("a lock that lacks a platform's package is found out", () => {
  const packages = { ...lock.packages };
  delete packages["node_modules/@biomejs/cli-darwin-arm64"];
  const missing = missingEntries({ packages }).map((each: { path: string }) => each.path);
  expect(missing).toEqual(["node_modules/@biomejs/cli-darwin-arm64"]);
});

test("platforms are read from names", () => {
  expect(platformOf("@oven/bun-windows-aarch64")).toEqual({ os: "win32", cpu: "arm64", libc: undefined });
  expect(platformOf("@biomejs/cli-linux-x64-musl")).toEqual({ os: "linux", cpu: "x64", libc: "musl" });
  expect(platformOf("@chdb/lib-linux-arm64-gnu")).toEqual({ os: "linux", cpu: "arm64", libc: "glibc" });
});

test("the lock names no registry", () => {
  const resolved = Object.values(lock.packages).map((meta) => (meta as { resolved?: string }).resolved ?? "");
  expect(resolved.filter((url) => url.startsWith("http"))).toEqual([]);
});
