import { expect, setDefaultTimeout, test } from "bun:test";
import { StoreCalls } from "./store-calls.ts";
import { DeliveryStand, replaced } from "./testing/stand.ts";
import { WebhookHealth } from "./webhook-health.ts";

// A busy machine takes some seconds for a database of a test's own.
setDefaultTimeout(60_000);

test("a success counts that comes while a failure before it is being written", async () => {
  await using stand = await DeliveryStand.open();
  const webhook = await stand.opened.createWebhook();
  const dependencies = stand.dependencies();
  const written = Promise.withResolvers<void>();
  const store = replaced(stand.store, {
    failing: async (id, at) => {
      await written.promise;
      return await stand.store.failing(id, at);
    },
  });
  const calls = new StoreCalls(dependencies);
  const health = new WebhookHealth(webhook, { ...dependencies, store, calls, disabled: () => undefined });
  const at = stand.clock.now();
  health.failed(at);
  health.succeeded(at + 1);
  written.resolve();
  await health.settled();
  const found = await stand.opened.state.webhooks.get(webhook.accountId, webhook.id);
  expect(found).toMatchObject({ failingSince: null, lastSuccessAt: at + 1 });
});
