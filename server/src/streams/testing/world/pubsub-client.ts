import { encodeBlock } from "@sluice/encode";
import { stringifyJsonExact } from "@sluice/wire/json";
import { naiveTest } from "../../../events/testing/naive-matcher.ts";
import { heldParent } from "./geyser-view.ts";
import type { PlayedSocket } from "./played-socket.ts";
import type { ClientWorld } from "./stream-client.ts";
import { addresses, pool, type StreamedChain, type WorldBlock } from "./streamed-chain.ts";

type Commitment = "confirmed" | "finalized";
type Kind = "root" | "block" | "logs" | "signature";

/** What was told over one connection, which begins with nothing. */
interface Connection {
  readonly chain: StreamedChain;
  /** By the number of the subscription. */
  readonly kinds: Map<number, Kind>;
  /** Calls by their ids. */
  readonly asked: Map<number, Kind>;
  block: WorldBlock | null;
  root: WorldBlock | null;
  /** Signatures of the logs since the last block. */
  logs: string[];
  hasSignature: boolean;
}

const form = { encoding: "base64", transactionDetails: "signatures", rewards: false } as const;

/**
 * A client of PubSub that connects again whenever it is cut: over each connection blocks, roots, logs and the end of a
 * transaction are those of the chain.
 */
export class PubSubFollower {
  readonly key: string;
  readonly #world: ClientWorld;
  readonly #commitment: Commitment;
  readonly #mention: string | null;
  /** A place in the pool. */
  readonly #awaited: number;
  /** Over all connections: a transaction ends once. */
  #hasEnded = false;
  #connection: Connection | null = null;
  #socket: PlayedSocket | null = null;
  waitTicks = 0;
  told = 0;

  constructor(key: string, world: ClientWorld) {
    this.key = key;
    this.#world = world;
    const { random } = world;
    this.#commitment = random.next() < 0.6 ? "confirmed" : "finalized";
    this.#mention = random.next() < 0.5 ? (addresses.texts[Math.floor(random.next() * 8)] ?? null) : null;
    this.#awaited = Math.floor(random.next() * pool.length);
  }

  cut(): void {
    const socket = this.#socket;
    if (socket === null) return;
    this.#receive(socket, Math.floor(this.#world.random.next() * 12));
    socket.cut();
    this.#lost();
  }

  async tick(): Promise<void> {
    const socket = this.#socket;
    if (socket !== null) {
      this.#receive(socket, Number.POSITIVE_INFINITY);
      if (socket.isOver) this.#lost();
      return;
    }
    this.waitTicks -= 1;
    const host = this.waitTicks > 0 ? null : this.#world.host();
    if (host === null) return;
    const { chain } = this.#world;
    this.#socket = await host.connect(this.key, "pubsub");
    const asked = new Map<number, Kind>();
    this.#connection = { chain, kinds: new Map(), asked, block: null, root: null, logs: [], hasSignature: false };
    this.#ask("block", ["all", { commitment: this.#commitment, transactionDetails: "signatures", showRewards: false }]);
    const filter = this.#mention === null ? "all" : { mentions: [this.#mention] };
    this.#ask("logs", [filter, { commitment: this.#commitment }]);
    this.#ask("root", []);
    const signature = pool[this.#awaited]?.transaction.signature;
    if (!this.#hasEnded) this.#ask("signature", [signature, { commitment: this.#commitment }]);
  }

  #ask(kind: Kind, params: readonly unknown[]): void {
    const id = (this.#connection?.asked.size ?? 0) + 1;
    this.#connection?.asked.set(id, kind);
    this.#socket?.say({ jsonrpc: "2.0", id, method: `${kind}Subscribe`, params });
  }

  #lost(): void {
    this.#socket = null;
    this.#connection = null;
    this.waitTicks = Math.floor(this.#world.random.next() * 8);
  }

  #receive(socket: PlayedSocket, max: number): void {
    for (const text of socket.take(max)) {
      const connection = this.#connection;
      if (connection === null) return;
      try {
        this.#take(connection, text);
      } catch (error) {
        this.#world.failed(`${this.key}: ${error instanceof Error ? error.message : error}`);
      }
    }
  }

  #take(connection: Connection, text: string): void {
    const message = JSON.parse(text);
    if (message.id !== undefined) {
      const kind = connection.asked.get(message.id);
      if (kind !== undefined && typeof message.result === "number") connection.kinds.set(message.result, kind);
      // Without a block there is no flow, and no node takes it.
      else if (message.id !== null) this.cut();
      return;
    }
    const { result, subscription } = message.params;
    const kind = connection.kinds.get(subscription);
    if (kind === undefined) throw new Error(`a notification of no subscription: ${text}`);
    this.told += 1;
    if (kind === "root") this.#root(connection, result);
    else if (kind === "logs") connection.logs.push(result.value.signature);
    else if (kind === "block") this.#block(connection, result, text);
    else this.#signature(connection, result);
  }

