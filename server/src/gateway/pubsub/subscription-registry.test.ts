import { describe, expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import { remembersMax, SubscriptionRegistry } from "./subscription-registry.ts";

const subscribe = (id: number | string, kind = "slot") =>
  JSON.stringify({ jsonrpc: "2.0", id, method: `${kind}Subscribe`, params: ["x"] });
const answer = (id: number | string, result: unknown) => JSON.stringify({ jsonrpc: "2.0", result, id });
const notice = (subscription: number, kind = "slot", result: unknown = 1) =>
  JSON.stringify({ jsonrpc: "2.0", method: `${kind}Notification`, params: { result, subscription } });

/** A book whose client holds one subscription that the node calls 7. */
function held(kind = "slot"): SubscriptionRegistry {
  const book = new SubscriptionRegistry();
  book.fromClient(subscribe(1, kind));
  book.fromNode(answer(1, 7));
  return book;
}

describe("before a move", () => {
  test("everything passes byte for byte, whatever it is", () => {
    const book = new SubscriptionRegistry();
    for (const text of [
      ' {"jsonrpc" : "2.0", "id":1,"method":"slotSubscribe"} ',
      "garbage",
      "[1,2]",
      '{"jsonrpc":"2.0","method":"ping"}',
      '{"id":18446744073709551615,"method":"x"}',
    ]) {
      expect(book.fromClient(text)).toBe(text);
      expect(book.fromNode(text)).toBe(text);
    }
    const odd = '{"jsonrpc":"2.0","result":7 ,"id":1}\n';
    expect(book.fromNode(odd)).toBe(odd);
  });
});

describe("after a move", () => {
  test("each subscription is made again under an id of ours, whose answer the client does not see", () => {
    const book = held();
    const [again = ""] = book.moved();
    const { id, method, params } = JSON.parse(again) as { id: string; method: string; params: unknown };
    expect({ method, params }).toEqual({ method: "slotSubscribe", params: ["x"] });
    expect(book.fromNode(answer(id, 31))).toBeNull();
    expect(book.hasLostOne).toBe(false);
  });

  test("notices keep the number that the client knows, and the rest of their bytes", () => {
    const book = held();
    const [again = ""] = book.moved();
    book.fromNode(answer((JSON.parse(again) as { id: string }).id, 31));
    const text =
      '{"jsonrpc":"2.0","method":"slotNotification","params":{"result":{"a":18446744073709551615},"subscription":31}}';
    expect(book.fromNode(text)).toBe(text.replace(":31}", ":7}"));
    expect(book.fromNode(notice(99))).toBeNull();
  });

  test("leaving a subscription names it as the new node does, and it is not made again", () => {
    const book = held();
    const [again = ""] = book.moved();
    book.fromNode(answer((JSON.parse(again) as { id: string }).id, 31));
    const leave = '{"jsonrpc":"2.0","id":5,"method":"slotUnsubscribe","params":[7]}';
    expect(JSON.parse(book.fromClient(leave))).toMatchObject({ id: 5, params: [31] });
    expect(book.fromNode(answer(5, true))).toBe(answer(5, true));
    expect(book.moved()).toEqual([]);
  });

  test("what the lost node had not answered is asked of the new one, as it was said", () => {
    const book = new SubscriptionRegistry();
    const text = ' {"jsonrpc":"2.0","id":"q","method":"accountSubscribe","params":["y"]}';
    book.fromClient(text);
    expect(book.moved()).toEqual([text]);
    expect(book.fromNode(answer("q", 4))).toBe(answer("q", 4));
  });

  test("a new subscription that the new node gives a number in use is told to the client under another", () => {
    const book = held();
    const [again = ""] = book.moved();
    book.fromNode(answer((JSON.parse(again) as { id: string }).id, 31));
    book.fromClient(subscribe(2));
    const told = JSON.parse(String(book.fromNode(answer(2, 7)))) as { result: number };
    expect(told.result).not.toBe(7);
    expect(book.fromNode(notice(7))).toBe(notice(told.result));
    expect(book.fromNode(notice(31))).toBe(notice(7));
  });

  test("a subscription that cannot be made again is known to be lost", () => {
    const book = held();
    const [again = ""] = book.moved();
    const { id } = JSON.parse(again) as { id: string };
    book.fromNode(JSON.stringify({ jsonrpc: "2.0", error: { code: -32601, message: "no" }, id }));
    expect(book.hasLostOne).toBe(true);
  });

  test("a signature that was told is not subscribed to again; one that was only received is", () => {
    const told = held("signature");
    told.fromNode(notice(7, "signature", { context: { slot: 1 }, value: { err: null } }));
    expect(told.moved()).toEqual([]);
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
    const book = new SubscriptionRegistry();
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
        book.fromClient(JSON.stringify({ jsonrpc: "2.0", id: nextId, method: "slotSubscribe", params: [name] }));
        const told = JSON.parse(String(book.fromNode(answer(nextId, give(name))))) as { result: number };
        expect(client.has(told.result)).toBe(false);
        client.set(told.result, name);
      } else if (what < 0.55) {
        node = new Map();
        nextNode = Math.floor(random.next() * 20);
        for (const said of book.moved()) {
          const { id, params } = JSON.parse(said) as { id: string; params: [string] };
          expect(book.fromNode(answer(id, give(params[0])))).toBeNull();
        }
      } else if (what < 0.7 && client.size > 0) {
        const [[clientId] = [0]] = client;
        nextId += 1;
        const text = JSON.stringify({ jsonrpc: "2.0", id: nextId, method: "slotUnsubscribe", params: [clientId] });
        const { params } = JSON.parse(book.fromClient(text)) as { params: [number] };
        expect(node.get(params[0])).toBe(client.get(clientId) ?? "");
        node.delete(params[0]);
        book.fromNode(answer(nextId, true));
        client.delete(clientId);
      } else {
        for (const [nodeId, name] of node) {
          const told = JSON.parse(String(book.fromNode(notice(nodeId)))) as { params: { subscription: number } };
          expect(client.get(told.params.subscription)).toBe(name);
        }
      }
    }
    expect(book.size).toBe(client.size);
  }
});
