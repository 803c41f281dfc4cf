import type { Network } from "@sluice/contract/tiers";
import type { Clock, Random } from "@sluice/lib";
import type { Access } from "../../access/index.ts";
import type { BlockEvents } from "../../events/index.ts";
import type { RequestFact } from "../../ledger/index.ts";
import type { ConnectionAdmission } from "../delivery/admission.ts";
import type { ConnectionPlaces } from "../delivery/connection-places.ts";
import type { MessagePacer } from "../delivery/message-pacer.ts";
import type { StreamsEvents } from "../events.ts";
import type { FlowBlock } from "../flow/flow-block.ts";
import type { NetworkFlow } from "../flow/flows.ts";
import type { StageStream } from "./stage-stream.ts";
import type { ToldStage } from "./stream-events.ts";
import type { Subscription, SubscriptionHost } from "./subscription.ts";

/** A subscription to slots as nodes begin them. */
export interface ProcessedFollowing {
  readonly id: string;
  readonly cursor: null;
  end(): void;
}

/** A connection as the endpoint looks after it. */
export interface CheckedStream {
  /** Subscriptions that are not at the head yet. */
  readonly replays: ReadonlySet<Subscription>;
  recheck(): Promise<void>;
  checkReplays(): void;
}

/** What a session asks of the endpoint that it belongs to. */
export interface SessionServices {
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly random: Random;
  readonly access: Pick<Access, "meter" | "charge">;
  readonly admission: Pick<ConnectionAdmission, "recheck">;
  readonly places: ConnectionPlaces;
  readonly pacer: Pick<MessagePacer, "offer" | "leave">;
  readonly events: StreamsEvents;
  readonly served: (fact: RequestFact) => void;
  readonly reportEveryMs: number;
  /** What a block says; null where it cannot be told. */
  readonly read: (block: FlowBlock) => BlockEvents | null;
  /** Another number for each event of a chain that is told. */
  readonly moment: () => number;
  /** Null while the network's log is not open here. */
  readonly stage: (network: Network, commitment: ToldStage) => { flow: NetworkFlow; stage: StageStream } | null;
  readonly followProcessed: (
    network: Network,
    id: string,
    groups: Pick<SubscriptionHost, "joined" | "left">,
  ) => ProcessedFollowing;
  /** The connection is gone. */
  readonly left: (session: CheckedStream) => void;
}
