import type { Network, Permission } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { Access } from "../../access/index.ts";
import type { RequestFact } from "../../ledger/index.ts";
import type { ConnectionPlaces, MessagePacer } from "../../streams/index.ts";
import type { GatewayEvents } from "../events.ts";
import type { PubSubTarget } from "./node-link.ts";

/** The permission that a connection needs. */
export const readPermission: readonly Permission[] = ["read"];

export interface PubSubDependencies {
  readonly clock: Clock;
  readonly access: Access;
  readonly events: GatewayEvents;
  readonly requestId: () => string;
  readonly served: (fact: RequestFact) => void;
  /** The node that a client is passed to, none of those that it has lost; null when the network has no such node. */
  readonly target: (network: Network, lost?: ReadonlySet<string>) => PubSubTarget | null;
  /** Whether a node still gets calls: one that has fallen behind goes on speaking, of slots long past. */
  readonly isServing: (network: Network, label: string) => boolean;
  /** Shared with other processes; the endpoint's own when absent. */
  readonly places?: ConnectionPlaces;
}

/** A connection whose key can be checked again. */
export interface CheckedSession {
  recheck(): Promise<void>;
}

/** What a session works with. */
export interface SessionDependencies extends PubSubDependencies {
  readonly connections: ConnectionPlaces;
  readonly pacer: MessagePacer;
  /** Whether methods that no table knows are passed to the node. */
  readonly allowUnknownMethods: boolean;
  /** Between two facts of a connection that lasts, to the next tick. */
  readonly reportEveryMs: number;
  /** The connection is gone. */
  readonly left: (session: CheckedSession) => void;
}
