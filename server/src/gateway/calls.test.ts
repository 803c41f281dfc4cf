import { describe, expect, test } from "bun:test";
import { StubNode } from "../upstreams/testing/stub-node.ts";
import { bootGateway, testGrant } from "./testing/booted-gateway.ts";
import { address, answerFive, type FailureBody, slotCall, withGateway } from "./testing/with-gateway.ts";

describe("calls", () => {
  const cases: readonly (readonly [string, string, number, number, unknown])[] = [
    ["malformed JSON", '{"jsonrpc":', 400, -32700, null],
    ["malformed params", '{"jsonrpc":"2.0","id":1,"method":"getSlot","params":[1 2]}', 400, -32700, 1],
    ["a missing id", '{"jsonrpc":"2.0","method":"getSlot"}', 400, -32600, null],
    ["a null id", '{"jsonrpc":"2.0","id":null,"method":"getSlot"}', 400, -32600, null],
    ["a wrong version", '{"jsonrpc":"1.0","id":4,"method":"getSlot"}', 400, -32600, 4],
    ["no object", '"getSlot"', 400, -32600, null],
    ["an unknown method", '{"jsonrpc":"2.0","id":4,"method":"getMoon"}', 200, -32601, 4],
    ["params that are no array", '{"jsonrpc":"2.0","id":4,"method":"getSlot","params":{}}', 200, -32602, 4],
    [
      "an unknown method with params by name",
      '{"jsonrpc":"2.0","id":4,"method":"getMoon","params":{}}',
      200,
      -32601,
      4,
    ],
    ["a wrong address", '{"jsonrpc":"2.0","id":"a","method":"getBalance","params":["0"]}', 200, -32602, "a"],
    [
      "processed where it is not supported",
      '{"jsonrpc":"2.0","id":1,"method":"getBlock","params":[5,{"commitment":"processed"}]}',
      200,
      -32602,
      1,
    ],
    [
      "a limit of 1001",
      `{"jsonrpc":"2.0","id":1,"method":"getSignaturesForAddress","params":["${address}",{"limit":1001}]}`,
      200,
      -32602,
      1,
    ],
  ];
  for (const [name, body, status, code, id] of cases) {
    test(`${name}: ${status} with ${code}, no node is asked and nothing is charged`, () =>
      withGateway(async (booted, node) => {
        const response = await booted.post(body);
        const failure = (await response.json()) as FailureBody;
        expect([response.status, failure.error.code, failure.id]).toEqual([status, code, id]);
        expect(node.calls.length).toBe(0);
        expect(booted.fakes.creditsLeft).toBe(1_000_000);
      }));
  }

  test("the message of -32602 names the parameter", () =>
    withGateway(async (booted) => {
      const response = await booted.post('{"jsonrpc":"2.0","id":1,"method":"getBalance","params":["0"]}');
      expect(((await response.json()) as FailureBody).error.message).toContain("address");
    }));

  test("an account without credits is reported as such before its parameters are evaluated", () =>
    withGateway(async (booted) => {
      booted.fakes.creditsLeft = 0;
      const response = await booted.post('{"jsonrpc":"2.0","id":1,"method":"getBalance","params":["0"]}');
      expect(response.status).toBe(402);
    }));

  test("credits that have to be fetched first are waited for", () =>
    withGateway(async (booted) => {
      booted.fakes.creditsAsync = true;
      expect((await booted.post(slotCall)).status).toBe(200);
      expect(booted.fakes.creditsLeft).toBe(999_999);
      booted.fakes.creditsLeft = 0;
      expect((await booted.post(slotCall)).status).toBe(402);
    }));

  test("a tier's price is taken once for a node's answer, its error and a hit", () =>
    withGateway(async (booted, node) => {
      node.answer = (call) =>
        `{"jsonrpc":"2.0","error":{"code":-32004,"message":"Block not available"},"id":${call.id}}`;
      const block = '{"jsonrpc":"2.0","id":1,"method":"getBlock","params":[5]}';
      const response = await booted.post(block);
      expect(response.status).toBe(200);
      expect(booted.fakes.creditsLeft).toBe(999_995);
      expect(booted.facts.at(-1)).toMatchObject({
        method: "getBlock",
        rpcCode: -32004,
        credits: 5,
        cache: "MISS",
        status: 200,
      });
      await booted.post(block);
      expect(node.calls.length).toBe(2);
    }));

  test("each grant's tier decides nothing here: the same key is evaluated by the grant it has at that moment", () =>
    withGateway(async (booted) => {
      booted.fakes.authenticate = () => ({ ...testGrant, accountId: "acc_2", keyId: "key_2" });
      await booted.post(slotCall);
      expect(booted.facts.at(-1)).toMatchObject({ accountId: "acc_2", keyId: "key_2" });
    }));
});

