import type {
  BundleUuidMessage,
  PacketMessage,
  SubscribeBundlesMessage,
  SubscribePacketsMessage,
  TimestampMessage,
} from "@sluice/contract/proto";
import type { Clock } from "@sluice/lib";
import type { Address } from "@sluice/wire/identifiers";
import { GrpcStatusError, type ResponseStream } from "../../net/index.ts";
import type { Validators } from "../model/service.ts";

/**
 * A transaction as validators take it: `size` is the length that counts, and an address without an owner is no address.
 */
export function packetOf(data: Uint8Array): PacketMessage {
  return { data, meta: { size: String(data.length), addr: "0.0.0.0", port: 0, sender_stake: "0" } };
}

export function bundleMessage(
  bundle: { readonly id: string; readonly transactions: readonly Uint8Array[] },
  nowMs: number,
): BundleUuidMessage {
  return {
    uuid: bundle.id,
    bundle: { header: { ts: timestampOf(nowMs) }, packets: bundle.transactions.map(packetOf) },
  };
}

/** google.protobuf.Timestamp of a Unix time in milliseconds. */
export function timestampOf(unixMs: number): TimestampMessage {
  const seconds = Math.floor(unixMs / 1_000);
  return { seconds: String(seconds), nanos: Math.floor(unixMs - seconds * 1_000) * 1_000_000 };
}

/** Bundles in one message; clients take messages of up to 4 MiB, and 64 bundles of five packets have 0.4 MiB. */
const bundlesPerMessageMax = 64;

interface Connection {
  readonly responses: ResponseStream<SubscribeBundlesMessage>;
  why: "left" | "replaced" | "unscheduled" | "closed";
}

/** Events of validators for logs and metrics. */
export interface ValidatorEvents {
  validatorConnected(identity: Address): void;
  /** `left` by itself, `replaced` by a newer stream of its own, `unscheduled`, or `closed` by the server's end. */
  validatorGone(identity: Address, why: "left" | "replaced" | "unscheduled" | "closed"): void;
}

export interface ConnectedValidatorsDependencies {
  readonly clock: Clock;
  readonly events: ValidatorEvents;
  /** Whether the identity may take bundles now: asked before each delivery. */
  readonly mayValidate: (identity: Address) => boolean;
}

/** The validators that take bundles: one stream an identity, the newest. */
export class ConnectedValidators implements Validators {
  readonly #dependencies: ConnectedValidatorsDependencies;
  readonly #bundles = new Map<Address, Connection>();
  readonly #packets = new Map<Address, ResponseStream<SubscribePacketsMessage>>();

  constructor(dependencies: ConnectedValidatorsDependencies) {
    this.#dependencies = dependencies;
  }

  connected(): readonly Address[] {
    return [...this.#bundles.keys()].filter(this.#dependencies.mayValidate);
  }

  deliver(
    identity: Address,
    bundles: readonly { readonly id: string; readonly transactions: readonly Uint8Array[] }[],
  ): boolean {
    const connection = this.#bundles.get(identity);
    // One that is being ended sends nothing any more.
    if (connection === undefined || !connection.responses.isOpen) return false;
    if (!this.#dependencies.mayValidate(identity)) {
      this.#end(identity, connection);
      return false;
    }
    const { responses } = connection;
    // It does not read the bundles before these.
    if (Math.ceil(bundles.length / bundlesPerMessageMax) > responses.room) return false;
    const nowMs = this.#dependencies.clock.now();
    for (let start = 0; start < bundles.length; start += bundlesPerMessageMax) {
      const chunk = bundles.slice(start, start + bundlesPerMessageMax);
      responses.send({ bundles: chunk.map((bundle) => bundleMessage(bundle, nowMs)) });
    }
    return true;
  }

  /** Delivers single transactions; false where this leader takes none or does not read what it was sent. */
  deliverPackets(identity: Address, transactions: readonly Uint8Array[]): boolean {
    const responses = this.#packets.get(identity);
    if (responses === undefined || !this.#dependencies.mayValidate(identity)) return false;
    const header = { ts: timestampOf(this.#dependencies.clock.now()) };
    return responses.send({ header, batch: { packets: transactions.map(packetOf) } });
  }

  openBundles(identity: Address, responses: ResponseStream<SubscribeBundlesMessage>): void {
    if (!responses.isOpen) return;
    const before = this.#bundles.get(identity);
    const connection: Connection = { responses, why: "left" };
    this.#bundles.set(identity, connection);
    if (before !== undefined) {
      before.why = "replaced";
      before.responses.end(replaced());
    }
    this.#dependencies.events.validatorConnected(identity);
    responses.onClose(() => {
      if (this.#bundles.get(identity) === connection) this.#bundles.delete(identity);
      this.#dependencies.events.validatorGone(identity, connection.why);
    });
  }

  openPackets(identity: Address, responses: ResponseStream<SubscribePacketsMessage>): void {
    if (!responses.isOpen) return;
    const before = this.#packets.get(identity);
    this.#packets.set(identity, responses);
    before?.end(replaced());
    responses.onClose(() => {
      if (this.#packets.get(identity) === responses) this.#packets.delete(identity);
    });
  }

  /** Ends the streams of those who may take bundles no longer; for the change of an epoch or of the operator's list. */
  recheck(): void {
    for (const [identity, connection] of this.#bundles) {
      if (!this.#dependencies.mayValidate(identity)) this.#end(identity, connection);
    }
    for (const [identity, responses] of this.#packets) {
      if (!this.#dependencies.mayValidate(identity)) responses.end(unscheduled());
    }
  }

  /** Ends every stream, since the engine ends. */
  close(): void {
    const error = new GrpcStatusError("UNAVAILABLE", "The block engine of this process ends; connect again");
    for (const connection of this.#bundles.values()) {
      connection.why = "closed";
      connection.responses.end(error);
    }
    for (const responses of this.#packets.values()) responses.end(error);
  }

  #end(identity: Address, connection: Connection): void {
    connection.why = "unscheduled";
    this.#bundles.delete(identity);
    connection.responses.end(unscheduled());
  }
}

const replaced = (): GrpcStatusError =>
  new GrpcStatusError("PERMISSION_DENIED", "Another stream of this identity has taken over.");
const unscheduled = (): GrpcStatusError =>
  new GrpcStatusError("PERMISSION_DENIED", "The identity is not in the leader schedule of this or the next epoch.");
