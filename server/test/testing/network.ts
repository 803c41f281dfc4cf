/** Boots a whole Sluice in a process of its own, as `npm start` does, on free ports and a directory of its own. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { handPages, keepPages } from "./console-pages.ts";

export const root = join(import.meta.dir, "../../..");
const sluice = join(root, "bin/sluice");
const endpointPorts = [8899, 8900, 10_000, 7435, 7440, 7441, 7450, 8691, 9464];

export interface DevFile {
  readonly key: string;
  readonly keys: Readonly<Record<"free" | "developer" | "business" | "professional" | "enterprise", string>>;
  readonly doors: Readonly<Record<string, string | null>>;
  readonly chainAdmin: string | null;
  readonly marketAdmin: string | null;
}

export interface Network extends AsyncDisposable {
  readonly dev: DevFile;
  /** The RPC endpoint's address with the Enterprise key in its query. */
  readonly rpcUrl: string;
  readonly webSocketUrl: string;
  readonly directory: string;
  readonly portOffset: number;
  readonly process: Bun.Subprocess<"ignore", "pipe", "pipe">;
  /** What it has printed so far. */
  said(): string;
  /** Ends it by the signal and reports the exit code. */
  end(signal: "SIGTERM" | "SIGINT" | "SIGKILL"): Promise<number>;
}

async function isFree(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}

/**
 * The system gives ports from here on to any process that connects or asks for one, at any moment (Linux; others begin
 * higher).
 */
const ephemeralFrom = 32_768;
/** Above it no moved port is another one's usual port. */
const offsetMin = Math.max(...endpointPorts) - Math.min(...endpointPorts) + 1;
const offsetMax = ephemeralFrom - Math.max(...endpointPorts);

/** The lanes of tests that run side by side, by the values of TEST_PORTS. */
const lanes = ["low", "middle", "high"];

/**
 * The offsets of this process: all, or those of the lane that TEST_PORTS names. Between two lanes there are as many
 * offsets as the ports of one network are apart, so that no port is in both.
 */
function offsetRange(): readonly [from: number, to: number] {
  const lane = lanes.indexOf(process.env["TEST_PORTS"] ?? "");
  if (lane < 0) return [offsetMin, offsetMax];
  const width = Math.floor((offsetMax - offsetMin - (lanes.length - 1) * offsetMin) / lanes.length);
  const from = offsetMin + lane * (width + offsetMin);
  return [from, from + width];
}

/** An offset at which every endpoint's port is free now, and stays so while a server that ended there starts again. */
export async function freePortOffset(): Promise<number> {
  const [from, to] = offsetRange();
  for (let attempt = 0; attempt < 200; attempt++) {
    const offset = from + Math.floor(Math.random() * (to - from));
    const free = await Promise.all(endpointPorts.map((port) => isFree(port + offset)));
    if (free.every(Boolean)) return offset;
  }
  throw new Error("no free ports");
}

/** The environment of a fresh machine: nothing that names a store, an upstream or a key. */
export function plainEnvironment(extra: Record<string, string> = {}): Record<string, string> {
  const keep = ["PATH", "HOME", "TMPDIR", "LANG"];
  const kept = keep.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name] ?? ""]]));
  return { ...Object.fromEntries(kept), ...extra };
}

export interface StartOptions {
  readonly directory?: string;
  readonly portOffset?: number;
  readonly env?: Record<string, string>;
  readonly args?: readonly string[];
  /** Keep the directory when the network is disposed of. */
  readonly keep?: boolean;
  /** It builds the console's pages itself, also where another server of the tests has built them before. */
  readonly buildsPages?: true;
}

/** Runs a `sluice` command to its end. */
export async function runSluice(
  args: readonly string[],
  options: { directory: string; env?: Record<string, string> },
): Promise<{ code: number; out: string; err: string }> {
  const child = Bun.spawn(["sh", sluice, ...args], {
    cwd: root,
    env: plainEnvironment({ DATA_DIR: options.directory, ...options.env }),
    stdout: "pipe",
    stderr: "pipe",
    stdin: "ignore",
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, out, err };
}

export async function startNetwork(options: StartOptions = {}): Promise<Network> {
  const directory = options.directory ?? mkdtempSync(join(tmpdir(), "sluice-test-"));
  const portOffset = options.portOffset ?? (await freePortOffset());
  if (options.buildsPages !== true) handPages(directory);
  // Nothing happens on the chain but what a test does; one that wants traffic says so in its own arguments.
  const args = ["--port-offset", String(portOffset), "--traffic", "0", ...(options.args ?? [])];
  const child = Bun.spawn(["sh", sluice, "dev", ...args], {
    cwd: root,
    env: plainEnvironment({ DATA_DIR: directory, ...options.env }),
    stdout: "pipe",
    stderr: "pipe",
    stdin: "ignore",
  });
  let said = "";
  const listen = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) said = (said + decoder.decode(chunk, { stream: true })).slice(-200_000);
  };
  const listening = [listen(child.stdout), listen(child.stderr)];
  const end = async (signal: "SIGTERM" | "SIGINT" | "SIGKILL"): Promise<number> => {
    child.kill(signal);
    const code = await child.exited;
    await Promise.all(listening);
    return code;
  };
  const dispose = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const killer = setTimeout(() => child.kill("SIGKILL"), 15_000);
      await end("SIGTERM");
      clearTimeout(killer);
    }
    keepPages(directory);
    if (options.keep !== true) rmSync(directory, { recursive: true, force: true });
  };
  try {
    const dev = await readyFile(join(directory, "dev.json"), child, () => said);
    return {
      dev,
      rpcUrl: `${dev.doors["rpc"]}?api-key=${dev.key}`,
      webSocketUrl: `${dev.doors["pubsub"]}?api-key=${dev.key}`,
      directory,
      portOffset,
      process: child,
      said: () => said,
      end,
      [Symbol.asyncDispose]: dispose,
    };
  } catch (fault) {
    await dispose();
    throw fault;
  }
}

/** Waits for this process's own dev.json: the file names the process that wrote it. */
async function readyFile(path: string, child: Bun.Subprocess, said: () => string): Promise<DevFile> {
  const deadline = performance.now() + 45_000;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`sluice dev ended with ${child.exitCode}:\n${said()}`);
    if (existsSync(path)) {
      const file = JSON.parse(readFileSync(path, "utf8"));
      if (file.pid === child.pid) return file;
    }
    await Bun.sleep(25);
  }
  throw new Error(`sluice dev was not ready in time:\n${said()}`);
}

export interface RpcAnswer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are asserted on, member by member.
  readonly body: any;
  readonly text: string;
}

/** One POST to the RPC endpoint with full control of headers and body. */
export async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<RpcAnswer> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text === "" ? null : JSON.parse(text) };
}

/** Ids of the living processes below the given one. */
export function descendants(pid: number): number[] {
  const listing = Bun.spawnSync(["ps", "-eo", "pid=,ppid="]).stdout.toString();
  const pairs = listing
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  const below = (parent: number): number[] =>
    pairs.filter((pair) => pair[1] === parent).flatMap((pair) => [pair[0] ?? 0, ...below(pair[0] ?? 0)]);
  return below(pid);
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}
