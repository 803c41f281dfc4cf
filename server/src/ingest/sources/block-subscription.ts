import { readBlock, readJson } from "@sluice/encode";
import type { Clock, Random } from "@sluice/lib";
import { MalformedBytes } from "@sluice/wire/bytes";
import { PubSubClient } from "../../chain/index.ts";
import type { BlockSource, SourceBlock, SourceSink } from "../source.ts";
import { slotOf, sourceBlockOf } from "../source-block.ts";
import type { NodeBlocks } from "./node-blocks.ts";

export interface BlockSubscriptionOptions {
  readonly node: string;
  /** The node's PubSub address. */
  readonly ws: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Characters of one notification: the largest block in base64, with the results of its transactions. */
const charactersMax = 64 * 1024 * 1024;

const parameters = JSON.stringify([
  "all",
  {
    commitment: "confirmed",
    encoding: "base64",
    transactionDetails: "full",
    maxSupportedTransactionVersion: 1,
    showRewards: true,
  },
]);

/** blockSubscribe of a node that offers it; most do not, and refuse it once for each connection. */
export class BlockSubscription implements BlockSource {
  readonly name: string;
  readonly node: string;
  readonly kind = "pubsub";
  readonly bringsBlocks = true;
  readonly fetchBlock: BlockSource["fetchBlock"];
  readonly fetchDigest: BlockSource["fetchDigest"];
  readonly fetchSlots: BlockSource["fetchSlots"];
  readonly #client: PubSubClient;
  readonly #clock: Pick<Clock, "monotonic">;
  #sink: SourceSink | null = null;
  #isUp = false;

  constructor(
    options: BlockSubscriptionOptions,
    dependencies: {
      readonly clock: Pick<Clock, "after" | "monotonic">;
      readonly random: Random;
      readonly blocks: NodeBlocks;
    },
  ) {
    const { clock, random, blocks } = dependencies;
    this.#clock = clock;
    this.name = `${options.node}:pubsub`;
    this.node = options.node;
    this.fetchBlock = (slot, signal) => blocks.fetchBlock(slot, signal);
    this.fetchDigest = (slot, commitment, signal) => blocks.fetchDigest(slot, commitment, signal);
    this.fetchSlots = (from, to, signal) => blocks.fetchSlots(from, to, signal);
    const subscription = {
      method: "blockSubscribe",
      params: parameters,
      notify: () => undefined,
      large: { method: "blockNotification", notify: (text: string) => this.#notified(text) },
      active: (isUp: boolean) => this.#active(isUp),
    };
    this.#client = new PubSubClient(
      { url: options.ws, headers: options.headers, charactersMax },
      { clock, random, subscriptions: [subscription] },
    );
  }

  start(sink: SourceSink): void {
    this.#sink = sink;
    this.#client.start();
  }

  #active(isUp: boolean): void {
    if (isUp === this.#isUp) return;
    this.#isUp = isUp;
    if (isUp) this.#sink?.up(this);
    else this.#sink?.down(this, "the subscription has ended");
  }

  #notified(text: string): void {
    const sink = this.#sink;
    if (sink === null) return;
    const arrivedMs = this.#clock.monotonic();
    const block = readNotice(text);
    // What cannot be read is fetched when its slot is told or its child names it.
    if (block !== null) sink.block(this, { block, stage: "confirmed", arrivedMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#sink = null;
    await this.#client[Symbol.asyncDispose]();
  }
}

/** The block of a notification; null for anything else. */
function readNotice(text: string): SourceBlock | null {
  try {
    const params = memberOf(readJson(text), "params");
    const value = memberOf(memberOf(params, "result"), "value");
    const slot = memberOf(value, "slot");
    const block = memberOf(value, "block");
    if (block === undefined || block === null || (typeof slot !== "number" && typeof slot !== "bigint")) return null;
    return sourceBlockOf(readBlock(slotOf(BigInt(slot)), block));
  } catch (error) {
    if (error instanceof MalformedBytes || error instanceof RangeError) return null;
    throw error;
  }
}

type Json = ReturnType<typeof readJson>;

function memberOf(value: Json | undefined, name: string): Json | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return (value as { readonly [name: string]: Json | undefined })[name];
}
