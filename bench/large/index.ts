/**
 * bench/large: an answer of 200 MB through the gateway, beside nginx where it is installed and a bare proxy on the same
 * runtime: how much the process grows (peak of VmRSS over what it was before), its CPU and the time, for clients that
 * read as fast as they can, slowly, and packed. `npm run bench -- large [--megabytes 200] [--rounds 3] [--sluice
 * server|rooms]`. A subject answers small calls before it is measured; round 1 is its first large answer.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { spawnChild } from "../rpc/child.ts";
import { treeCpu } from "../rpc/process-cpu.ts";
import type { RunningSubject, Subject } from "../rpc/subject.ts";
import { nginxPass, sluiceForms } from "../rpc/subjects.ts";

const { values } = parseArgs({
  options: {
    megabytes: { type: "string", default: "200" },
    rounds: { type: "string", default: "3" },
    sluice: { type: "string", default: "rooms" },
  },
});
const rounds = Number(values.rounds);
const bytesMin = Number(values.megabytes) * 1024 * 1024;
const program = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";

interface Client {
  readonly name: string;
  readonly coding: string;
  /** Bytes that are read before it pauses for as many ms; null reads without a pause. */
  readonly pause: { readonly everyBytes: number; readonly ms: number } | null;
}

const clients: readonly Client[] = [
  { name: "quick", coding: "identity", pause: null },
  { name: "slow (4 MB, then a pause of 20 ms)", coding: "identity", pause: { everyBytes: 4 * 1024 * 1024, ms: 20 } },
  { name: "quick, zstd", coding: "zstd", pause: null },
  { name: "quick, gzip", coding: "gzip", pause: null },
];

const bareProxy: Subject = {
  name: "bare Bun proxy",
  start: async ({ upstreamPort }) => {
    const child = spawnChild([process.execPath, join(import.meta.dir, "bare-proxy.ts"), String(upstreamPort)]);
    const { port } = JSON.parse(await child.line()) as { port: number };
    return { port, path: "/", pid: child.pid, headers: {}, [Symbol.asyncDispose]: () => child.stop() };
  },
};

/** Resident memory in bytes of a process and of those it has started; its own part alone for a server with helpers. */
function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) * 1024;
}

interface Reading {
  readonly bytes: number;
  readonly growth: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

function request(running: RunningSubject, method: string, params: string, coding: string): string {
  const body = `{"jsonrpc":"2.0","id":777,"method":"${method}","params":${params}}`;
  const own = Object.entries(running.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST ${running.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept-Encoding: ${coding}\r\nConnection: close\r\n${own.join("")}Content-Length: ${body.length}\r\n\r\n${body}`;
}

/** Sends one call and reads to the end of the connection; gives the bytes and their last ones as text. */
async function ask(
  running: RunningSubject,
  text: string,
  pause: Client["pause"],
): Promise<{ bytes: number; end: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let bytes = 0;
  let sincePause = 0;
  let last: Buffer = Buffer.alloc(0);
  const socket: Socket = connect(running.port, "127.0.0.1", () => socket.write(text));
  socket.on("data", (piece: Buffer) => {
    bytes += piece.length;
    last = piece.length >= 64 ? piece.subarray(-64) : Buffer.concat([last, piece]).subarray(-64);
    sincePause += piece.length;
    if (pause === null || sincePause < pause.everyBytes) return;
    sincePause = 0;
    socket.pause();
    setTimeout(() => socket.resume(), pause.ms);
  });
  socket.on("close", () => resolve());
  socket.on("error", reject);
  await promise;
  return { bytes, end: last.toString("latin1") };
}

async function measure(running: RunningSubject, client: Client): Promise<Reading> {
  const before = residentBytes(running.pid);
  const cpuBefore = treeCpu(running.pid)?.total ?? Number.NaN;
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, residentBytes(running.pid));
  }, 5);
  const startedMs = performance.now();
  const params = `["${program}",{"encoding":"base64"}]`;
  const { bytes, end } = await ask(
    running,
    request(running, "getProgramAccounts", params, client.coding),
    client.pause,
  );
  const seconds = (performance.now() - startedMs) / 1_000;
  clearInterval(timer);
  peak = Math.max(peak, residentBytes(running.pid));
  const isPlain = client.coding === "identity";
  if (isPlain && (bytes < bytesMin || !end.includes('"id":777}'))) throw new Error(`cut after ${bytes}: ${end}`);
  const cpuSeconds = ((treeCpu(running.pid)?.total ?? Number.NaN) - cpuBefore) / 1_000_000;
  return { bytes, growth: peak - before, seconds, cpuSeconds };
}

async function measureSubject(subject: Subject, place: { upstreamPort: number; directory: string }): Promise<void> {
  await using running = await subject.start(place);
  if (running === null) {
    console.log(`| ${subject.name} | NOT INSTALLED, not measured | | | | |`);
    return;
  }
  for (let call = 0; call < 200; call += 1) await ask(running, request(running, "getSlot", "[]", "identity"), null);
  for (const client of clients) {
    if (client.coding !== "identity" && !subject.name.startsWith("sluice")) continue;
    const readings: Reading[] = [];
    for (let round = 0; round < rounds; round += 1) readings.push(await measure(running, client));
    const mebibytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);
    const each = (of: (reading: Reading) => string): string => readings.map(of).join(", ");
    console.log(
      `| ${[
        subject.name,
        client.name,
        mebibytes(readings[0]?.bytes ?? 0),
        each(({ growth }) => mebibytes(growth)),
        each(({ seconds }) => seconds.toFixed(2)),
        each(({ cpuSeconds }) => cpuSeconds.toFixed(2)),
      ].join(" | ")} |`,
    );
  }
}

const form = values.sluice === "server" ? "server" : "rooms";
const directory = mkdtempSync(join(tmpdir(), "sluice-bench-large-"));
const node = spawnChild([process.execPath, join(import.meta.dir, "node.ts"), values.megabytes]);
try {
  const { port } = JSON.parse(await node.line()) as { port: number };
  console.log("| subject | client | MiB sent | growth of VmRSS, MiB, by round | seconds | CPU seconds |");
  console.log("|---|---|---:|---:|---:|---:|");
  for (const subject of [sluiceForms[form], bareProxy, nginxPass]) {
    await measureSubject(subject, { upstreamPort: port, directory: mkdtempSync(join(directory, "subject-")) });
  }
} finally {
  await node.stop();
  rmSync(directory, { recursive: true, force: true });
}
