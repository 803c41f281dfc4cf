import { SluiceError } from "@sluice/contract/errors";
import type { SentTransactionBody } from "@sluice/contract/schemas";
import * as schemas from "@sluice/contract/schemas";
import type { Network } from "@sluice/contract/tiers";
import type { Hono } from "hono";
import { parseInput, type RestEnvironment } from "../http/index.ts";
import type { SentPlace } from "../rpc/index.ts";
import type { State } from "../state/index.ts";
import type { Admission } from "./admin-access.ts";
import { isoTime } from "./records.ts";

/** A transaction that went out through the gateway; rpc's has this shape. */
export interface Sent {
  readonly signature: string;
  readonly network: Network;
  readonly keyId: string;
  readonly sentAtMs: number;
  readonly state: SentTransactionBody["state"];
  readonly slot: bigint | null;
  readonly resends: number;
}

export interface SentDependencies {
  readonly state: { readonly keys: Pick<State["keys"], "get"> };
  readonly adminAccess: Admission;
  /** What a key has sent, newest first, after a place in that order. */
  readonly sentBy: (keyId: string, most: number, after: SentPlace | null) => Promise<readonly Sent[]>;
}

/** What became of the transactions that a key sent. */
export function addSentRoute(app: Hono<RestEnvironment>, { state, adminAccess, sentBy }: SentDependencies): void {
  app.get("/api/v1/sent-transactions", async (context) => {
    const caller = await adminAccess.admit(context, "read");
    const query = parseInput(schemas.sentTransactionsQuery, context.req.query());
    const keyId = query.key_id ?? caller.keyId;
    if (keyId === null) {
      throw new SluiceError("INVALID_INPUT", { details: { errors: [{ path: "key_id", message: "must name a key" }] } });
    }
    if (keyId !== caller.keyId && !caller.isOperator) {
      const key = await state.keys.get(keyId);
      if (key?.accountId !== caller.accountId) {
        throw new SluiceError("NOT_FOUND", { message: "There is no such key" });
      }
    }
    const found = await sentBy(keyId, query.limit + 1, query.cursor === undefined ? null : placeIn(query.cursor));
    const items = found.slice(0, query.limit);
    const last = items.at(-1);
    const next = found.length > query.limit && last !== undefined ? cursorAt(last) : null;
    return context.json({ items: items.map(bodyOf), next_cursor: next });
  });
}

function cursorAt({ sentAtMs, signature }: SentPlace): string {
  return Buffer.from(`${sentAtMs} ${signature}`).toString("base64url");
}

function placeIn(cursor: string): SentPlace {
  const found = /^(\d{1,15}) (\w{1,100})$/.exec(Buffer.from(cursor, "base64url").toString("latin1"));
  if (found === null) {
    const errors = [{ path: "cursor", message: "is not a cursor of this list" }];
    throw new SluiceError("INVALID_INPUT", { details: { errors } });
  }
  return { sentAtMs: Number(found[1]), signature: found[2] ?? "" };
}

function bodyOf(sent: Sent): SentTransactionBody {
  return {
    signature: sent.signature,
    network: sent.network,
    key_id: sent.keyId,
    sent_at: isoTime(sent.sentAtMs),
    state: sent.state,
    // Slots stay far below 2^53 within the life of a chain (contract: count).
    slot: sent.slot === null ? null : Number(sent.slot),
    resends: sent.resends,
  };
}
