import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock, systemRandom } from "@sluice/lib";
import { loadConfig } from "../config/index.ts";
import { openLedger } from "../ledger/index.ts";
import { createLog } from "../observe/index.ts";
import { openState } from "../state/index.ts";
import { newSchema } from "../state/testing/schema.ts";
import { openManagement } from "./management-client.ts";
import { CommandFailure } from "./terminal.ts";
import { runProgram } from "./testing/run-program.ts";

const parent = mkdtempSync(join(tmpdir(), "sluice-management-"));
afterAll(() => rmSync(parent, { recursive: true, force: true }));

function configOf(env: Record<string, string>) {
  const outcome = loadConfig({ mode: "dev", env });
  if (!outcome.ok) throw new Error("the configuration has faults");
  return outcome.config;
}

test("stores that cannot be opened are reported in one sentence, without a stack", async () => {
  const directory = join(parent, "damaged");
  mkdirSync(join(directory, "state"), { recursive: true });
  mkdirSync(join(directory, "ledger"));
  writeFileSync(
    join(directory, "state", "state.sqlite"),
    "this is no database, and long enough to be read as one".repeat(40),
  );
  const opened = openManagement(configOf({ DATA_DIR: directory }));
  await expect(opened).rejects.toBeInstanceOf(CommandFailure);
  await expect(opened).rejects.toThrow(directory);
});

describe("without a server and a store", () => {
  const commands = [
    ["accounts", "create", "--name", "ghost"],
    ["accounts", "list"],
    ["keys", "list"],
    ["audit"],
    ["usage", "acct_x"],
    ["searchers", "list"],
    ["engine", "status"],
    ["migrate"],
    ["reload"],
    ["upstreams", "list"],
  ];

  test.each(commands.map((args) => [args.join(" "), args] as const))(
    "%s makes none and says so",
    async (_name, args) => {
      const absent = join(parent, "absent", "deep");
      const empty = mkdtempSync(join(parent, "empty-"));
      for (const directory of [absent, empty]) {
        const { ok, text } = await runProgram(...args, "--data-dir", directory);
        expect(ok).toBe(false);
        expect(text).toContain(`no server and no store at ${directory}`);
        expect(text).toContain("--data-dir");
      }
      expect(existsSync(absent)).toBe(false);
      expect(readdirSync(empty)).toEqual([]);
    },
  );

  test("status makes none either", async () => {
    const directory = join(parent, "status");
    expect(await runProgram("status", "--data-dir", directory)).toMatchObject({ ok: false });
    expect(existsSync(directory)).toBe(false);
  });
});

describe("with stores and without a server", () => {
  const directory = join(parent, "stopped");
  const log = createLog({ level: "silent" });
  const say = async (...args: string[]) => {
    const { ok, text } = await runProgram(...args, "--data-dir", directory, "--json");
    return ok ? JSON.parse(text) : text;
  };

  beforeAll(async () => {
    const dependencies = { clock: systemClock, random: systemRandom, log };
    await using _state = await openState({ directory: join(directory, "state"), databaseUrl: null }, dependencies);
    const ledger = { directory: join(directory, "ledger"), clickhouseUrl: null, cluster: null };
    await using _ledger = await openLedger(ledger, { clock: systemClock, log });
  }, 30_000);

  test("a command opens them itself; what only a running server has, it refuses in words", async () => {
    const { id } = await say("accounts", "create", "--name", "offline", "--oracle-tier", "builders");
    expect((await say("accounts", "list")).items).toMatchObject([{ id, tiers: { oracle: "builders" } }]);
    expect((await say("audit", "--subject", id)).items).toMatchObject([
      { actor: "operator", action: "account.create" },
    ]);
    expect(await say("usage", id)).toMatchObject({ account_id: id, items: [], month: { used: "0" } });
    expect(await say("upstreams", "list")).toContain("No server runs on these stores");
    expect(await say("status")).toContain("no server runs on");
  }, 60_000);

  test("a development key is made in the stores of a development server alone", async () => {
    const { id } = await say("accounts", "create", "--name", "keys");
    const create = () => say("keys", "create", "--account", id, "--environment", "dev");
    expect(await create()).toContain("--environment: must be live");
    writeFileSync(join(directory, "dev.json"), "{}");
    expect((await create()).key).toStartWith("sk_dev_");
    rmSync(join(directory, "dev.json"));
  }, 60_000);
});

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
if (databaseUrl === "") console.warn("NOT RUN: commands on an empty PostgreSQL database (DATABASE_URL is not set)");
else {
  test("an empty PostgreSQL database stays empty, until it is migrated beside a ledger that is there", async () => {
    await using schema = await newSchema(databaseUrl);
    const config = configOf({ DATABASE_URL: schema.url, DATA_DIR: join(parent, "postgres") });
    for (const migrates of [false, true]) {
      await expect(openManagement(config, { migrates })).rejects.toThrow("no server and no store at");
    }
    expect(existsSync(join(parent, "postgres"))).toBe(false);
    mkdirSync(join(parent, "postgres", "ledger"), { recursive: true });
    await expect(openManagement(config)).rejects.toThrow("no store in the database");
    await using migrated = await openManagement(config, { migrates: true });
    expect(await migrated.call("GET", "/api/v1/admin/accounts")).toEqual({ items: [], next_cursor: null });
    expect(readdirSync(join(parent, "postgres"))).toEqual(["ledger"]);
  });
}
