/** The entry of a process that is confined; its argument is the directory of the ledger, which is made here. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { becomeConfined } from "./confine.ts";

function isMade(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return true;
  } catch {
    return false;
  }
}

const directory = process.argv[2];
// Of a directory that cannot be made, the engine's program tells the cause.
if (directory !== undefined && isMade(directory)) becomeConfined(join(import.meta.dir, "../main.ts"), directory);
await import("../main.ts");
