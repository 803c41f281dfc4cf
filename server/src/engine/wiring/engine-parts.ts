import type { EngineStatus } from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import type { AddressSet, Clock, Random } from "@sluice/lib";
import type { Address } from "@sluice/wire/identifiers";
import type { Access } from "../../access/index.ts";
import type { RateLimiter } from "../../limits/index.ts";
import type { SocketMount } from "../../net/index.ts";
import type { EngineStores } from "../../state/index.ts";
import type { GrpcService } from "../calls/index.ts";
import type { BundlePool } from "../model/bundle.ts";
import type { EngineEvents } from "../model/events.ts";
import type { EngineChain } from "../model/ports.ts";
import type { BlockEngineService, Validators } from "../model/service.ts";
import type { Switches } from "../operations/switches.ts";
import type { OutcomeLedger } from "../pool/pool-options.ts";

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
  /** Under the lease of the pool. */
  readonly stores: EngineStores;
  /** Whether this process keeps the pool now, so that nobody else can have begun to: asked before anything is handed over. */
  readonly isKeeper: () => boolean;
  readonly ledger: OutcomeLedger;
  readonly access: Access;
  readonly limits: RateLimiter;
  readonly requestId: () => string;
  readonly events: EngineEvents;
}

/** What serves the upgrades of a path; door's mounts have this shape. */

/** A running block engine. Its doors are opened by who made it. */
export interface Engine extends AsyncDisposable {
  readonly pool: BundlePool;
  readonly desk: BlockEngineService;
  readonly validators: Validators;
  readonly switches: Pick<Switches, "isInMaintenance" | "isHalted" | "refresh">;
  fetch(request: Request, bindings?: object): Response | Promise<Response>;
  /** WebSockets of the REST door. */
  readonly sockets: readonly SocketMount[];
  readonly services: readonly GrpcService[];
  status(): EngineStatus;
  /** Keys or accounts have changed: streams of those that lost their right end. */
  recheck(): Promise<void>;
}
