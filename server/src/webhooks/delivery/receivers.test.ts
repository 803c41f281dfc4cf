import { expect, test } from "bun:test";
import { systemClock } from "@sluice/lib";
import { openReceivers } from "./receivers.ts";
import { answered, DeliveryStand } from "./testing/stand.ts";

const call = { fields: [["X-A", "b"]] as const, body: "{}", timeoutMs: 3_000 };

test("a receiver on this host is called where its address is allowed, and no other scheme or address is", async () => {
  let received = 0;
  using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => {
      received += 1;
      return new Response("a".repeat(20_000), { status: 201 });
    },
  });
  const url = `http://127.0.0.1:${server.port}/`;
  const closed = openReceivers({ allowHttp: false, allowedRanges: [] }, { clock: systemClock });
  expect([closed(url, 1), closed("https://user@hooks.example/", 1)]).toEqual([null, null]);
  using refused = openReceivers({ allowHttp: true, allowedRanges: ["10.0.0.0/8"] }, { clock: systemClock })(url, 1);
  expect([await refused?.post(call), received]).toEqual([{ kind: "refused" }, 0]);
  using open = openReceivers({ allowHttp: true, allowedRanges: ["127.0.0.1/32"] }, { clock: systemClock })(url, 1);
  const outcome = await open?.post(call);
  expect(outcome).toMatchObject({ kind: "answered", status: 201, isCut: true });
  expect([outcome?.kind === "answered" && outcome.bytes.length, received]).toEqual([16_384, 1]);
});

test("a URL that must not be called fails each attempt, and says why", async () => {
  await using stand = await DeliveryStand.open({ receive: () => answered(200) });
  const webhook = await stand.opened.createWebhook({
    url: "http://hooks.example/",
    retryPolicy: { maxAttempts: 1, backoffMultiplier: 1 },
  });
  await stand.opened.add(webhook.id, [{}]);
  const openEndpoint = openReceivers({ allowHttp: false, allowedRanges: [] }, { clock: stand.clock });
  await stand.worker({}, { openEndpoint });
  await stand.settle();
  expect(stand.facts).toMatchObject([{ outcome: "exhausted", statusCode: null, error: "URL_NOT_ALLOWED" }]);
});
