import { MalformedBytes } from "@sluice/wire/bytes";
import type { PastEvent } from "../../history/index.ts";
import type { ChainIdentity, ChainLog, LogEvent, Stage } from "../../log/index.ts";
import type { StreamsEvents } from "../events.ts";
import type { FlowBlocks } from "./flow-block.ts";
import type { FlowReceiver } from "./flow-receiver.ts";

/** What is needed to tell events of a log to receivers. */
export interface Telling {
  readonly stage: Stage;
  readonly log: Pick<ChainLog, "network">;
  readonly chain: ChainIdentity;
  readonly blocks: FlowBlocks;
  readonly events: Pick<StreamsEvents, "blockUnreadable">;
}

/** Tells one receiver; gives the last item of a block that it took, and null for all of the event. */
export type Tell = (receiver: FlowReceiver) => number | null;

/** What receivers are told of. */
export type ToldEvent = Exclude<LogEvent, { type: "expired" }> | PastEvent;

/** Null for an event that receivers are not told. A block whose body cannot be read is told as a gap. */
export function tellingOf(event: ToldEvent, telling: Telling): Tell | null {
  const { stage, blocks, chain } = telling;
  const { cursor } = event;
  if (event.type === "lagging") return null;
  if (event.type === "undo") {
    const { undo, back } = event;
    return (receiver) => {
      receiver.undo(undo, back, { stage, cursor, skip: 0 });
      return null;
    };
  }
  if (event.type === "gap") return tellGap(event, { stage, cursor, skip: 0 });
  const at = { stage, cursor, skip: event.skip };
  if (event.type === "past") {
    const block = blocks.ofDecoded({ ...event.header, chain }, event.block);
    return (receiver) => receiver.block(block, at);
  }
  const { header, body } = event;
  try {
    const block = blocks.of(header, body);
    return (receiver) => receiver.block(block, at);
  } catch (error) {
    if (!(error instanceof MalformedBytes)) throw error;
    telling.events.blockUnreadable(telling.log.network, header.slot);
    return tellGap({ from: header.slot, to: header.slot, reason: "unreadable" }, at);
  }
}

function tellGap(
  { from, to, reason }: Parameters<FlowReceiver["gap"]>[0],
  at: Parameters<FlowReceiver["gap"]>[1],
): Tell {
  return (receiver) => {
    receiver.gap({ from, to, reason }, at);
    return null;
  };
}
