import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnChild } from "../rpc/child.ts";
import type { RunningSubject } from "../rpc/subject.ts";
import { freePort, listening } from "../rpc/subjects.ts";

/** A subject before several nodes. */
export interface FailoverSubject {
  readonly name: string;
  /** Null when the program is not installed. */
  readonly start: (nodePorts: readonly number[], directory: string) => Promise<RunningSubject | null>;
}

export const sluicePool: FailoverSubject = {
  name: "sluice",
  start: async (nodePorts) => {
    const script = join(import.meta.dir, "..", "rpc", "sluice-rooms.ts");
    const child = spawnChild([process.execPath, script, nodePorts.join(","), "1000000"]);
    const { port, key } = JSON.parse(await child.line()) as { readonly port: number; readonly key: string };
    const headers = { "X-API-Key": key };
    return { port, path: "/rpc", pid: child.pid, headers, [Symbol.asyncDispose]: () => child.stop() };
  },
};

/** The least that a balancer can be. */
export const roundRobin: FailoverSubject = {
  name: "round robin on node:http",
  start: async (nodePorts) => {
    const program = Bun.which("node");
    if (program === null) return null;
    const port = await freePort();
    const script = join(import.meta.dir, "round-robin.mjs");
    return listening(spawnChild([program, script, String(port), nodePorts.join(",")]), port);
  },
};

/** As its manual would have it for reads: checked every slot, asked elsewhere after a failure, at most twice. */
export const haproxyChecked: FailoverSubject = {
  name: "haproxy, checks and retries",
  start: async (nodePorts, directory) => {
    const program = Bun.which("haproxy", { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin` });
    if (program === null) return null;
    const port = await freePort();
    const file = join(directory, "haproxy.cfg");
    const servers = nodePorts.map((node, index) => `  server node${index} 127.0.0.1:${node} check inter 400ms fall 1`);
    writeFileSync(
      file,
      `global
  nbthread 1
  maxconn 4096
defaults
  mode http
  timeout client 60s
  timeout server 30s
  timeout connect 1s
  http-reuse always
  retries 2
  option redispatch 1
  option httpchk GET /
  retry-on conn-failure empty-response 500 502 503 504
frontend entry
  bind 127.0.0.1:${port}
  default_backend nodes
backend nodes
  balance roundrobin
${servers.join("\n")}
`,
    );
    return listening(spawnChild([program, "-db", "-q", "-f", file]), port);
  },
};
