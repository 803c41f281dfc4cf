import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What a program of the system said. */
export interface ToolRun {
  readonly ok: boolean;
  /** Both streams, one after the other. */
  readonly said: string;
}

/** Runs a program of the system to its end. */
export function runTool(command: readonly string[]): ToolRun {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...command], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  return { ok: exitCode === 0, said: `${stdout}${stderr}` };
}

/** The path of a program, or null, which is told once: what it would check is not checked then. */
export function findTool(name: string, checks: string): string | null {
  const path = Bun.which(name) ?? Bun.which(name, { PATH: "/usr/sbin:/sbin" });
  if (path === null) console.warn(`NOT RUN: ${checks} (there is no ${name} on this machine)`);
  return path;
}

/** A directory for the files of one check, with what it is to hold. */
export function scratch(
  files: Readonly<Record<string, string>>,
): Disposable & { readonly path: (name: string) => string } {
  const directory = mkdtempSync(join(tmpdir(), "sluice-deploy-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return {
    path: (name) => join(directory, name),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}
