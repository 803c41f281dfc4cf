import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../config/index.ts";
import { openManagement } from "./management-client.ts";
import { CommandFailure } from "./terminal.ts";

test("stores that cannot be opened are reported in one sentence, without a stack", async () => {
  const parent = mkdtempSync(join(tmpdir(), "sluice-management-"));
  const directory = join(parent, "file");
  writeFileSync(directory, "");
  const outcome = loadConfig({ mode: "dev", env: { DATA_DIR: directory } });
  if (!outcome.ok) throw new Error("the configuration has faults");
  const opened = openManagement(outcome.config);
  await expect(opened).rejects.toBeInstanceOf(CommandFailure);
  await expect(opened).rejects.toThrow(directory);
  rmSync(parent, { recursive: true, force: true });
});
