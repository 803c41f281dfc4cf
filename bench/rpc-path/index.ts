/**
 * bench/rpc-path: CPU time for each request on the gateway's hit and miss paths, beside a bare Bun.serve echo in the same
 * run. Run it with `sh bin/with-bun bench/rpc-path/index.ts [rounds]`; a round takes about eight seconds. Each server is
 * a process of its own; the load comes from this one over 32 raw connections. Medians of the rounds are printed.
 */
import { StubNode } from "../../server/src/door/testing/stub-node.ts";
import { runLoad } from "./load.ts";

const address = "9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g";
const connections = 32;
const warmMs = 700;
const measureMs = 1_300;

interface Subject {
  readonly ask: () => Promise<{ user: number; system: number }>;
  readonly port: number;
  readonly key: string;
  readonly end: () => Promise<void>;
}

async function startSubject(kind: string, nodePort: number): Promise<Subject> {
  let heard: (message: unknown) => void = () => {};
  const next = (): Promise<unknown> =>
    new Promise((resolve) => {
      heard = resolve;
    });
  const first = next();
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/subject.ts`, kind, String(nodePort)], {
    ipc: (message: unknown) => heard(message),
    stdout: "inherit",
    stderr: "inherit",
  });
  const { port, key } = (await first) as { port: number; key: string };
  return {
    port,
    key,
    ask: async () => {
      const answer = next();
      child.send("cpu");
      return (await answer) as { user: number; system: number };
    },
    end: async () => {
      child.kill();
      await child.exited;
    },
  };
}

function requestOf(key: string, body: string): Uint8Array {
  return Buffer.from(
    `POST /rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nX-API-Key: ${key}\r\nAccept: */*\r\nUser-Agent: bench\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
}

const call = (id: number, method: string, params: string): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;

/** Twenty wallets' balances with changing ids, as many clients ask for them. */
const hits = (key: string): Uint8Array[] =>
  Array.from({ length: 60 }, (_unused, index) =>
    requestOf(
      key,
      call(index, "getBalance", `["${address}",{"commitment":"confirmed","minContextSlot":${index % 20}}]`),
    ),
  );

const misses = (key: string): Uint8Array[] => [requestOf(key, call(1, "getVersion", "[]"))];

async function measure(kind: string, requests: (key: string) => Uint8Array[], nodePort: number): Promise<number[]> {
  const subject = await startSubject(kind, nodePort);
  const load = { port: subject.port, connections, requests: requests(subject.key) };
  await runLoad({ ...load, durationMs: warmMs });
  const before = await subject.ask();
  const answered = await runLoad({ ...load, durationMs: measureMs });
  const after = await subject.ask();
  await subject.end();
  const user = (after.user - before.user) / answered;
  const system = (after.system - before.system) / answered;
  return [user + system, user, system, (answered / measureMs) * 1_000];
}

const rounds = Number(process.argv[2] ?? "3");
const cases: readonly (readonly [string, string, (key: string) => Uint8Array[]])[] = [
  ["bare echo", "echo", hits],
  ["echo + 9 headers", "headers", hits],
  ["gateway hit", "gateway", hits],
  ["gateway miss", "gateway", misses],
];
const median = (values: number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

const value = "x".repeat(380);
using node = new StubNode(
  (stubCall) =>
    `{"jsonrpc":"2.0","result":{"context":{"apiVersion":"4.0.0","slot":100},"value":"${value}"},"id":${stubCall.id}}\n`,
);
const nodePort = Number(new URL(node.url).port);
let slot = 100;
const slots = setInterval(() => node.announce(++slot), 400);
const results = new Map<string, number[][]>();
for (let round = 0; round < rounds; round += 1) {
  for (const [name, kind, requests] of cases) {
    const figures = await measure(kind, requests, nodePort);
    results.set(name, [...(results.get(name) ?? []), figures]);
    node.calls.length = 0;
  }
}
clearInterval(slots);
console.log("case                 CPU µs/request   user   system   requests/s");
for (const [name, figures] of results) {
  const at = (index: number): string => median(figures.map((row) => row[index] ?? 0)).toFixed(index === 3 ? 0 : 2);
  console.log(
    `${name.padEnd(20)} ${at(0).padStart(14)} ${at(1).padStart(6)} ${at(2).padStart(8)} ${at(3).padStart(12)}`,
  );
}
process.exit(0);
