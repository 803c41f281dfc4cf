/** The release before this one, as its commit in this repository, ready to be imported. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import recorded from "./release-before.json";

const root = join(import.meta.dir, "../../..");

export interface ReleaseBefore extends Disposable {
  readonly commit: string;
  /** A module of it, by its path from the repository's root, with the types of this version. */
  module(path: string): Promise<object>;
}

function git(...command: readonly string[]): Uint8Array | null {
  const { exitCode, stdout } = Bun.spawnSync(["git", ...command], { cwd: root, stderr: "ignore" });
  return exitCode === 0 ? stdout : null;
}

/** Whether its commit is here: a clone may have the newest commits alone, and an archive has none. */
export const hasReleaseBefore = (): boolean => git("cat-file", "-e", `${recorded.commit}^{commit}`) !== null;

export const missingRelease =
  `the release before beside this one: commit ${recorded.commit.slice(0, 12)} is not in this clone; ` +
  "git fetch --unshallow brings it";

/** Its files in a folder of their own, with the packages of this version and the workspaces of its own. */
export function openReleaseBefore(): ReleaseBefore {
  const { commit } = recorded;
  const archive = git("archive", commit);
  if (archive === null) throw new Error(missingRelease);
  const folder = mkdtempSync(join(tmpdir(), "sluice-before-"));
  const { exitCode } = Bun.spawnSync(["tar", "-x"], { cwd: folder, stdin: archive });
  if (exitCode !== 0) throw new Error("the files of the release before cannot be unpacked");
  const packages = join(folder, "node_modules");
  mkdirSync(join(packages, "@sluice"), { recursive: true });
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (name !== "@sluice") symlinkSync(join(root, "node_modules", name), join(packages, name));
  }
  for (const name of readdirSync(join(root, "node_modules/@sluice"))) {
    symlinkSync(join(folder, name), join(packages, "@sluice", name));
  }
  return {
    commit,
    module: (path) => import(join(folder, path)),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
