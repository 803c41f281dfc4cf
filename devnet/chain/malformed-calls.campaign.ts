import { createHash } from "node:crypto";
import { rpcMethods } from "@sluice/contract/rpc";
import { systemClock, wallMs } from "@sluice/lib";
import { LiteSvmMachine } from "@sluice/svm/testing/litesvm-machine";
import { encodeBase58 } from "@sluice/wire/base58";
import { processLog } from "../log.ts";
import { type ChainNode, startNode } from "./node.ts";
import { defaultOptions } from "./options.ts";

/** Inputs between two looks at whether the chain still lives. */
const checkEvery = 50_000;
/** Transactions of the traffic that are kept as patterns to spoil. */
const patternsMax = 400;
const bodyBytesMax = 51_200;

/** A small seeded generator (mulberry32): a seed replays a run. */
class Draw {
  #state: number;

  constructor(seed: string) {
    this.#state = createHash("sha256").update(seed).digest().readUInt32LE(0);
  }

  below(bound: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError("there is nothing to pick from");
    return item;
  }
}

/** Up to four changes that break parsers: bits, lengths, cuts, repeats, what stands elsewhere. */
function spoiled(bytes: Uint8Array, draw: Draw): Uint8Array {
  let result: Uint8Array = bytes.slice();
  for (let left = draw.below(4); left >= 0; left -= 1) {
    const at = draw.below(result.length + 1);
    switch (draw.below(6)) {
      case 0:
        if (at < result.length) result[at] = (result[at] ?? 0) ^ (1 << draw.below(8));
        break;
      case 1:
        if (at < result.length) result[at] = draw.pick([0, 1, 0x7f, 0x80, 0x81, 0xff]);
        break;
      case 2:
        result = result.slice(0, at);
        break;
      case 3:
        result = Uint8Array.from([...result, ...result.subarray(at, at + draw.below(64))]);
        break;
      case 4: {
        const from = draw.below(result.length + 1);
        result.copyWithin(at, from, from + draw.below(40));
        break;
      }
      default:
        if (at < result.length) result[at] = draw.below(256);
    }
  }
  return result;
}

const scalars = [
  "null",
  "true",
  "-1",
  "0",
  "1e308",
  "18446744073709551615",
  "18446744073709551616",
  '""',
  '"\\u0000"',
  "1.5",
];

/** A JSON value that a method may or may not expect. */
function value(draw: Draw, addresses: readonly string[], depth = 0): string {
  const kind = draw.below(depth > 3 ? 4 : 7);
  if (kind < 2) return draw.pick(scalars);
  if (kind === 2) return JSON.stringify(draw.pick(addresses));
  if (kind === 3) return `"${draw.pick(["base64", "finalized", "jsonParsed", "processed", "all", "binary", "max"])}"`;
  const inner = Array.from({ length: draw.below(5) }, () => value(draw, addresses, depth + 1));
  if (kind === 4) return `[${inner.join(",")}]`;
  const names = [
    "commitment",
    "encoding",
    "minContextSlot",
    "filters",
    "memcmp",
    "offset",
    "bytes",
    "dataSize",
    "limit",
  ];
  return `{${inner.map((member) => `"${draw.pick([...names, "mint", "epoch", "range", "before"])}":${member}`).join(",")}}`;
}

/** A body of one call with random parameters, sometimes with its bytes spoiled as well. */
function hostileBody(draw: Draw, methods: readonly string[], addresses: readonly string[]): string {
  const params = Array.from({ length: draw.below(4) }, () => value(draw, addresses));
  const call = `{"jsonrpc":"2.0","id":${draw.pick(["1", '"a"', "null", "-1"])},"method":"${draw.pick(methods)}","params":[${params.join(",")}]}`;
  const body = draw.below(12) === 0 ? `[${call},${call}]` : call;
  if (draw.below(3) > 0) return body;
  const bytes = spoiled(Buffer.from(body), draw);
  return Buffer.from(bytes).toString("utf8").slice(0, bodyBytesMax);
}

/** A call that sends or simulates a spoiled transaction. Simulation checks no signature, so that some of them run. */
function hostileTransaction(draw: Draw, patterns: readonly Uint8Array[]): string {
  const bytes = spoiled(draw.pick(patterns), draw);
  const base64 = draw.below(20) > 0;
  const text = base64 ? Buffer.from(bytes).toString("base64") : encodeBase58(bytes.subarray(0, 1_300));
  const encoding = base64 ? "base64" : "base58";
  const send = draw.below(3) === 0;
  const config = send
    ? { encoding, skipPreflight: draw.below(2) === 0 }
    : { encoding, replaceRecentBlockhash: draw.below(4) > 0, innerInstructions: true };
  const method = send ? "sendTransaction" : "simulateTransaction";
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: [text, config] });
}

/** The fault of an answer, or null: JSON or nothing, and never an internal error. */
function faultOf(answer: string | null): string | null {
  if (answer === null) return null;
  try {
    JSON.parse(answer);
  } catch {
    return "the answer is no JSON";
  }
  return answer.includes('"code":-32603') ? "an internal error" : null;
}

/** The invariants of the chain at any time: slots close, and no lamport is lost. */
async function chainFault(node: ChainNode): Promise<string | null> {
  const before = node.chain.at("processed").slot;
  await node.chain.settled();
  await node.closeSlot();
  const bank = node.chain.at("processed");
  if (bank.slot <= before) return "no slot closes any more";
  let lamports = 0n;
  for (const [, account] of node.chain.accounts.all(bank.slot)) lamports += account.lamports;
  return lamports === bank.capitalization ? null : `${lamports} lamports are held, not ${bank.capitalization}`;
}

/**
 * Sends `n` malformed calls to one node: half are spoiled transactions, half bodies of random parameters. Passes when
 * every one is answered by JSON that is no internal error, the chain goes on, and no lamport is lost.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const options = { ...defaultOptions, rpcPort: 0, pubsubPort: 0, slotMs: 0, traffic: 20, seed: String(seed) };
  await using node = await startNode(options, {
    clock: { ...systemClock, now: () => wallMs(1_800_000_000_000) },
    log: processLog("test chain"),
    svm: new LiteSvmMachine(),
  });
  for (let slots = 0; slots < 45; slots += 1) {
    await node.chain.settled();
    await node.closeSlot();
  }
  const recorded = node.chain.history
    .slots(0n, 100n, 100)
    .flatMap((slot) => node.chain.history.block(slot)?.transactions ?? []);
  const patterns = recorded.slice(-patternsMax).map(({ bytes }) => bytes);
  const addresses = [...node.chain.accounts.all(45n)].slice(0, 200).map(([address]) => address);
  const methods = [...rpcMethods.keys()];
  const draw = new Draw(`malformed ${seed}`);
  let refused = 0;
  for (let index = 0; index < n; index += 1) {
    const body = index % 2 === 0 ? hostileTransaction(draw, patterns) : hostileBody(draw, methods, addresses);
    const answer = await node.answer(body);
    if (answer?.includes('"error"') === true) refused += 1;
    const fault = faultOf(answer) ?? (index % checkEvery === checkEvery - 1 ? await chainFault(node) : null);
    if (fault !== null)
      return { passed: false, summary: `seed ${seed}, input ${index}: ${fault}\n${body.slice(0, 2_000)}` };
  }
  const fault = await chainFault(node);
  const summary = `${n} malformed calls, seed ${seed}: ${refused} refused, the chain at slot ${node.chain.at("processed").slot}`;
  return { passed: fault === null, summary: fault ?? summary };
}
