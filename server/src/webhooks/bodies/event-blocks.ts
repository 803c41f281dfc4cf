import type { Network } from "@sluice/contract/tiers";
import { unpackOnce } from "@sluice/encode";
import { MalformedBytes } from "@sluice/wire/bytes";
import type { Slot } from "@sluice/wire/identifiers";
import type { BlockEvents, BlockReader } from "../../events/index.ts";
import type { PastBlocks } from "../../history/index.ts";
import type { ChainLog } from "../../log/index.ts";
import type { BlockMemory } from "./block-memory.ts";

export interface EventBlocksDependencies {
  /** The log of a network; null while it is not open. */
  readonly logOf: (network: Network) => Pick<ChainLog, "read"> | null;
  /** What the log no longer holds; null where nothing else holds it. */
  readonly past: Pick<PastBlocks, "first"> | null;
  readonly reader: BlockReader;
  readonly memory: BlockMemory;
}

interface Place {
  readonly network: Network;
  readonly slot: bigint;
  readonly blockhash: string;
}

/** A block that cannot be read now, though it may be held. */
export class BlockAwayError extends Error {
  override readonly name = "BlockAwayError";
}

/** The blocks that events are of, from memory, the log or the ledger, each read once for all who ask at that time. */
export class EventBlocks {
  readonly #dependencies: EventBlocksDependencies;
  readonly #reading = new Map<string, Promise<BlockEvents | null>>();

  constructor(dependencies: EventBlocksDependencies) {
    this.#dependencies = dependencies;
  }

  /** Null for a block that nothing holds any more. @throws {BlockAwayError} while what may hold it cannot be read */
  async find(place: Place): Promise<BlockEvents | null> {
    const known = this.#dependencies.memory.find(place.network, place.blockhash);
    if (known !== null) return known;
    const key = `${place.network} ${place.blockhash}`;
    const under = this.#reading.get(key);
    if (under !== undefined) return await under;
    const reading = this.#read(place).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return await reading;
  }

  async #read(place: Place): Promise<BlockEvents | null> {
    const { memory } = this.#dependencies;
    const events = (await this.#ofLog(place)) ?? (await this.#ofPast(place));
    if (events !== null) memory.keep(place.network, events);
    return events;
  }

  async #ofLog({ network, slot, blockhash }: Place): Promise<BlockEvents | null> {
    const { logOf, reader } = this.#dependencies;
    const log = logOf(network);
    if (log === null) throw new BlockAwayError(`the log of ${network} is not open`);
    const body = await awaited(() => log.read({ slot: slot as Slot, blockhash }));
    if (body === null) return null;
    try {
      return reader.events(unpackOnce(body));
    } catch (error) {
      if (error instanceof MalformedBytes) return null;
      throw error;
    }
  }

  async #ofPast({ network, slot, blockhash }: Place): Promise<BlockEvents | null> {
    const { past, reader } = this.#dependencies;
    if (past === null) return null;
    const found = await awaited(() => past.first(network, slot as Slot));
    return found?.header.blockhash === blockhash ? reader.events(found.block) : null;
  }
}

async function awaited<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new BlockAwayError("a block cannot be read now", { cause: error });
  }
}
