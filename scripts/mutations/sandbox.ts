/** A copy of the repository in which sources are changed and tests run, so that the checkout is never touched. */
import { cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

/** What tests need beside the workspaces' code. */
const copied = ["package.json", "tsconfig.json", "biome.json", "knip.json", "package-lock.json", "bunfig.toml"];
const folders = [
  "contract",
  "wire",
  "lib",
  "svm",
  "auction",
  "sdk",
  "devnet",
  "server",
  "console",
  "docs",
  "bin",
  "scripts",
  "clients",
];

/** A test may take this long, unless it says otherwise: more than on a free machine, so that load alone fails none. */
const testMs = 20_000;

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

  /** Runs a command in the copy, and ends all of its processes when its time is over. */
  async run(command: readonly string[], timeoutMs: number): Promise<RunOutcome> {
    const env = { ...process.env, CI: "true" };
    const streams = { stdin: "ignore", stdout: "pipe", stderr: "pipe" } as const;
    const child = Bun.spawn([...command], { cwd: this.directory, env, detached: true, ...streams });
    let timedOut = false;
    const end = (): void => endGroup(child.pid);
    process.once("exit", end);
    const timer = setTimeout(() => {
      timedOut = true;
      end();
    }, timeoutMs);
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    const code = await child.exited;
    clearTimeout(timer);
    process.off("exit", end);
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
    // It has ended.
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Links each package, but for the workspaces' own, whose links are relative and find the copy. */
function linkModules(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    if (name === "@sluice") cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    else symlinkSync(join(from, name), join(to, name));
  }
}
