/** A development chain of a test's own, in a process of its own, that can be instructed to go wrong. */
import { join } from "node:path";
import { post, root } from "./network.ts";

export interface FaultyChain extends AsyncDisposable {
  readonly rpc: string;
  readonly ws: string;
  /** Of Yellowstone; null where it is not served. */
  readonly grpc: string | null;
  readonly pid: number;
  /** Calls a devnet_* method at the chain's admin endpoint, which no fault reaches. */
  admin(method: string, ...params: readonly unknown[]): Promise<Record<string, unknown>>;
}

async function readyLine(
  stdout: ReadableStream<Uint8Array>,
): Promise<{ rpc: string; ws: string; admin: string; grpc?: string }> {
  const decoder = new TextDecoder();
  let said = "";
  for await (const part of stdout) {
    said += decoder.decode(part, { stream: true });
    if (said.includes("\n")) return JSON.parse(said);
  }
  throw new Error(`the chain ended before it was ready: ${said}`);
}

/** Starts it on free ports; it ends with this process or when it is disposed of. */
export function startFaultyChain(...flags: readonly string[]): Promise<FaultyChain> {
  return startChain(flags, "inherit");
}

/**
 * The same for one whose machine is killed and whose block engine goes and comes: what it says of that is not shown.
 */
export function startQuietChain(...flags: readonly string[]): Promise<FaultyChain> {
  return startChain(flags, "ignore");
}

async function startChain(flags: readonly string[], stderr: "inherit" | "ignore"): Promise<FaultyChain> {
  const entry = join(root, "devnet/chain/main.ts");
  const ports = ["--rpc-port", "0", "--pubsub-port", "0", "--admin", "--exit-with-parent"];
  const child = Bun.spawn([process.execPath, entry, ...ports, ...flags], {
    stdin: "pipe",
    stdout: "pipe",
    stderr,
  });
  const { rpc, ws, admin, grpc = null } = await readyLine(child.stdout);
  return {
    rpc,
    ws,
    grpc,
    pid: child.pid,
    async admin(method, ...params) {
      const { body } = await post(admin, { jsonrpc: "2.0", id: 1, method, params });
      if (body.error !== undefined) throw new Error(`${method}: ${body.error.message}`);
      return body.result;
    },
    async [Symbol.asyncDispose]() {
      await child.stdin.end();
      await child.exited;
    },
  };
}
