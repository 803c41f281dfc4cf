import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { socketDirectory } from "./socket-directory.ts";

test("what a killed process has left is taken away, and what a living one uses stays", () => {
  const parent = mkdtempSync(join(tmpdir(), "sluice-sockets-"));
  try {
    // The greatest id that Linux gives out is below 2^22.
    for (const name of ["sluice-machine-4194305-abc", `sluice-machine-${process.ppid}-abc`, "sluice-machine-x"]) {
      mkdirSync(join(parent, name));
    }
    const made = basename(socketDirectory(parent));
    expect(made).toStartWith(`sluice-machine-${process.pid}-`);
    const left = [`sluice-machine-${process.ppid}-abc`, "sluice-machine-x", made];
    expect(readdirSync(parent).toSorted()).toEqual(left.toSorted());
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
});
