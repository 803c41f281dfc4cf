import { describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limitOf, wholeNumber, wholeNumberOrTier } from "./arguments.ts";
import { runProgram, runProgramWith } from "./testing/run-program.ts";

/** What a command line is refused with before any store is opened. */
async function refusalOf(...args: string[]): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-arguments-"));
  const { ok, text } = await runProgram(...args, "--data-dir", directory);
  expect(existsSync(join(directory, "state"))).toBe(false);
  rmSync(directory, { recursive: true, force: true });
  return ok ? `nothing was refused: ${text}` : text;
}

test("a limit that is no number is refused by its name, and never taken for no limit", async () => {
  for (const text of ["x", "1.5", "-1", "1e3", " ", "0x10", "99999999999999999999"]) {
    expect(await refusalOf("keys", "create", "--account", "acct_x", `--requests-per-second=${text}`)).toContain(
      "--requests-per-second",
    );
    expect(await refusalOf("accounts", "set-limits", "acct_x", `--requests-per-second=${text}`)).toContain(
      "--requests-per-second",
    );
  }
  expect(wholeNumber("250")).toBe(250);
  expect(wholeNumber("0")).toBe(0);
  expect(limitOf(wholeNumberOrTier("tier"))).toBeNull();
  expect(limitOf(wholeNumberOrTier("7"))).toBe(7);
});

test("limits are set by at least one option, and a mode is one that exists", async () => {
  expect(await refusalOf("accounts", "set-limits", "acct_x")).toContain("--credits-monthly");
  expect(await refusalOf("config", "check", "--mode", "production")).toContain("--mode");
});

const create = ["keys", "create", "--account", "acct_x"];

test.each([
  [[...create, "--permission", "sudo"], "--permission", "keys:write"],
  [[...create, "--method", "get-slot"], "--method", "getToken*"],
  [[...create, "--ip", "1.2.3"], "--ip", "203.0.113.0/24"],
  [[...create, "--domain", "https://a.example/x"], "--domain", "*.example.com"],
  [[...create, "--network", "mars"], "--network", "mainnet"],
  [[...create, "--expires", "tomorrow"], "--expires", "2027-06-30"],
  [[...create, "--environment", "prod"], "--environment", "live"],
  [["keys", "rotate", "key_x", "--overlap", "a day"], "--overlap", "12h"],
  [["keys", "update", "key_x"], "--name", "--ip"],
  [["accounts", "create", "--name", "a", "--tier", "gold"], "--tier", "business"],
  [["accounts", "create", "--name", "a", "--oracle-tier", "gold"], "--oracle-tier", "ultra"],
  [["accounts", "create", "--name", "a", "--oracle-v2-tier", "ultra"], "--oracle-v2-tier", "enterprise"],
  [["accounts", "set-tier", "acct_x", "ultra"], "<tier>", "business"],
  [["accounts", "set-limits", "acct_x", "--credits-monthly", "many"], "--credits-monthly", "5000000"],
  [["usage", "acct_x", "--from", "yesterday"], "--from", "2026-11-20"],
  [["audit", "--limit", "all"], "--limit", "50"],
  [["upstreams", "add", "devnet", "a", "http://a", "--header", "token"], "--header", "X-Token"],
])("what is mistyped is refused in the words of the command line, with an example: %p", async (args, flag, example) => {
  const refusal = await refusalOf(...args);
  expect(refusal).toContain(flag);
  expect(refusal).toContain(example);
  for (const leaked of ["ipRanges", "expires_at", "Invalid", "permissions.0"]) expect(refusal).not.toContain(leaked);
});

test("config check reads the configuration of serve unless it is told otherwise, and says which", async () => {
  const serve = await runProgram("config", "check");
  expect(serve).toMatchObject({ ok: false });
  expect(serve.text).toContain("'sluice serve'");
  expect(serve.text).toContain("MASTER_KEY");
  const dev = await runProgram("config", "check", "--mode", "dev");
  expect(dev).toMatchObject({ ok: true });
  expect(dev.text).toMatch(/^mode +dev$/m);
  expect((await runProgram("config", "check", "--oracle", "market", "--roles", "oracle")).text).toContain("ORACLE");
});

describe("config check says what would be opened", () => {
  const opened = (text: string): string[] =>
    [...text.matchAll(/^opens {2}(\w+) +(\S+)/gm)].map(([, name, url]) => `${name} ${url}`);

  test("by dev, on the chain that it would start", async () => {
    const { text } = await runProgram("config", "check", "--mode", "dev", "--port-offset", "100");
    expect(opened(text)).toEqual([
      "rpc http://127.0.0.1:8999/rpc",
      "resolver http://127.0.0.1:8791",
      "oracle http://127.0.0.1:7550",
      "engineRest http://127.0.0.1:7535",
      "engineGrpc http://127.0.0.1:7540",
      "engineGrpcTls https://127.0.0.1:7541",
      "pubsub ws://127.0.0.1:9000",
      "ws ws://127.0.0.1:8999/ws",
      "yellowstone http://127.0.0.1:10100",
      "metrics http://127.0.0.1:9564/metrics",
    ]);
    expect(text).not.toContain("not run");
    // The setting itself is shown as it is: the chain is no part of it.
    expect(text).toMatch(/^UPSTREAMS_DEVNET +-$/m);
    const named = await runProgramWith(
      { UPSTREAMS_DEVNET: "own=http://127.0.0.1:5" },
      "config",
      "check",
      "--mode",
      "dev",
    );
    expect(named.text).toMatch(/^UPSTREAMS_DEVNET +own=http:\/\/127.0.0.1:5/m);
  });

  test("by serve, where a role that has nothing to do is named as such", async () => {
    const env = { MASTER_KEY: "6b".repeat(32), ROLES: "gateway,engine", PUBLIC_URL: "https://rpc.example" };
    const { text } = await runProgramWith(env, "config", "check");
    expect(opened(text)).toEqual([
      "rpc http://127.0.0.1:8899/rpc",
      "pubsub ws://127.0.0.1:8900",
      "metrics http://127.0.0.1:9464/metrics",
    ]);
    expect(text).toContain("told as https://rpc.example/rpc");
    expect(text).toMatch(/not run.*: engine$/m);
    const nodes = { UPSTREAMS_MAINNET: "a=http://127.0.0.1:1", NETWORK_DEFAULT: "mainnet" };
    const builder = { ENGINE_BUILDER: "11111111111111111111111111111112" };
    const whole = await runProgramWith({ ...env, ...nodes, ...builder }, "config", "check");
    expect(opened(whole.text).map((line) => line.split(" ")[0])).toContain("engineGrpc");
    expect(whole.text).not.toContain("not run");
  });
});
