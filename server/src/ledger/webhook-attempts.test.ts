import { expect, test } from "bun:test";
import { WebhookAttempts } from "./webhook-attempts.ts";

test("a page of ended deliveries is chosen and read without what is long of them", async () => {
  const asked: string[] = [];
  const attempts = new WebhookAttempts({
    query: async (statement) => {
      asked.push(statement);
      return [];
    },
  });
  await attempts.finished({ webhookId: "wh_1", outcome: "exhausted", after: null, limit: 1_000 });
  await attempts.attempts("delivery_1");
  const long = /\*|answer|request_headers|detail/;
  expect(asked.map((statement) => long.test(statement))).toEqual([false, true]);
});
