import type { Network } from "@sluice/contract";
import type { Clock } from "../../lib/index.ts";
import type { DoorCredits, DoorEvents, DoorKeys, DoorLimits, RequestFact } from "../interfaces.ts";
import type { ConnectionCounts } from "./connection-counts.ts";
import type { PubSubTarget } from "./upstream-link.ts";

export interface PubSubDoorDependencies {
  readonly clock: Clock;
  readonly keys: DoorKeys;
  readonly limits: DoorLimits;
  readonly credits: DoorCredits;
  readonly events: DoorEvents;
  readonly requestId: () => string;
  readonly served: (fact: RequestFact) => void;
  /** The node that a new client is passed to; null when the network has none. */
  readonly target: (network: Network) => PubSubTarget | null;
}

/** What a session works with. */
export interface PubSubServices extends PubSubDoorDependencies {
  readonly connections: ConnectionCounts;
}
