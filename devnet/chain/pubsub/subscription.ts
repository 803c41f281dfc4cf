import type { JsonObject, JsonValue } from "@sluice/encode";
import type { RevertedAddresses } from "../bank/index.ts";
import type { BankSlot, Block, Commitment } from "../model/index.ts";
import type { RpcNode } from "../rpc/index.ts";

/** Something that happened to the chain, as subscriptions see it. */
export type ChainEvent =
  | { readonly kind: "received"; readonly signature: string }
  | { readonly kind: "opened"; readonly slot: bigint; readonly parent: bigint }
  /** The chain went on from an older slot; these, oldest first, are no part of it, nor is what was written in them. */
  | { readonly kind: "abandoned"; readonly slots: readonly bigint[]; readonly reverted: RevertedAddresses }
  /** A slot reached a commitment; frozen slots are processed. */
  | { readonly kind: "reached"; readonly commitment: Commitment; readonly bank: BankSlot; readonly block: Block };

/** The notification of a subscription for an event. */
export interface Notice {
  readonly result: JsonValue;
  /** The subscription is over after this. */
  readonly last?: boolean;
}

/** The subject of a subscription. Subscriptions with the same key are one, shared by all its clients. */
export interface Topic {
  /** Method name of its notifications. */
  readonly notification: string;
  /** Two subscriptions of one kind with the same parameters have the same key. */
  readonly key: string;
  /** The signature whose `received` event it subscribes to; no other topic receives events of that kind. */
  readonly receives?: string;
  notices(event: ChainEvent, node: RpcNode): Iterable<Notice>;
}

/** A notification's context names the slot and nothing else. */
export function atSlot(slot: bigint, value: JsonValue): JsonObject {
  return { context: { slot }, value };
}

/** A connected client, as the hub needs it. */
export interface PubSubClient {
  send(text: string): void;
}

/**
 * A client behind a socket. While one of its calls is being answered its notifications wait, so that the id of a new
 * subscription always arrives before what it names. Calls take microtasks, so that little can wait.
 */
export class SocketClient implements PubSubClient {
  readonly #write: (text: string) => void;
  readonly #waiting: string[] = [];
  #holds = 0;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  send(text: string): void {
    if (this.#holds > 0) this.#waiting.push(text);
    else this.#write(text);
  }

  hold(): void {
    this.#holds += 1;
  }

  release(): void {
    this.#holds -= 1;
    if (this.#holds === 0) for (const text of this.#waiting.splice(0)) this.#write(text);
  }
}
