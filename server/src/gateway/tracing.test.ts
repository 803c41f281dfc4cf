import { expect, test } from "bun:test";
import type { Tracing } from "../observe/index.ts";
import { StubNode } from "../upstreams/testing/stub-node.ts";
import { bootGateway } from "./testing/booted-gateway.ts";

interface Seen {
  readonly name: string;
  readonly attributes: Record<string, unknown>;
}

/** Keeps every span with its attributes and notes, as an SDK's exporter would see them. */
function recorder(): { tracing: Pick<Tracing, "span">; spans: Seen[] } {
  const spans: Seen[] = [];
  const tracing: Pick<Tracing, "span"> = {
    span: (name, attributes, work) => {
      const seen: Seen = { name, attributes: { ...attributes } };
      spans.push(seen);
      return work({
        note: (key, value) => {
          seen.attributes[key] = value;
        },
      });
    },
  };
  return { tracing, spans };
}

test("with an SDK a request and its call to a node are spans, without keys or addresses of nodes", async () => {
  using node = new StubNode((call) => `{"jsonrpc":"2.0","result":7,"id":${call.id}}`);
  const { tracing, spans } = recorder();
  await using booted = await bootGateway({ upstreams: { devnet: node }, tracing });
  const answer = await booted.post('{"jsonrpc":"2.0","id":1,"method":"getBlockHeight"}');
  expect(answer.status).toBe(200);
  const request = spans.find((span) => span.name === "rpc request");
  expect(request?.attributes).toMatchObject({
    "http.response.status_code": 200,
    "sluice.request_id": answer.headers.get("x-request-id"),
    "sluice.cache": "MISS",
  });
  const call = spans.find((span) => span.name === "upstream call");
  expect(call?.attributes).toMatchObject({ "rpc.method": "getBlockHeight", "sluice.upstream": "devnet-1" });
  expect(JSON.stringify(spans)).not.toContain("127.0.0.1");
});
