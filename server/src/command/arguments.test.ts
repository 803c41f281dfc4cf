import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wholeNumber, wholeNumberOrTier } from "./arguments.ts";
import { buildProgram } from "./program.ts";

/** What a command line is refused with before any store is opened. */
async function refusalOf(...args: string[]): Promise<string> {
  const said: string[] = [];
  const program = buildProgram({ out: (text) => void said.push(text), error: (text) => void said.push(text) });
  for (const command of [program, ...program.commands, ...program.commands.flatMap((each) => each.commands)]) {
    command.exitOverride();
  }
  const directory = mkdtempSync(join(tmpdir(), "sluice-arguments-"));
  try {
    await program.parseAsync([...args, "--data-dir", directory], { from: "user" });
    return `nothing was refused: ${said.join("\n")}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
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
  expect(wholeNumberOrTier("tier")).toBeNull();
});

test("limits are set by at least one option, and a mode is one that exists", async () => {
  expect(await refusalOf("accounts", "set-limits", "acct_x")).toContain("--credits-monthly");
  expect(await refusalOf("config", "check", "--mode", "production")).toContain("--mode");
});
