import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";
import { seededRandom } from "@sluice/lib";
import { StubNode } from "../upstreams/testing/stub-node.ts";
import { bootGateway, testKey } from "./testing/booted-gateway.ts";
import { HostileWriter, type Wire } from "./testing/hostile-wire.ts";

/** Hostile connections at a time. */
const attackers = 8;
/** What a connection is waited for after the last byte was sent to it; the gateway's own time for a body is shorter. */
const patienceMs = 400;
const bodyTimeoutMs = 150;
/**
 * Memory that the process may have gained by the end: what the runtime keeps of its own accord, and not more with more
 * cases.
 */
const grownBytesMax = 192 * 1024 * 1024;

/** A gateway that is attacked. */
export interface Attacked {
  readonly port: number;
  /** Posts a body with the good key. */
  readonly post: (body: string) => Promise<Response>;
  /** Failures that were no fault of its callers. */
  readonly faults: readonly unknown[];
}

interface Tally {
  answers: number;
  refusals: number;
  closed: number;
}

/**
 * Sends the parts of one case and gives all that came back until the gateway closed or nothing more is to be expected.
 */
function exchange(port: number, wire: Wire): Promise<{ readonly text: string; readonly closed: boolean }> {
  return new Promise((resolve) => {
    const received: Buffer[] = [];
    const socket: Socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    let timer: ReturnType<typeof setTimeout> | null = null;
    const finish = (closed: boolean): void => {
      clearTimeout(timer ?? undefined);
      socket.destroy();
      resolve({ text: Buffer.concat(received).toString("latin1"), closed });
    };
    socket.on("data", (bytes: Buffer) => received.push(bytes));
    socket.on("error", () => finish(true));
    socket.on("end", () => finish(true));
    socket.on("close", () => finish(true));
    socket.on("connect", async () => {
      socket.setNoDelay(true);
      for (const part of wire.parts) {
        if (socket.destroyed) return;
        socket.write(part, "latin1");
        if (wire.parts.length > 1) await Bun.sleep(1);
      }
      if (wire.ending === "reset") {
        socket.resetAndDestroy();
        return;
      }
      if (wire.ending === "half-close") socket.end();
      timer = setTimeout(() => finish(false), wire.waits ? patienceMs : 60);
    });
  });
}

/** The answers on one connection, cut by their stated lengths; null when what came is no sequence of answers. */
export function answersIn(text: string): { readonly status: number; readonly body: string }[] | null {
  const answers: { status: number; body: string }[] = [];
  let at = 0;
  while (at < text.length) {
    const split = text.indexOf("\r\n\r\n", at);
    const head = text.slice(at, split);
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? Number.NaN);
    if (split < 0 || Number.isNaN(status)) return null;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
    answers.push({ status, body: text.slice(split + 4, split + 4 + length) });
    at = split + 4 + length;
  }
  return answers;
}

/** The node's answer shows what it was asked, so that an answer can be traced to the call that it belongs to. */
const echoOf = (account: string): string => createHash("sha256").update(account).digest("hex").slice(0, 16);

/** What must hold of one case's connection, whatever the gateway made of its bytes; null when it does. */
function faultIn(wire: Wire, text: string): string | null {
  const answers = answersIn(text);
  if (answers === null) return wire.ending === "reset" ? null : "what came back is no sequence of whole answers";
  const called = answers.filter(({ status }) => status === 200);
  if (answers.length > wire.calls.length + wire.others) {
    return `${answers.length} answers to ${wire.calls.length + wire.others} requests`;
  }
  const seen = new Set<string>();
  let last = -1;
  for (const { body } of called) {
    const index = wire.calls.findIndex(({ id }) => body.includes(`"id":"${id}"`));
    const own = wire.calls[index];
    if (own === undefined) return `an answer to another client: ${body.slice(0, 200)}`;
    if (seen.has(own.id)) return `two answers to ${own.id}`;
    if (index < last) return `${own.id} was answered after a call that was made later`;
    seen.add(own.id);
    last = index;
    if (body.includes('"result"') && !body.includes(echoOf(own.account))) return `another call's result for ${own.id}`;
  }
  return null;
}

