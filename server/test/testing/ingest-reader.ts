/** Followers of the log of a chain that go on by their cursors in one opening of the log after the other. */
import { createHash } from "node:crypto";
import { unpackBlock } from "@sluice/encode";
import type { Random } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import {
  type BlockHeader,
  type ChainIdentity,
  type ChainLog,
  type LogEvent,
  openChainLog,
} from "../../src/log/index.ts";
import { ToldChain } from "../../src/log/testing/chain-model.ts";
import { observed, standardOptions } from "../../src/log/testing/segment-logs.ts";

const openWithinMs = 180_000;
/** How long an opening waits for the next event. */
const idleMs = 1_000;
const attemptsMax = 30;

/** What tells one list of signatures from another. */
export const listHash = (signatures: readonly string[]): string =>
  createHash("sha256").update(signatures.join(" ")).digest("hex");

/** What a follower at one stage was told, over all openings. */
class Told {
  readonly stage: "confirmed" | "finalized";
  readonly signatures = new Map<string, string>();
  readonly chain = new ToldChain((header, body) => this.#read(header, body));
  cursor: string | null = null;
  events = 0;

  constructor(stage: "confirmed" | "finalized") {
    this.stage = stage;
  }

  take(event: LogEvent): void {
    this.events += 1;
    this.chain.take(event);
    if (event.type === "expired") throw new Error(`a follower at ${this.stage} is told that what it wants is gone`);
    this.cursor = event.cursor;
  }

  #read(header: BlockHeader, body: Uint8Array): boolean {
    const block = unpackBlock(body);
    this.signatures.set(header.blockhash, listHash(block.transactions.map(({ signature }) => signature)));
    return (
      block.blockhash === header.blockhash &&
      block.slot === header.slot &&
      block.previousBlockhash === header.parentBlockhash &&
      block.transactions.length === header.transactions
    );
  }
}

export interface ReaderOptions {
  /** Where the log is: LOG_URL, or the data directory of a server that is not running. */
  readonly logUrl: string | null;
  readonly dataDirectory: string;
  readonly chain: ChainIdentity;
}

export class IngestReader {
  readonly confirmed = new Told("confirmed");
  readonly finalized = new Told("finalized");
  readonly #options: ReaderOptions;
  readonly #random: Random;
  openings = 0;

  constructor(options: ReaderOptions, random: Random) {
    this.#options = options;
    this.#random = random;
  }

  /** Opens the log as another process does, and takes at most so many events at each stage, or what there is. */
  async read(eventsMax: number): Promise<void> {
    const { chain, dataDirectory, logUrl } = this.#options;
    const options = { ...standardOptions, chain, dataDirectory, logUrl };
    await using log = await eventually("the log", () => openChainLog(options, observed().dependencies), openWithinMs);
    this.openings += 1;
    for (const told of [this.confirmed, this.finalized]) {
      await take(log, told, 1 + this.#random.next() * eventsMax);
    }
  }

  /** Goes on until both followers have been told a block of the slot or after it, or nothing more comes. */
  async readTo(slot: number): Promise<void> {
    const isThere = ({ chain }: Told): boolean => (chain.blocks.at(-1)?.slot ?? 0n) >= BigInt(slot);
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      if (isThere(this.confirmed) && isThere(this.finalized)) return;
      await this.read(Number.POSITIVE_INFINITY);
    }
  }
}

async function take(log: ChainLog, told: Told, eventsMax: number): Promise<void> {
  const outcome = log.follow({
    stage: told.stage,
    from: told.cursor === null ? "earliest" : { cursor: told.cursor },
  });
  if (!outcome.ok) throw new Error(`a cursor at ${told.stage} is ${outcome.code}`);
  const { follower } = outcome;
  for (let events = 0; events < eventsMax; events += 1) {
    const idle = Promise.withResolvers<null>();
    const timer = setTimeout(() => idle.resolve(null), idleMs);
    const next = await Promise.race([follower.next(), idle.promise]);
    clearTimeout(timer);
    if (next === null || next.done === true) break;
    told.take(next.value);
  }
  await follower.return();
}
