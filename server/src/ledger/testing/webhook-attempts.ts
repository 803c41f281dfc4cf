import { describe, expect, test } from "bun:test";
import type { Ledger } from "../ledger.ts";
import { finishedMax } from "../webhook-attempts.ts";

const at = Date.UTC(2026, 10, 20);

const attempt = (deliveryId: string, number: number, more: object = {}) => ({
  at: at + number,
  account_id: "acct_1",
  webhook_id: "wh_1",
  delivery_id: deliveryId,
  event_id: `event of ${deliveryId}`,
  event: "transaction.confirmed",
  network: "devnet",
  created_at: at,
  attempt: number,
  outcome: "failed",
  status_code: 500,
  error: "HTTP_500",
  latency_ms: 12.5,
  request_headers: '{"X-Service-Event":"transaction.confirmed"}',
  answer: "no ☃ '\\\n",
  slot: 2n ** 63n + 1n,
  blockhash: "hash",
  ordinal: 3,
  tx_index: null,
  account: "",
  detail: "",
  ...more,
});

/** What the ledger promises of attempts of webhooks. */
export function webhookAttempts(ledger: () => Ledger): void {
  describe("attempts of webhooks", () => {
    test("are told of a delivery in their order, each once", async () => {
      const delivered = { outcome: "delivered", status_code: 204, error: "", tx_index: 9, account: "a", detail: "{}" };
      const rows = [
        attempt("delivery_1", 1),
        attempt("delivery_1", 2, { status_code: null }),
        attempt("delivery_1", 3, delivered),
      ];
      for (const written of [rows, rows.slice(1), [attempt("delivery_2", 1)]]) {
        await ledger().insert("webhook_attempts", written);
      }
      const found = await ledger().webhookAttempts.attempts("delivery_1");
      expect(found.map((each) => [each.attempt, each.outcome, each.statusCode])).toEqual([
        [1, "failed", 500],
        [2, "failed", null],
        [3, "delivered", 204],
      ]);
      expect(found[0]).toEqual({
        at: at + 1,
        accountId: "acct_1",
        webhookId: "wh_1",
        deliveryId: "delivery_1",
        eventId: "event of delivery_1",
        event: "transaction.confirmed",
        network: "devnet",
        createdAt: at,
        attempt: 1,
        outcome: "failed",
        statusCode: 500,
        error: "HTTP_500",
        latencyMs: 12.5,
        requestHeaders: '{"X-Service-Event":"transaction.confirmed"}',
        answer: "no ☃ '\\\n",
        slot: 2n ** 63n + 1n,
        blockhash: "hash",
        ordinal: 3,
        txIndex: null,
        account: null,
        detail: null,
      });
      expect(found[2]).toMatchObject({ txIndex: 9, account: "a", detail: "{}" });
      expect(await ledger().webhookAttempts.attempts("' OR 1=1 --")).toEqual([]);
    });

    test("are the last ones of a delivery that was asked for very often", async () => {
      const rows = Array.from({ length: 103 }, (_, index) => attempt("delivery_9", index + 1));
      await ledger().insert("webhook_attempts", rows);
      const found = (await ledger().webhookAttempts.attempts("delivery_9")).map((each) => each.attempt);
      expect(found).toEqual(rows.slice(3).map((each) => each.attempt));
    });

    test("that ended deliveries are listed in pages that are full while there are more", async () => {
      const rows = Array.from({ length: finishedMax + 2 }, (_, index) =>
        attempt(`delivery_${index}`, index, { webhook_id: "wh_3", outcome: "delivered" }),
      );
      await ledger().insert("webhook_attempts", rows);
      const page = { webhookId: "wh_3", outcome: null, after: null } as const;
      const found = await ledger().webhookAttempts.finished({ ...page, limit: finishedMax });
      expect(found.map((each) => each.attempt)).toEqual(
        rows
          .slice(2)
          .map((each) => each.attempt)
          .toReversed(),
      );
      const cut = ledger().webhookAttempts.finished({ ...page, limit: finishedMax + 1 });
      await expect(cut).rejects.toThrow(RangeError);
    });

    test("that ended deliveries are listed newest first, in pages, each delivery by its last end", async () => {
      const ended = (id: string, number: number, outcome: string) =>
        attempt(id, number, { webhook_id: "wh_2", outcome, at: at + 1_000 + number });
      const rows = [
        ended("delivery_a", 1, "delivered"),
        ended("delivery_b", 1, "delivered"),
        ended("delivery_c", 2, "exhausted"),
        ended("delivery_c", 3, "delivered"),
        ended("delivery_d", 4, "exhausted"),
        ended("delivery_f", 1, "exhausted"),
        // Made anew and delivered since.
        { ...ended("delivery_f", 2, "delivered"), at: at + 1_005 },
        attempt("delivery_e", 5, { webhook_id: "wh_2" }),
      ];
      await ledger().insert("webhook_attempts", rows);
      const read = async (more: object = {}) => {
        const page = { webhookId: "wh_2", outcome: null, after: null, limit: 10, ...more };
        return (await ledger().webhookAttempts.finished(page)).map((each) => `${each.deliveryId} ${each.outcome}`);
      };
      const all = [
        "delivery_f delivered",
        "delivery_d exhausted",
        "delivery_c delivered",
        "delivery_b delivered",
        "delivery_a delivered",
      ];
      expect(await read()).toEqual(all);
      expect(await read({ limit: 3 })).toEqual(all.slice(0, 3));
      expect(await read({ after: { atMs: at + 1_001, deliveryId: "delivery_b" } })).toEqual(all.slice(4));
      // A page does not begin again with an end that was not the last one.
      expect(await read({ after: { atMs: at + 1_004, deliveryId: "delivery_d" } })).toEqual(all.slice(2));
      expect(await read({ outcome: "exhausted" })).toEqual(["delivery_d exhausted"]);
      expect(await read({ outcome: "delivered", limit: 1 })).toEqual(["delivery_f delivered"]);
      expect(await read({ webhookId: "' OR 1=1 --" })).toEqual([]);
    });
  });
}