  #root(connection: Connection, slot: number): void {
    const block = connection.chain.standing.find(({ header }) => header.slot === BigInt(slot));
    if (block === undefined || block.isUnavailable) throw new Error(`${slot} is a root, and has no block`);
    if (connection.root !== null && heldParent(block) !== connection.root) {
      throw new Error(`the root ${slot} comes after ${connection.root.header.slot}`);
    }
    connection.root = block;
  }

  #block(connection: Connection, result: { value: { block: { blockhash: string } } }, text: string): void {
    const block = connection.chain.blocks.get(result.value.block.blockhash);
    if (block === undefined) throw new Error("a block of no chain is told");
    const { slot } = block.header;
    const encoded = encodeBlock(block.block, form);
    const body = encoded.ok ? stringifyJsonExact(encoded.value) : "";
    const expected = `{"context":{"slot":${slot}},"value":{"slot":${slot},"block":${body},"err":null}}`;
    if (!text.includes(`"result":${expected},"subscription"`)) throw new Error(`the block ${slot} differs: ${text}`);
    this.#isNext(block, connection.block);
    // What is told of its transactions comes ahead of the block; the first may have begun before the subscription.
    const logs = connection.logs.join();
    if (logs !== this.#logsOf(block).join()) throw new Error(`the logs of ${slot} differ: ${logs}`);
    const isIn = block.places.includes(this.#awaited);
    if (isIn && !this.#hasEnded) throw new Error(`the transaction has ended in ${slot}, and that is not told`);
    connection.block = block;
    connection.logs = [];
    connection.hasSignature = false;
  }

  /** The block follows the one before, or what both stand on where that one died. */
  #isNext(block: WorldBlock, before: WorldBlock | null): void {
    if (before === null) return;
    const parent = heldParent(block);
    const mayDie = this.#commitment === "confirmed";
    for (let at: WorldBlock | null = before; at !== null; at = mayDie ? at.parent : null) if (at === parent) return;
    throw new Error(`the block ${block.header.slot} comes after ${before.header.slot}`);
  }

  #logsOf({ places }: WorldBlock): readonly string[] {
    const filter = this.#mention === null ? { vote: false } : { accountInclude: [this.#mention] };
    const meets = naiveTest(filter);
    return places.flatMap((place) => {
      const pooled = pool[place];
      return pooled !== undefined && meets(pooled.facts) ? [pooled.transaction.signature] : [];
    });
  }

  #signature(connection: Connection, { context: { slot } }: { context: { slot: number } }): void {
    if (this.#hasEnded || connection.hasSignature) throw new Error(`the transaction ends again in ${slot}`);
    const isThere = [...connection.chain.blocks.values()].some(
      ({ header, places }) => header.slot === BigInt(slot) && places.includes(this.#awaited),
    );
    if (!isThere) throw new Error(`the transaction is not in ${slot}`);
    connection.hasSignature = true;
    this.#hasEnded = true;
  }
}
