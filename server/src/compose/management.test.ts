import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../config/index.ts";
import { composeManagement } from "./management.ts";

test("a command that finds no server makes no store in a data directory, also one that may lay out a database", async () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-management-"));
  try {
    // As a directory whose state was lost: what is left of it is not taken for a server's.
    mkdirSync(join(directory, "ledger"));
    const loaded = loadConfig({ mode: "dev", env: { DATA_DIR: directory } });
    if (!loaded.ok) throw new Error("the configuration has faults");
    for (const migrates of [false, true]) {
      await expect(composeManagement(loaded.config, { migrates })).rejects.toMatchObject({ code: "ABSENT" });
      expect(readdirSync(directory)).toEqual(["ledger"]);
    }
  } finally {
    rmSync(directory, { recursive: true });
  }
});
