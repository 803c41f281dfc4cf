import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@sluice/lib/testing";

/** Which processes of a server's tree a walk goes through, by their entry files and parents. */
export type ProcessKind = "server" | "machine" | "chain" | "chain machine" | "other";

interface DevFile {
  readonly keys: Readonly<Record<string, string>>;
  readonly doors: Readonly<Record<string, string | null>>;
}

/** A whole Sluice under `sluice dev` whose processes record the files that they execute. */
export class WalkedServer implements AsyncDisposable {
  readonly dev: DevFile;
  readonly #child: Bun.Subprocess;
  readonly #directory: string;

  private constructor(child: Bun.Subprocess, directory: string, dev: DevFile) {
    this.#child = child;
    this.#directory = directory;
    this.dev = dev;
  }

  static async start(root: string, roles: string): Promise<WalkedServer> {
    const directory = mkdtempSync(join(tmpdir(), "sluice-walk-"));
    const offset = 3_000 + Math.floor(Math.random() * 15_000);
    const recorder = join(import.meta.dir, "recorder.ts");
    const entry = join(root, "server/src/main.ts");
    const flags = ["dev", "--fresh", "--traffic", "0", "--log-level", "warn"];
    const child = Bun.spawn([process.execPath, "--preload", recorder, entry, ...flags], {
      cwd: root,
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: process.env["HOME"] ?? "",
        WALK_ROOT: root,
        WALK_OUT: directory,
        DATA_DIR: join(directory, "data"),
        PORT_OFFSET: String(offset),
        ROLES: roles,
      },
      stdout: "ignore",
      stderr: "inherit",
    });
    const file = join(directory, "data/dev.json");
    try {
      const read = (): DevFile => JSON.parse(readFileSync(file, "utf8")) as DevFile;
      return new WalkedServer(child, directory, await eventually("the server is up", read, 60_000));
    } catch (error) {
      child.kill("SIGKILL");
      throw error;
    }
  }

  /**
   * Runs `walk` while the processes of these kinds record; the files of each, in the order of their first execution.
   */
  async record(kinds: readonly ProcessKind[], walk: () => Promise<void>): Promise<string[]> {
    const pids = kinds.flatMap((kind) => this.#processes().flatMap((each) => (each.kind === kind ? [each.pid] : [])));
    const written = new Set(readdirSync(this.#directory));
    for (const pid of pids) process.kill(pid, "SIGUSR2");
    const recording = (): boolean => pids.every((pid) => existsSync(join(this.#directory, `${pid}.recording`)));
    await eventually("the processes record", recording);
    await walk();
    for (const pid of pids) process.kill(pid, "SIGUSR2");
    const results = await eventually("the processes have written what they executed", () => {
      const fresh = readdirSync(this.#directory).filter((name) => name.endsWith(".json") && !written.has(name));
      return fresh.length === pids.length && fresh;
    });
    const files = pids.flatMap((pid) => {
      const name = results.find((each) => each.startsWith(`${pid}.`)) ?? "";
      return JSON.parse(readFileSync(join(this.#directory, name), "utf8")) as string[];
    });
    return [...new Set(files)];
  }

  /** Where the development chain answers by itself. */
  chainUrl(): string {
    return `http://127.0.0.1:${this.#chainFlag("--rpc-port")}`;
  }

  chainSocketUrl(): string {
    return `ws://127.0.0.1:${this.#chainFlag("--pubsub-port")}`;
  }

  #chainFlag(name: string): string | undefined {
    const argv = this.#processes().find(({ kind }) => kind === "chain")?.argv ?? [];
    return argv[argv.indexOf(name) + 1];
  }

  #processes(): { readonly pid: number; readonly kind: ProcessKind; readonly argv: readonly string[] }[] {
    const started = readdirSync(this.#directory)
      .filter((name) => name.endsWith(".process") && existsSync(`/proc/${Number.parseInt(name, 10)}`))
      .map((name) => {
        const text = readFileSync(join(this.#directory, name), "utf8");
        return { pid: Number.parseInt(name, 10), ...(JSON.parse(text) as { parent: number; argv: string[] }) };
      });
    const chain = started.find(({ argv }) => argv[0]?.endsWith("devnet/chain/main.ts"))?.pid;
    return started.map(({ pid, parent, argv }) => ({ pid, argv, kind: kindOf(argv[0] ?? "", pid, parent, chain) }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGTERM");
    await this.#child.exited;
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

function kindOf(entry: string, pid: number, parent: number, chain: number | undefined): ProcessKind {
  if (entry.includes("server/src/main.ts")) return "server";
  if (pid === chain) return "chain";
  if (parent === chain) return "chain machine";
  return entry.includes("ledger") || entry.includes("devnet/market") ? "other" : "machine";
}
