import type { Clock } from "@sluice/lib";
import type { Access } from "../access/index.ts";
import type { Rpc } from "../rpc/index.ts";
import type { AnswerHeaders } from "./answer-headers.ts";
import type { GatewayEvents } from "./events.ts";
import type { RequestFact } from "./interfaces.ts";

/** What the stages of the pipeline work with; made once. */
export interface Stages {
  readonly clock: Clock;
  readonly access: Access;
  readonly rpc: Rpc;
  readonly headers: AnswerHeaders;
  readonly events: GatewayEvents;
  /** Told of every answered call; must not block or throw. */
  readonly served: (fact: RequestFact) => void;
}