/** A client that behaves, beside the hostile ones: each of its calls must be answered as if they were not there. */
async function checkNormal(gateway: Attacked, id: number, account: string): Promise<string | null> {
  const response = await gateway.post(
    `{"jsonrpc":"2.0","id":${id},"method":"getAccountInfo","params":["${account}",{"commitment":"processed"}]}`,
  );
  const text = await response.text();
  const isRight = response.status === 200 && text.includes(`"id":${id}`) && text.includes(echoOf(account));
  return isRight ? null : `a normal call was answered ${response.status} ${text.slice(0, 200)}`;
}

/** The node of an attack: its answers show what it was asked, and it notes what was not openly asked for. */
export class WatchingNode implements Disposable {
  readonly writer: HostileWriter;
  readonly stub: StubNode;
  readonly smuggled: string[] = [];

  constructor(seed: number) {
    const random = seededRandom(seed);
    this.writer = new HostileWriter(() => random.next(), `Content-Type: application/json\r\nX-API-Key: ${testKey}\r\n`);
    this.stub = new StubNode((call) => {
      const account = String(call.params[0]);
      if (this.writer.isSmuggled(account)) this.smuggled.push(account);
      return `{"jsonrpc":"2.0","result":{"context":{"slot":100},"value":"${echoOf(account)}"},"id":${call.id}}`;
    });
  }

  [Symbol.dispose](): void {
    this.stub[Symbol.dispose]();
  }
}

/** Attacks a gateway before a watching node with `n` connections. `faults` is empty when all held. */
export async function attack(
  n: number,
  gateway: Attacked,
  { writer, smuggled }: WatchingNode,
): Promise<{ readonly faults: readonly string[]; readonly summary: string }> {
  const tally: Tally = { answers: 0, refusals: 0, closed: 0 };
  const faults: string[] = [];
  let begun = 0;
  const attacker = async (): Promise<void> => {
    while (begun < n && faults.length === 0) {
      const index = begun;
      begun += 1;
      const wire = writer.next(index);
      const { text, closed } = await exchange(gateway.port, wire);
      const fault = faultIn(wire, text);
      if (fault !== null) faults.push(`case ${index} (${wire.name}): ${fault}\nsent ${JSON.stringify(wire.parts)}`);
      const answered = (answersIn(text) ?? []).map(({ status }) => status);
      tally.answers += answered.filter((status) => status === 200).length;
      tally.refusals += answered.filter((status) => status !== 200).length;
      if (closed && text === "") tally.closed += 1;
    }
  };
  let isOver = false;
  let normal = 0;
  const behaving = (async () => {
    while (!isOver && faults.length === 0) {
      normal += 1;
      const fault = await checkNormal(gateway, normal, writer.account());
      if (fault !== null) faults.push(fault);
      await Bun.sleep(2);
    }
  })();
  Bun.gc(true);
  const before = process.memoryUsage().rss;
  await Promise.all(Array.from({ length: attackers }, attacker));
  isOver = true;
  await behaving;
  Bun.gc(true);
  const grown = process.memoryUsage().rss - before;
  if (smuggled.length > 0) faults.push(`${smuggled.length} smuggled calls reached the node`);
  if (gateway.faults.length > 0)
    faults.push(`the gateway caught ${gateway.faults.length} faults: ${String(gateway.faults[0])}`);
  if (grown > grownBytesMax) faults.push(`memory grew by ${Math.round(grown / 1024 ** 2)} MB`);
  const summary = `${n} hostile connections: ${tally.answers} answers, ${tally.refusals} refusals, ${tally.closed} closed without a word; ${normal} normal calls were answered`;
  return { faults, summary };
}

/**
 * Hostile HTTP: `n` connections of a seeded corpus (smuggling, slow and huge heads, early closes, pipelining, halves)
 * while a normal client is served. Passes when no client was given another's answer, two, or one out of turn, no
 * smuggled call reached a node, the normal client never noticed, and memory stayed bounded.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  using node = new WatchingNode(seed);
  await using booted = await bootGateway({ upstreams: { devnet: node.stub }, bodyTimeoutMs });
  const { faults, summary } = await attack(n, booted, node);
  return { passed: faults.length === 0, summary: faults[0] ?? summary };
}