describe("defaults", () => {
  test("a stated default is sent, unless the client is one that leaves out finalized on purpose", () =>
    withGateway(async (booted, node) => {
      const info = `{"jsonrpc":"2.0","id":1,"method":"getAccountInfo","params":["${address}"]}`;
      await booted.post(info);
      await booted.post(info, { headers: { "solana-client": "js/8.4.0" } });
      await booted.post(info, { headers: { "solana-client": "js/1.99.0" } });
      expect(node.calls.map((call) => call.params[1])).toEqual([
        { commitment: "confirmed", encoding: "base64" },
        { encoding: "base64" },
      ]);
    }));
});

describe("nodes", () => {
  test("a refused connection is 503, silence 504, garbage 502, and none of them costs anything", async () => {
    using node = new StubNode(() => "not json");
    await using booted = await bootGateway({ upstreams: { devnet: node }, deadlineMs: 150 });
    const garbage = await booted.post(slotCall);
    expect([garbage.status, ((await garbage.json()) as FailureBody).error.code]).toEqual([502, -33502]);
    node.answer = async (call) => {
      await Bun.sleep(400);
      return answerFive(call);
    };
    const late = await booted.post(slotCall);
    expect([late.status, ((await late.json()) as FailureBody).error.code]).toEqual([504, -33504]);
    node[Symbol.dispose]();
    const gone = await booted.post(slotCall);
    expect([gone.status, ((await gone.json()) as FailureBody).error.code]).toEqual([503, -33503]);
    expect(gone.headers.get("retry-after")).toBe("1");
    expect(booted.fakes.creditsLeft).toBe(1_000_000);
  });

  test("getHealth is answered from the gateway's own view", async () => {
    using node = new StubNode(answerFive);
    await using booted = await bootGateway({ upstreams: { devnet: node } });
    const response = await booted.post('{"jsonrpc":"2.0","id":9,"method":"getHealth"}');
    expect(await response.text()).toBe('{"jsonrpc":"2.0","result":"ok","id":9}');
    expect(node.calls.length).toBe(0);
  });

  test("getHealth is -32005 when no node is known", async () => {
    await using booted = await bootGateway({
      upstreams: { devnet: { url: "http://127.0.0.1:1", ws: "ws://127.0.0.1:1" } },
    });
    const response = await booted.post('{"jsonrpc":"2.0","id":9,"method":"getHealth"}');
    expect(await response.text()).toBe(
      '{"jsonrpc":"2.0","error":{"code":-32005,"message":"Node is unhealthy","data":{"numSlotsBehind":null}},"id":9}',
    );
  });

  test("sendTransaction goes out once even when its connection is cut, a read once more", async () => {
    let received = 0;
    using cutter = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        data(socket, data) {
          if (!data.includes('"id":"sluice"') && !data.includes("Upgrade")) received += 1;
          socket.terminate();
        },
      },
    });
    const url = `http://127.0.0.1:${cutter.port}`;
    await using booted = await bootGateway({ upstreams: { devnet: { url, ws: url.replace("http", "ws") } } });
    const sent = await booted.post('{"jsonrpc":"2.0","id":1,"method":"sendTransaction","params":["2"]}');
    expect([sent.status, received]).toEqual([503, 1]);
    const read = await booted.post(slotCall);
    expect([read.status, received]).toEqual([503, 3]);
  });
});
