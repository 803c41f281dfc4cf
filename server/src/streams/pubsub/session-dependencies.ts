import type { Network } from "@sluice/contract/tiers";
import type { Clock, Random } from "@sluice/lib";
import type { Access } from "../../access/index.ts";
import type { RequestFact } from "../../ledger/index.ts";
import type { ConnectionAdmission } from "../delivery/admission.ts";
import type { ConnectionPlaces } from "../delivery/connection-places.ts";
import type { MessagePacer } from "../delivery/message-pacer.ts";
import type { PubSubEvents } from "./events.ts";
import type { PubSubFlow } from "./flow-subscriptions.ts";
import type { PubSubPool } from "./node-subscriptions.ts";
import type { NodeVersions } from "./node-versions.ts";
import type { SubscriptionTable } from "./subscription-table.ts";

export interface PubSubDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly access: Access;
  readonly events: PubSubEvents;
  readonly requestId: () => string;
  readonly served: (fact: RequestFact) => void;
  /** The nodes of a network; null where it has none. */
  readonly pool: (network: Network) => PubSubPool | null;
  /** The blocks of a network as this process has them; absent, and null, where it has none. */
  readonly flow?: (network: Network) => PubSubFlow | null;
  /** Shared with other processes; the endpoint's own when absent. */
  readonly places?: ConnectionPlaces;
}

/** A connection whose key can be checked again. */
export interface CheckedSession {
  recheck(): Promise<void>;
}

/** What a session works with. */
export interface SessionDependencies extends PubSubDependencies {
  readonly places: ConnectionPlaces;
  readonly admission: Pick<ConnectionAdmission, "recheck">;
  /** The subscriptions of all clients. */
  readonly table: SubscriptionTable;
  readonly versions: NodeVersions;
  readonly pacer: MessagePacer;
  /** Whether methods that no table knows are passed to the node. */
  readonly allowUnknownMethods: boolean;
  /** Between two facts of a connection that lasts, to the next tick. */
  readonly reportEveryMs: number;
  /** The connection is gone. */
  readonly left: (session: CheckedSession) => void;
}
