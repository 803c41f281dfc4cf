import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Command } from "commander";
import { buildProgram, workerCommand } from "./program.ts";
import { runProgram } from "./testing/run-program.ts";

const directory = mkdtempSync(join(tmpdir(), "sluice-completion-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const scriptOf = async (shell: string): Promise<string> => {
  const path = join(directory, shell);
  const { ok, text } = await runProgram("completion", shell);
  expect(ok).toBe(true);
  writeFileSync(path, text);
  return path;
};

const said = (command: readonly string[]): string[] => {
  const { stdout, stderr, exitCode } = Bun.spawnSync([...command], { cwd: directory });
  expect({ exitCode, stderr: stderr.toString() }).toEqual({ exitCode: 0, stderr: "" });
  return stdout
    .toString()
    .split("\n")
    .filter((line) => line !== "");
};

/** What each shell offers behind a line, the last word of which is being typed. */
const offers = {
  bash: (path: string, words: readonly string[]) =>
    said([
      "bash",
      "-c",
      `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sluice; printf '%s\\n' "\${COMPREPLY[@]}"`,
      path,
      ...words,
    ]),
  zsh: (path: string, typed: readonly string[]) => {
    // The parts of the completion system that it calls, which print what they are given.
    const parts = `compdef() { : }; _files() { print -l -- *(N) }; compadd() { shift; print -l -- "$@" }
      _describe() { for each in "\${(@P)2}"; do print -r -- "\${each%%:*}"; done }`;
    const last = typed.at(-1) ?? "";
    const all = said(["zsh", "-fc", `${parts}; source "$0"; words=("$@"); CURRENT=$#; _sluice`, path, ...typed]);
    return all.filter((word) => word.startsWith(last));
  },
  fish: (path: string, words: readonly string[]) =>
    said(["fish", "--no-config", "-c", `source "$argv[1]"; complete -C "$argv[2]"`, path, words.join(" ")]).map(
      (line) => line.split("\t")[0] ?? "",
    ),
} as const;

const below = (command: Command): string[] =>
  command
    .createHelp()
    .visibleCommands(command)
    .map((each) => each.name())
    .filter((name) => name !== "help");

for (const shell of ["bash", "zsh", "fish"] as const) {
  if (Bun.which(shell) === null) {
    console.warn(`NOT RUN: completion in ${shell} (it is not installed)`);
    continue;
  }
  describe(`completion in ${shell}`, () => {
    test("offers every command of each group, and what begins with the word that is typed", async () => {
      const path = await scriptOf(shell);
      const program = buildProgram({ out: () => undefined, error: () => undefined });
      for (const group of program.commands.filter((each) => each.commands.length > 0)) {
        const words = offers[shell](path, ["sluice", group.name(), ""]);
        expect(words).toEqual(expect.arrayContaining(below(group)));
      }
      expect(offers[shell](path, ["sluice", ""])).toEqual(expect.arrayContaining(below(program)));
      expect(offers[shell](path, ["sluice", ""])).not.toContain(workerCommand);
      expect(offers[shell](path, ["sluice", "acc"])).toEqual(["accounts"]);
    });

    test("offers the options of a command and the values that an option or an argument takes", async () => {
      const path = await scriptOf(shell);
      const after = (...words: readonly string[]) => offers[shell](path, ["sluice", ...words]);
      expect(after("config", "check", "--mo")).toEqual(["--mode"]);
      expect(after("config", "check", "--mode", "").toSorted()).toEqual(["dev", "serve"]);
      expect(after("accounts", "create", "--tier", "p")).toEqual(["professional"]);
      expect(after("keys", "create", "--network", "main")).toEqual(["mainnet"]);
      expect(after("engine", "halt", "o").toSorted()).toEqual(["off", "on"]);
      // The value of an option is no command, though it is named as one.
      expect(after("accounts", "list", "--data-dir", "create", "--js")).toEqual(["--json"]);
    });

    test("offers files where an option takes any value", async () => {
      const path = await scriptOf(shell);
      writeFileSync(join(directory, "settings.toml"), "");
      expect(offers[shell](path, ["sluice", "serve", "--config", "sett"])).toEqual(["settings.toml"]);
    });
  });
}

if (Bun.which("bash") !== null) {
  test("bash offers the values of an option that is joined to its value by a sign of equality", async () => {
    const path = await scriptOf("bash");
    expect(offers.bash(path, ["sluice", "config", "check", "--mode", "=", "d"])).toEqual(["dev"]);
    expect(offers.bash(path, ["sluice", "config", "check", "--mode", "=", "dev", "--mod"])).toEqual(["--mode"]);
  });
}
