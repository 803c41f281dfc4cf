import { expect, test } from "bun:test";
import { StubNode } from "../upstreams/testing/stub-node.ts";
import { run } from "./fidelity.campaign.ts";
import { bootGateway } from "./testing/booted-gateway.ts";

test("random answers and ids arrive byte for byte", async () => {
  expect(await run({ n: 1_500, seed: 7 })).toEqual({ passed: true, summary: "1500 answers arrived byte for byte" });
});

const account =
  '{ "id" :\t0 , "jsonrpc":"2.0","result":{"context":{"apiVersion":"","slot":9007199254740993},"value":{"data":["","base64"],"lamports":9007199254740993,"rentEpoch":18446744073709551615}} }\r\n';

test("rentEpoch 18446744073709551615 and lamports 9007199254740993 survive, on a miss and on a hit", async () => {
  using node = new StubNode((call) => account.replace("\t0", `\t${call.id}`));
  await using booted = await bootGateway({ upstreams: { devnet: node } });
  const body =
    '{"jsonrpc":"2.0","id":18446744073709551615,"method":"getAccountInfo","params":["9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g"]}';
  for (const expected of ["MISS", "HIT"]) {
    const response = await booted.post(body);
    expect(response.headers.get("x-cache-status")).toBe(expected);
    expect(await response.text()).toBe(account.replace("\t0", "\t18446744073709551615"));
  }
});

test("a slot beyond 2^53 reaches the node digit for digit", async () => {
  using node = new StubNode((call) => `{"jsonrpc":"2.0","result":null,"id":${call.id}}`);
  await using booted = await bootGateway({ upstreams: { devnet: node } });
  await booted.post('{"jsonrpc":"2.0","id":1,"method":"getBlock","params":[18446744073709551615]}');
  await booted.post(
    '{"jsonrpc":"2.0","id":1,"method":"getBlock","params":[9007199254740993,{"minContextSlot":9007199254740993}]}',
  );
  expect(node.calls[0]?.text).toContain('"params":[18446744073709551615]');
  expect(node.calls[1]?.text).toContain('[9007199254740993,{"minContextSlot":9007199254740993}]');
});

test("a node's error passes with its code, message and data as they are", async () => {
  const error =
    '{"code":-32002,"message":"Transaction simulation failed: Blockhash not found","data":{"accounts":null,"err":"BlockhashNotFound","logs":[],"unitsConsumed":18446744073709551615}}';
  using node = new StubNode((call) => `{"jsonrpc":"2.0","error":${error},"id":${call.id}}\n`);
  await using booted = await bootGateway({ upstreams: { devnet: node } });
  const response = await booted.post('{"jsonrpc":"2.0","id":"s","method":"sendTransaction","params":["2"]}');
  expect([response.status, await response.text()]).toEqual([200, `{"jsonrpc":"2.0","error":${error},"id":"s"}\n`]);
});
