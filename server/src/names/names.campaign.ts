import { ManualClock, seededRandom } from "@sluice/lib";
import { httpNode } from "./chain-node.ts";
import { silentEvents } from "./events.ts";
import { createNames, type Names } from "./names.ts";
import {
  decodedOnce,
  flaws,
  meaningOf,
  ownerIsWallet,
  type PlacedAccount,
  place,
} from "./testing/independent-oracle.ts";
import { NameWriter } from "./testing/name-writer.ts";
import { service } from "./testing/world.ts";

const methods = ["GET", "GET", "GET", "GET", "GET", "GET", "GET", "POST", "OPTIONS", "HEAD"];

/** A node in the process that holds nothing but what the independent derivation put where it says names lie. */
class PlacedChain {
  accounts: readonly PlacedAccount[] = [];
  down = false;
  readonly #ids: readonly string[];

  constructor(ids: readonly string[]) {
    this.#ids = ids;
  }

  readonly post = async (_url: string, init: RequestInit): Promise<Response> => {
    if (this.down) throw new TypeError("connection refused");
    const call = JSON.parse(String(init.body));
    const value = (call.params[0] as string[]).map((address) => {
      if (this.#ids.includes(address)) return { owner: address, executable: true, data: ["", "base64"] };
      const found = this.accounts.find((account) => account.address === address);
      if (found === undefined) return null;
      return { owner: found.program, executable: false, data: [found.data.toBase64(), "base64"] };
    });
    return Response.json({ jsonrpc: "2.0", id: call.id, result: { context: { slot: 1 }, value } });
  };
}

interface Answer {
  readonly status: number;
  readonly body: { readonly [member: string]: unknown };
}

async function ask(names: Names, path: string, method: string): Promise<Answer> {
  const response = await names.fetch(new Request(`http://resolver${path}`, { method }));
  return { status: response.status, body: JSON.parse(await response.text()) };
}

/** The input that the path carries after a URL parser has seen it; undefined when it is another route. */
function segmentOf(path: string): string | undefined {
  return /^\/resolve\/([^/]+)$/.exec(new URL(`http://resolver${path}`).pathname)?.[1];
}

const same = (answer: Answer, status: number, body: object): boolean =>
  answer.status === status && JSON.stringify(answer.body) === JSON.stringify(body);

class Trial {
  readonly #writer: NameWriter;
  readonly #clock = new ManualClock();
  readonly #ids: { readonly nameProgram: string; readonly handleProgram: string };
  readonly #chain: PlacedChain;
  readonly #names: Names;
  readonly tally = { owners: 0, absent: 0, unreadable: 0, refused: 0 };

  constructor(seed: number) {
    const random = seededRandom(seed);
    this.#writer = new NameWriter(random);
    const network = service(this.#writer.pick(["x1-mainnet", "x1-testnet", "devnet"] as const));
    this.#ids = { nameProgram: network.nameProgram, handleProgram: service("devnet").handleProgram ?? "" };
    this.#chain = new PlacedChain(Object.values(this.#ids));
    this.#names = createNames(
      {},
      {
        clock: this.#clock,
        random,
        node: httpNode({ rpcUrl: "http://node" }, { post: this.#chain.post }),
        events: silentEvents,
      },
    );
  }

  /** One name, asked twice; what was wrong, or null. */
  async run(): Promise<string | null> {
    const writer = this.#writer;
    const path = `/resolve/${writer.segment(writer.name())}`;
    const method = writer.pick(methods);
    if (method !== "GET") {
      const { status } = await ask(this.#names, path, method);
      return status === 405 ? null : `${method} ${path} is ${status}`;
    }
    this.#clock.advance(20_000);
    const reason = await this.#evaluate(path);
    return reason === null ? null : `GET ${path}: ${reason}`;
  }

  async #evaluate(path: string): Promise<string | null> {
    const segment = segmentOf(path);
    if (segment === undefined) {
      const { status } = await ask(this.#names, path, "GET");
      return status === 404 || status === 200 ? null : `another route is ${status}`;
    }
    const input = decodedOnce(segment);
    if (input === null) {
      const error = segment.startsWith("@") || segment.startsWith("%40") ? "invalid handle" : "invalid domain";
      return await this.#expect(path, 400, { error, input: segment });
    }
    const meaning = meaningOf(input);
    if (meaning.kind === "refused") {
      this.tally.refused += 1;
      this.#chain.down = true;
      const wrong = await this.#expect(path, meaning.status, { error: meaning.error, input });
      this.#chain.down = false;
      return wrong;
    }
    return await this.#evaluateRegistered(path, input, meaning);
  }

  async #evaluateRegistered(
    path: string,
    input: string,
    meaning: { readonly kind: "handle" | "domain"; readonly name: string },
  ): Promise<string | null> {
    const writer = this.#writer;
    const owner = writer.bytes(32);
    const flaw = writer.below(2) === 0 ? "none" : writer.pick(flaws);
    // Handles have no parent that could be wrong.
    const applied = meaning.kind === "handle" && flaw === "parent" ? "none" : flaw;
    const { accounts, expected } = await place(meaning, owner, applied, writer.below(4), this.#ids);
    this.#chain.accounts = accounts;
    this.#chain.down = writer.below(40) === 0;
    if (this.#chain.down) {
      const wrong = await this.#expect(path, 502, { error: "rpc unreachable", input });
      this.#chain.down = false;
      if (wrong !== null) return wrong;
    }
    if (expected.owner === undefined) {
      this.tally[expected.status === 404 ? "absent" : "unreadable"] += 1;
      return await this.#expect(path, expected.status, { error: expected.error, input });
    }
    this.tally.owners += 1;
    const namespace = meaning.kind === "handle" ? "handle" : meaning.name.split(".").at(-1);
    const record = { input, name: meaning.name, namespace, owner: expected.owner, verification: "owner" };
    const whole = ownerIsWallet(owner) ? record : { ...record, owner_on_curve: false };
    const wrong = await this.#expect(path, 200, whole);
    this.#chain.accounts = [];
    return wrong ?? (await this.#expect(path, 200, whole));
  }

  async #expect(path: string, status: number, body: object): Promise<string | null> {
    const answer = await ask(this.#names, path, "GET");
    if (same(answer, status, body)) return null;
    return `${status} ${JSON.stringify(body)} expected, got ${answer.status} ${JSON.stringify(answer.body)}`;
  }
}

/** Names asked of one resolver before the next, on another chain, takes its place. */
const namesEach = 2_000;

/**
 * `n` fuzzed names and paths against a second reading of the rules and @solana/kit's derivation: every owner is the one
 * that was placed, every refusal has its status and body, and nothing but 502 is ever a server's fault.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const faults: string[] = [];
  const total = { owners: 0, absent: 0, unreadable: 0, refused: 0 };
  let trial = new Trial(seed);
  for (let at = 0; at < n && faults.length < 5; at++) {
    if (at % namesEach === 0) trial = new Trial(seed + at);
    const before = { ...trial.tally };
    const reason = await trial.run();
    if (reason !== null) faults.push(reason);
    for (const kind of ["owners", "absent", "unreadable", "refused"] as const)
      total[kind] += trial.tally[kind] - before[kind];
  }
  const counts = `${total.owners} owners, ${total.absent} absent, ${total.unreadable} unreadable, ${total.refused} refused`;
  return { passed: faults.length === 0, summary: [`${n} names: ${counts}`, ...faults].join("\n") };
}
