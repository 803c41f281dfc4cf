import { type Network, type SentTransactionBody, SluiceError, schemas } from "@sluice/contract";
import type { Hono } from "hono";
import { parseInput, type RestEnvironment } from "../http/index.ts";
import type { State } from "../state/index.ts";
import type { Admittance } from "./admittance.ts";
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
  readonly admittance: Admittance;
  /** What a key has sent, newest first. */
  readonly sentBy: (keyId: string, most: number) => readonly Sent[];
}

/** As many as are remembered of all keys together, so that a page can begin anywhere. */
const remembersMax = 20_000;

/** What became of the transactions that a key sent through this process. */
export function addSentRoute(app: Hono<RestEnvironment>, { state, admittance, sentBy }: SentDependencies): void {
  app.get("/api/v1/sent-transactions", async (context) => {
    const caller = await admittance.admit(context, "read");
    const query = parseInput(schemas.sentTransactionsQuery, context.req.query());
    const keyId = query.key_id ?? caller.keyId;
    if (keyId !== caller.keyId && !caller.isOperator) {
      const key = await state.keys.get(keyId);
      if (key?.accountId !== caller.accountId) {
        throw new SluiceError("NOT_FOUND", { message: "There is no such key" });
      }
    }
    const all = sentBy(keyId, query.cursor === undefined ? query.limit + 1 : remembersMax);
    // A transaction that is no longer remembered was older than all that are: nothing comes after it.
    const before = query.cursor === undefined ? 0 : all.findIndex(({ signature }) => signature === query.cursor) + 1;
    const rest = query.cursor !== undefined && before === 0 ? [] : all.slice(before);
    const items = rest.slice(0, query.limit);
    const next = rest.length > query.limit ? (items.at(-1)?.signature ?? null) : null;
    return context.json({ items: items.map(bodyOf), next_cursor: next }, 200, { "Cache-Control": "no-store" });
  });
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
