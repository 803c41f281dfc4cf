import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type JsonRecord, record, records } from "@sluice/encode/testing/fixtures";

/** What independent readers say of the real transactions; none where the data are not at hand. */
export function labels(): JsonRecord[] {
  const path = join(import.meta.dir, "../../../shared/fixtures/transactions/manifest.json");
  return existsSync(path) ? records(record(JSON.parse(readFileSync(path, "utf8")))["files"]) : [];
}
