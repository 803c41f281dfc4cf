import { connect } from "node:net";
import { seededRandom } from "../lib/index.ts";
import { type BootedDoor, bootDoor, testKey } from "./testing/booted-door.ts";
import { StubNode } from "./testing/stub-node.ts";

const account = "9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g";
const spaces = ["", " ", "\n", "\t", "\r\n", "   "];
/** Connections opened at once; the system's queue of those that are not yet accepted is short. */
const openedAtOnce = 250;
const settleMs = 30_000;

const answerOf = (id: string): string => `{"jsonrpc":"2.0","result":{"context":{"slot":100},"value":1},"id":${id}}`;

/** One call as some client spells it: any id, any white space, any order of members. */
class Spelling {
  readonly #next: () => number;

  constructor(next: () => number) {
    this.#next = next;
  }

  #pick(from: readonly string[]): string {
    return from[Math.floor(this.#next() * from.length)] ?? "";
  }

  /** Unique by its index, in one of the forms that clients use. */
  id(index: number): string {
    return this.#pick([`${index}`, `"${index}"`, `"id-${index}"`, `"\\u00e9${index}"`]);
  }

  body(id: string): string {
    const space = (): string => this.#pick(spaces);
    const params = this.#pick([
      `[${space()}"${account}"${space()}]`,
      `[${space()}"\\u0039${account.slice(1)}",null]`,
      `["${account}",${space()}{"commitment"${space()}:"confirmed"}]`,
    ]);
    const members = [
      `"jsonrpc":"2.0"`,
      `"id":${space()}${id}`,
      `"method":${space()}"getBalance"`,
      `"params":${params}`,
    ];
    for (let index = members.length - 1; index > 0; index -= 1) {
      const other = Math.floor(this.#next() * (index + 1));
      const moved = members[index] ?? "";
      members[index] = members[other] ?? "";
      members[other] = moved;
    }
    return `{${space()}${members.join(`${space()},${space()}`)}${space()}}`;
  }
}

/** Sends one call on a connection of its own and gives the body of its answer; rejects when there is none. */
function callAlone(port: number, body: string, opened: () => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.on("connect", () => {
      socket.write(
        `POST /rpc HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nX-API-Key: ${testKey}\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
      opened();
    });
    socket.on("data", (bytes: Buffer) => {
      text += bytes.toString();
      const split = text.indexOf("\r\n\r\n");
      const length = Number(/content-length: *(\d+)/i.exec(text)?.[1] ?? Number.NaN);
      if (split < 0 || Buffer.byteLength(text.slice(split + 4)) < length) return;
      resolve(text.slice(split + 4));
      socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error(`a connection was closed after ${JSON.stringify(text)}`)));
  });
}

async function until(holds: () => boolean): Promise<void> {
  for (let turns = 0; turns < settleMs && !holds(); turns += 1) await Bun.sleep(1);
  if (!holds()) throw new Error("the calls did not all arrive");
}

/** All calls in flight at once, each on a connection of its own; the node answers only when the last one has been paid. */
async function inFlight(booted: BootedDoor, bodies: readonly string[]): Promise<Promise<string>[]> {
  const answers: Promise<string>[] = [];
  let opened = 0;
  for (const body of bodies) {
    const answer = callAlone(booted.port, body, () => {
      opened += 1;
    });
    // Looked at when all are there; until then a failure is nobody's surprise.
    answer.catch(() => undefined);
    answers.push(answer);
    if (answers.length % openedAtOnce === 0) await until(() => opened === answers.length);
  }
  return answers;
}

/** Coalescing: `n` identical calls in flight, whatever their ids, white space and order of members, are one call to the node. */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const random = seededRandom(seed);
  const spelling = new Spelling(() => random.next());
  const released = Promise.withResolvers<void>();
  using node = new StubNode(async (call) => {
    await released.promise;
    return answerOf(call.id);
  });
  await using booted = await bootDoor({ upstreams: { devnet: node } });
  const credits = booted.fakes.creditsLeft;
  const ids = Array.from({ length: n }, (_, index) => spelling.id(index));
  const answers = await inFlight(
    booted,
    ids.map((id) => spelling.body(id)),
  );
  await until(() => booted.fakes.creditsLeft === credits - n);
  released.resolve();
  let wrong = 0;
  for (const [index, answer] of (await Promise.all(answers)).entries())
    if (answer !== answerOf(ids[index] ?? "")) wrong += 1;
  const misses = booted.facts.filter(({ cache }) => cache === "MISS").length;
  const summary = `${n} identical calls in flight: ${node.calls.length} to the node, ${misses} counted as missed, ${wrong} not answered under their own id`;
  return { passed: node.calls.length === 1 && misses === 1 && wrong === 0 && booted.facts.length === n, summary };
}
