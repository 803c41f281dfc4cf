import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mountSmallDisk } from "@sluice/lib/testing";
import { Glob } from "bun";
import { freePortOffset, runSluice, startNetwork } from "./testing/network.ts";

const whole = mkdtempSync(join(tmpdir(), "sluice-whole-"));
let portOffset = 0;

beforeAll(async () => {
  portOffset = await freePortOffset();
  await using network = await startNetwork({ directory: whole, portOffset, keep: true, args: ["--oracle", "off"] });
  await network.end("SIGTERM");
}, 60_000);
afterAll(() => rmSync(whole, { recursive: true, force: true }));

/** What a start on the directory ends with: its code, and its last line, which is not a log record. */
async function startOn(directory: string): Promise<{ code: number; said: string; err: string }> {
  const { code, err } = await runSluice(["dev", "--oracle", "off", "--port-offset", String(portOffset)], { directory });
  const lines = err
    .trim()
    .split("\n")
    .filter((line) => !line.startsWith("{"));
  return { code, said: lines.join("\n"), err };
}

function overwrite(path: string, damage: (bytes: Buffer) => Buffer): string {
  writeFileSync(path, damage(readFileSync(path)));
  return path;
}

const inTheMiddle = (bytes: Buffer): Buffer => {
  const damaged = Buffer.from(bytes);
  return damaged.fill(0xaa, damaged.length / 2, damaged.length / 2 + 8_192);
};

const damages: readonly (readonly [string, (directory: string) => string, string])[] = [
  ["state.sqlite in the middle", (directory) => overwrite(join(directory, "state/state.sqlite"), inTheMiddle), "copy"],
  [
    "state.sqlite to nothing",
    (directory) => overwrite(join(directory, "state/state.sqlite"), () => Buffer.alloc(0)),
    "copy",
  ],
  [
    "the ledger's definition of a table",
    (directory) => {
      const [name = ""] = new Glob("ledger/engine/store/**/requests.sql").scanSync({ cwd: directory });
      return overwrite(join(directory, name), (bytes) => bytes.subarray(0, bytes.length / 2));
    },
    "copy",
  ],
  ["dev.json", (directory) => overwrite(join(directory, "dev.json"), () => Buffer.from("{")), "--fresh"],
];

for (const [what, damage, wayOut] of damages) {
  test(`damage of ${what} ends the start with one message: the file, the cause, the way out`, async () => {
    const directory = mkdtempSync(join(tmpdir(), "sluice-damaged-"));
    try {
      cpSync(whole, directory, { recursive: true, filter: (path) => !path.endsWith(".sock") });
      const path = damage(directory);
      const { code, said } = await startOn(directory);
      expect(code).toBe(1);
      expect(said).toStartWith("sluice: ");
      expect(said.split("\n")).toHaveLength(1);
      expect(said).toContain(path);
      expect(said).toContain(wayOut);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }, 60_000);
}

test("a read-only data directory ends the start with one message: the file, the cause, the way out", async () => {
  using disk = mountSmallDisk(256 * 1024 * 1024);
  if (disk === null) {
    console.warn("THE TEST OF A READ-ONLY DATA DIRECTORY DID NOT RUN: it needs the right to mount a tmpfs.");
    return;
  }
  cpSync(whole, disk.path, { recursive: true, filter: (path) => !path.endsWith(".sock") });
  disk.setReadOnly(true);
  const { code, said } = await startOn(disk.path);
  expect([code, said.split("\n").length]).toEqual([1, 1]);
  expect(said).toStartWith("sluice: ");
  expect(said).toContain(disk.path);
  expect(said).toMatch(/read-only\. Make it writable/);
}, 60_000);
