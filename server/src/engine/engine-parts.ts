import type { EngineStatus } from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import type { AddressSet, Clock, Random } from "@sluice/lib";
import type { Address } from "@sluice/wire/identifiers";
import type { EngineStores } from "../state/index.ts";
import type { BookLedger } from "./book/book-options.ts";
import type { BundleBook } from "./bundle.ts";
import type { GrpcService } from "./calls/index.ts";
import type { EngineDesk, Validators } from "./desk.ts";
import type { EngineEvents } from "./engine-events.ts";
import type { TipStream } from "./http/tip-stream.ts";
import type { EngineChain, EngineLimits, NetworkKeys } from "./interfaces.ts";
import type { Switches } from "./switches.ts";

export interface EngineOptions {
  readonly network: Network;
  readonly version: string;
  readonly tickMs: number;
  readonly simulators: number;
  /** Who is paid the block builder's share of tips, and its percentage. */
  readonly fee: { readonly pubkey: Address; readonly commission: number };
  /** Identities to which an operator narrows the leader schedule; null is all of it. */
  readonly validators: readonly Address[] | null;
  /** The address of the gRPC door that validators are told. */
  readonly url: string;
  readonly region: string;
  /** 64 hexadecimal digits; null only under `dev`. */
  readonly masterKey: string | null;
  readonly trustedProxies: AddressSet;
}

export interface EngineDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
  readonly chain: EngineChain;
  /** Under the lease of the book. */
  readonly stores: EngineStores;
  /** Whether this process keeps the book now, so that nobody else can have begun to: asked before anything is handed over. */
  readonly isKeeper: () => boolean;
  readonly ledger: BookLedger;
  readonly keys: NetworkKeys;
  readonly limits: EngineLimits;
  readonly requestId: () => string;
  readonly events: EngineEvents;
}

/** What serves the upgrades of a path; door's mounts have this shape. */
export type EngineSocket = Pick<TipStream, "serves" | "begin">;

/** A running block engine. Its doors are opened by who made it. */
export interface Engine extends AsyncDisposable {
  readonly book: BundleBook;
  readonly desk: EngineDesk;
  readonly validators: Validators;
  readonly switches: Pick<Switches, "isInMaintenance" | "isHalted" | "look">;
  fetch(request: Request, bindings?: object): Response | Promise<Response>;
  /** WebSockets of the REST door. */
  readonly sockets: readonly EngineSocket[];
  readonly services: readonly GrpcService[];
  status(): EngineStatus;
  /** Keys or accounts have changed: streams of those that lost their right end. */
  recheck(): Promise<void>;
}
