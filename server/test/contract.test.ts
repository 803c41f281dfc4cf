/** `sluice migrate --contract` from outside: what earlier releases cannot go on after waits for their end. */
import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { earlierProcess, migrateUpTo } from "../src/state/testing/earlier-schema.ts";
import { newSchema } from "../src/state/testing/schema.ts";
import { runSluice } from "./testing/network.ts";

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
const told = "NOT RUN: sluice migrate --contract on PostgreSQL (DATABASE_URL is not set)";
if (databaseUrl === "") console.warn(told);

/** The first release whose database had what is contracted now, and the migration that contracts it. */
const [earlier, contracting] = [18, 19];

test.skipIf(databaseUrl === "")(
  "migrate shows what waits, --contract refuses while an earlier release runs and names it, and is done after",
  async () => {
    await using resources = new AsyncDisposableStack();
    const directory = mkdtempSync(join(tmpdir(), "sluice-contract-"));
    resources.defer(() => rmSync(directory, { recursive: true, force: true }));
    mkdirSync(join(directory, "ledger"));
    const schema = resources.use(await newSchema(databaseUrl));
    await migrateUpTo(schema.url, earlier);
    const migrate = async (...flags: string[]) =>
      runSluice(["migrate", ...flags], { directory, env: { DATABASE_URL: schema.url } });
    const line = (out: string): string => out.split("\n").find((each) => each.includes(` ${contracting} `)) ?? "";

    const before = await migrate();
    expect([before.code, line(before.out)]).toEqual([0, expect.stringContaining("waits: sluice migrate --contract")]);
    {
      await using _process = await earlierProcess(schema.url, earlier);
      const refused = await migrate("--contract");
      expect([refused.code, refused.err]).toEqual([1, expect.stringContaining("version 0.0.9 (roles gateway)")]);
      expect(refused.err).not.toContain("    at ");
      expect(line((await migrate()).out)).toContain("waits");
    }
    const done = await migrate("--contract");
    expect([done.code, line(done.out)]).toEqual([0, expect.stringMatching(/\d{4}-\d{2}-\d{2}T/)]);
    const again = await migrate("--contract", "--json");
    const waiting = (
      JSON.parse(again.out) as { stores: { migrations: { waits: boolean; appliedAt: number | null }[] }[] }
    ).stores
      .flatMap(({ migrations }) => migrations)
      .filter(({ waits, appliedAt }) => waits || appliedAt === null);
    expect([again.code, waiting]).toEqual([0, []]);
  },
  120_000,
);
