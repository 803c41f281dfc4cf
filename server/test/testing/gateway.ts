/** A whole `sluice serve` in a process of its own, on free ports, as an operator runs it. */

import { join } from "node:path";
import { eventually } from "@sluice/lib/testing";
import { handPages, keepPages } from "./console-pages.ts";
import { freePortOffset, plainEnvironment, root, runSluice } from "./network.ts";

export interface Gateway {
  readonly directory: string;
  /** What its ports have been moved by. */
  readonly offset: number;
  readonly url: string;
  readonly pubsubUrl: string;
  readonly process: Bun.Subprocess;
  /** The last of what it has printed and logged. */
  said(): string;
  /** The value of a metric, summed over its labels, or over those of its series that hold the given text. */
  metric(name: string, holding?: string): Promise<number>;
  /** Asks it to end, and kills it when it does not within so many milliseconds. */
  end(withinMs?: number): Promise<number>;
}

/** Starts one without waiting for it. */
export async function spawnGateway(directory: string, environment: Record<string, string>): Promise<Gateway> {
  const offset = await freePortOffset();
  handPages(directory);
  const child = Bun.spawn(["sh", join(root, "bin/sluice"), "serve"], {
    cwd: root,
    env: plainEnvironment({ ...environment, DATA_DIR: directory, PORT_OFFSET: String(offset) }),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  let said = "";
  const listen = async (stream: ReadableStream<Uint8Array>): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const part of stream) said = (said + decoder.decode(part, { stream: true })).slice(-50_000);
  };
  void listen(child.stdout);
  void listen(child.stderr);
  const metrics = `http://127.0.0.1:${9464 + offset}/metrics`;
  return {
    directory,
    offset,
    url: `http://127.0.0.1:${8899 + offset}`,
    pubsubUrl: `ws://127.0.0.1:${8900 + offset}`,
    process: child,
    said: () => said,
    async metric(name, holding = "") {
      const text = await (await fetch(metrics)).text();
      const ofName = text.split("\n").filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
      const lines = ofName.filter((line) => line.includes(holding));
      return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" "))), 0);
    },
    async end(withinMs = 15_000) {
      child.kill("SIGTERM");
      const killer = setTimeout(() => child.kill("SIGKILL"), withinMs);
      const code = await child.exited;
      clearTimeout(killer);
      keepPages(directory);
      return code;
    },
  };
}

/** `port` is the one whose /health says that it is up, without the offset, within so many milliseconds. */
export async function startGateway(
  directory: string,
  environment: Record<string, string>,
  { port = 8899, upWithinMs = 45_000 }: { readonly port?: number; readonly upWithinMs?: number } = {},
): Promise<Gateway> {
  const gateway = await spawnGateway(directory, environment);
  const { process: child } = gateway;
  try {
    const health = `http://127.0.0.1:${port + gateway.offset}/health`;
    const isUp = async () => child.exitCode !== null || (await fetch(health)).ok;
    await eventually("a gateway", isUp, upWithinMs);
    if (child.exitCode !== null) throw new Error(`sluice serve ended with ${child.exitCode}: ${gateway.said()}`);
  } catch (fault) {
    await gateway.end();
    throw fault;
  }
  return gateway;
}

/** Runs a `sluice` command against it and gives what it says as JSON. */
export async function sluice(gateway: Gateway, environment: Record<string, string>, ...args: string[]) {
  const { code, out, err } = await runSluice([...args, "--json"], { directory: gateway.directory, env: environment });
  if (code !== 0) throw new Error(`sluice ${args.join(" ")} ended with ${code}: ${err}`);
  return JSON.parse(out);
}
