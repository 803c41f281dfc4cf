import { describe, expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import { remembersMax, SubscriptionRegistry } from "./subscription-registry.ts";

const subscribe = (id: number | string, kind = "slot") =>
  JSON.stringify({ jsonrpc: "2.0", id, method: `${kind}Subscribe`, params: ["x"] });
const answer = (id: number | string, result: unknown) => JSON.stringify({ jsonrpc: "2.0", result, id });
const notice = (subscription: number, kind = "slot", result: unknown = 1) =>
  JSON.stringify({ jsonrpc: "2.0", method: `${kind}Notification`, params: { result, subscription } });

/** A registry whose client holds one subscription that the node calls 7. */
function held(kind = "slot"): SubscriptionRegistry {
  const registry = new SubscriptionRegistry();
  registry.fromClient(subscribe(1, kind));
  registry.fromNode(answer(1, 7));
  return registry;
}

describe("before a move", () => {
  test("everything passes byte for byte, whatever it is", () => {
    const registry = new SubscriptionRegistry();
    for (const text of [
      ' {"jsonrpc" : "2.0", "id":1,"method":"slotSubscribe"} ',
      "garbage",
      "[1,2]",
      '{"jsonrpc":"2.0","method":"ping"}',
      '{"id":18446744073709551615,"method":"x"}',
    ]) {
      expect(registry.fromClient(text)).toBe(text);
      expect(registry.fromNode(text)).toBe(text);
    }
    const odd = '{"jsonrpc":"2.0","result":7 ,"id":1}\n';
    expect(registry.fromNode(odd)).toBe(odd);
  });
});

describe("after a move", () => {
  test("each subscription is made again under an id of the gateway, whose answer the client does not see", () => {
    const registry = held();
    const [again = ""] = registry.moved();
    const { id, method, params } = JSON.parse(again) as { id: string; method: string; params: unknown };
    expect({ method, params }).toEqual({ method: "slotSubscribe", params: ["x"] });
    expect(registry.fromNode(answer(id, 31))).toBeNull();
    expect(registry.hasLostOne).toBe(false);
  });

  test("notices keep the number that the client knows, and the rest of their bytes", () => {
    const registry = held();
    const [again = ""] = registry.moved();
    registry.fromNode(answer((JSON.parse(again) as { id: string }).id, 31));
    const text =
      '{"jsonrpc":"2.0","method":"slotNotification","params":{"result":{"a":18446744073709551615},"subscription":31}}';
    expect(registry.fromNode(text)).toBe(text.replace(":31}", ":7}"));
    expect(registry.fromNode(notice(99))).toBeNull();
  });

  test("leaving a subscription names it as the new node does, and it is not made again", () => {
    const registry = held();
    const [again = ""] = registry.moved();
    registry.fromNode(answer((JSON.parse(again) as { id: string }).id, 31));
    const leave = '{"jsonrpc":"2.0","id":5,"method":"slotUnsubscribe","params":[7]}';
    expect(JSON.parse(registry.fromClient(leave))).toMatchObject({ id: 5, params: [31] });
    expect(registry.fromNode(answer(5, true))).toBe(answer(5, true));
    expect(registry.moved()).toEqual([]);
  });

  test("what the lost node had not answered is asked of the new one, as it was said", () => {
    const registry = new SubscriptionRegistry();
    const text = ' {"jsonrpc":"2.0","id":"q","method":"accountSubscribe","params":["y"]}';
    registry.fromClient(text);
    expect(registry.moved()).toEqual([text]);
    expect(registry.fromNode(answer("q", 4))).toBe(answer("q", 4));
  });

  test("a new subscription that the new node gives a number in use is reported to the client under another", () => {
    const registry = held();
    const [again = ""] = registry.moved();
    registry.fromNode(answer((JSON.parse(again) as { id: string }).id, 31));
    registry.fromClient(subscribe(2));
    const reported = JSON.parse(String(registry.fromNode(answer(2, 7)))) as { result: number };
    expect(reported.result).not.toBe(7);
    expect(registry.fromNode(notice(7))).toBe(notice(reported.result));
    expect(registry.fromNode(notice(31))).toBe(notice(7));
  });

  test("a subscription that cannot be made again is known to be lost", () => {
    const registry = held();
    const [again = ""] = registry.moved();
    const { id } = JSON.parse(again) as { id: string };
    registry.fromNode(JSON.stringify({ jsonrpc: "2.0", error: { code: -32601, message: "no" }, id }));
    expect(registry.hasLostOne).toBe(true);
  });

  test("a number of the lost node is no subscription of the new one until it has given it", () => {
    const registry = held();
    registry.moved();
    expect(registry.fromNode(notice(7))).toBeNull();
  });

  test("a signature that was reported is not subscribed to again; one that was only received is", () => {
    const registry = held("signature");
    registry.fromNode(notice(7, "signature", { context: { slot: 1 }, value: { err: null } }));
    expect(registry.moved()).toEqual([]);
    const received = held("signature");
    received.fromNode(notice(7, "signature", { context: { slot: 1 }, value: "receivedSignature" }));
    expect(received.moved()).toHaveLength(1);
  });
});

test("a client that batches, or that holds more than is remembered, is not moved", () => {
  const batching = new SubscriptionRegistry();
  batching.fromClient(` [${subscribe(1)}]`);
  expect(batching.canMove).toBe(false);
  const busy = new SubscriptionRegistry();
  for (let id = 0; id <= remembersMax; id += 1) busy.fromClient(subscribe(id));
  expect(busy.canMove).toBe(false);
});

test("over random moves every notice reaches the client under the number of its own subscription", () => {
  const random = seededRandom(11);
  for (let run = 0; run < 200; run += 1) {
    const registry = new SubscriptionRegistry();
    let node = new Map<number, string>();
    const client = new Map<number, string>();
    let nextNode = Math.floor(random.next() * 20);
    let nextId = 0;
    const give = (name: string): number => {
      nextNode += 1;
      node.set(nextNode, name);
      return nextNode;
    };
    for (let step = 0; step < 40; step += 1) {
      const what = random.next();
      if (what < 0.4) {
        nextId += 1;
        const name = `s${nextId}`;
        registry.fromClient(JSON.stringify({ jsonrpc: "2.0", id: nextId, method: "slotSubscribe", params: [name] }));
        const reported = JSON.parse(String(registry.fromNode(answer(nextId, give(name))))) as { result: number };
        expect(client.has(reported.result)).toBe(false);
        client.set(reported.result, name);
      } else if (what < 0.55) {
        node = new Map();
        nextNode = Math.floor(random.next() * 20);
        for (const said of registry.moved()) {
          const { id, params } = JSON.parse(said) as { id: string; params: [string] };
          expect(registry.fromNode(answer(id, give(params[0])))).toBeNull();
        }
      } else if (what < 0.7 && client.size > 0) {
        const [[clientId] = [0]] = client;
        nextId += 1;
        const text = JSON.stringify({ jsonrpc: "2.0", id: nextId, method: "slotUnsubscribe", params: [clientId] });
        const { params } = JSON.parse(registry.fromClient(text)) as { params: [number] };
        expect(node.get(params[0])).toBe(client.get(clientId) ?? "");
        node.delete(params[0]);
        registry.fromNode(answer(nextId, true));
        client.delete(clientId);
      } else {
        for (const [nodeId, name] of node) {
          const reported = JSON.parse(String(registry.fromNode(notice(nodeId)))) as {
            params: { subscription: number };
          };
          expect(client.get(reported.params.subscription)).toBe(name);
        }
      }
    }
    expect(registry.size).toBe(client.size);
  }
});
