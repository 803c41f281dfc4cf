import type { Network, Permission } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { Access } from "../../access/index.ts";
import type { RequestFact } from "../../ledger/index.ts";
import type { GatewayEvents } from "../events.ts";
import type { MessagePacer } from "./message-pacer.ts";
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

/**
 * The places of accounts for connections, so that a tier's limit can be kept. An answer is a promise where other
 * processes share the places.
 */
export interface ConnectionPlaces {
  /** Takes a place; false, and none taken, when the account holds `max` already. */
  enter(accountId: string, max: number): boolean | Promise<boolean>;
  /** Gives a place back that `enter` gave. */
  leave(accountId: string): void;
  /** Gives one place back where the account holds more than `max`: true, and its connection must end. */
  leaveBeyond(accountId: string, max: number): boolean | Promise<boolean>;
}

/** The places of one process. Accounts without any take no memory. */
export class ConnectionCounts implements ConnectionPlaces {
  readonly #counts = new Map<string, number>();

  enter(accountId: string, max: number): boolean {
    const count = this.#counts.get(accountId) ?? 0;
    if (count >= max) return false;
    this.#counts.set(accountId, count + 1);
    return true;
  }

  leave(accountId: string): void {
    const count = (this.#counts.get(accountId) ?? 0) - 1;
    if (count > 0) this.#counts.set(accountId, count);
    else this.#counts.delete(accountId);
  }

  leaveBeyond(accountId: string, max: number): boolean {
    if ((this.#counts.get(accountId) ?? 0) <= max) return false;
    this.leave(accountId);
    return true;
  }
}
