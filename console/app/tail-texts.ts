import type { StreamEvent } from "@sluice/sdk";
import { exact, plural } from "./figures.ts";

/** What an event is about, by its name on the chain. */
export function subjectOf(event: StreamEvent): string {
  switch (event.type) {
    case "transaction":
      return event.data.signature;
    case "block":
      return event.data.blockhash;
    case "account":
      return event.data.account;
    case "slot":
      return `slot ${event.data.slot}`;
    case "undo":
      return event.blockhash;
    case "gap":
      return `slots ${event.from} to ${event.to}`;
    case "lagged":
      return `from slot ${event.from_slot}`;
  }
}

/** What an event says, in a few words. */
export function saysOf(event: StreamEvent): string {
  switch (event.type) {
    case "transaction": {
      const { success, error, fee } = event.data;
      const outcome = success ? "succeeded" : `failed: ${error?.type ?? "unknown"}`;
      return fee === null ? outcome : `${outcome}, fee ${exact(fee)}`;
    }
    case "block":
      return plural(event.data.transaction_count, "transaction");
    case "account": {
      const { delta } = event.data.changes.lamports;
      return `${delta > 0n ? "+" : ""}${exact(delta)} lamports`;
    }
    case "slot":
      return event.data.status;
    case "undo":
      return "no longer on the chain";
    case "gap":
      return "cannot be had";
    case "lagged":
      return `${plural(event.dropped, "event")} not sent`;
  }
}

/** The event as JSON; whole numbers of 64 bits are text, which no reader rounds. */
export const eventText = (event: StreamEvent): string =>
  JSON.stringify(event, (_name, value: unknown) => (typeof value === "bigint" ? String(value) : value), 2);
