/** A copy of the repository in which sources are changed and tests run, so that the checkout is never touched. */
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/** What tests need beside the workspaces' code. */
const copied = ["package.json", "tsconfig.json", "biome.json", "knip.json", "package-lock.json", "bunfig.toml"];
const besideWorkspaces = ["docs", "deploy", "bin", "scripts"];

/** The workspaces of a checkout, whichever they are, and what lies beside them. */
function foldersOf(root: string): readonly string[] {
  const { workspaces = [] }: { workspaces?: readonly string[] } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  return [...workspaces, ...besideWorkspaces];
}

/** A test may take this long, unless it says otherwise: more than on a free machine, so that load alone fails none. */
const testMs = 20_000;

/**
 * Runs a command beside a watcher of standard input, which ends the whole group at its end: however this process ends,
 * the system closes its side, so that no test outlives it.
 */
const tiedToInput = 'exec 3<&0; { cat <&3; kill -KILL 0; } >/dev/null 2>&1 & exec 3<&-; "$@" </dev/null & wait $!';

export interface RunOutcome {
  readonly passed: boolean;
  /** Whether its time was over before it ended. */
  readonly timedOut: boolean;
  readonly output: string;
}

export class Sandbox implements Disposable {
  readonly #parent: string;
  readonly directory: string;

  constructor(root: string) {
    this.#parent = mkdtempSync(join(tmpdir(), "sluice-mutations-"));
    this.directory = join(this.#parent, basename(root));
    // Fixtures that tests read in place beside the checkout.
    const beside = join(root, "../shared");
    if (exists(beside)) symlinkSync(beside, join(this.#parent, "shared"));
    mkdirSync(this.directory);
    const folders = foldersOf(root);
    for (const name of [...folders, ...copied]) {
      if (!exists(join(root, name))) continue;
      const filter = (path: string): boolean => basename(path) !== "node_modules";
      cpSync(join(root, name), join(this.directory, name), { recursive: true, filter });
    }
    linkModules(join(root, "node_modules"), join(this.directory, "node_modules"));
    for (const name of folders) {
      const nested = join(root, name, "node_modules");
      if (exists(nested)) linkModules(nested, join(this.directory, name, "node_modules"));
    }
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.directory, path), text);
  }

  /** Runs a command in the copy. All of its processes end with it, with its time and with this process. */
  async run(command: readonly string[], timeoutMs: number): Promise<RunOutcome> {
    const env = { ...process.env, CI: "true" };
    const streams = { stdin: "pipe", stdout: "pipe", stderr: "pipe" } as const;
    const words = ["sh", "-c", tiedToInput, "sh", ...command];
    const child = Bun.spawn(words, { cwd: this.directory, env, detached: true, ...streams });
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      endGroup(child.pid);
    }, timeoutMs);
    const output = Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    const code = await child.exited;
    clearTimeout(timer);
    // The watcher keeps the group, so its number is not another's yet. What else is left of it holds the outputs open.
    endGroup(child.pid);
    const [out, err] = await output;
    return { passed: code === 0 && !timedOut, timedOut, output: `${out}\n${err}` };
  }

  /** Runs test files in this order, up to the first test that fails. */
  test(paths: readonly string[], timeoutMs: number, options: readonly string[] = []): Promise<RunOutcome> {
    const limits = ["--bail", "--timeout", String(testMs)];
    const files = paths.map((path) => `./${path}`);
    return this.run([process.execPath, "test", ...limits, ...options, ...files], timeoutMs);
  }

  [Symbol.dispose](): void {
    rmSync(this.#parent, { recursive: true, force: true });
  }
}

/** A detached process leads the group of all that it starts. */
function endGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // All of it has ended.
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Links each package, but for the workspaces' own, whose links are relative and find the copy. */
function linkModules(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  if (!exists(from)) return;
  for (const name of readdirSync(from)) {
    if (name === "@sluice") cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    else symlinkSync(join(from, name), join(to, name));
  }
}
