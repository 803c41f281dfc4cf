import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { JsonObject, JsonValue } from "@sluice/encode";
import { parseJsonExact, stringifyJsonExact } from "@sluice/wire/json";
import { account, block } from "./results.ts";
import {
  address,
  anything,
  either,
  list,
  literal,
  nullable,
  object,
  type Shape,
  signature,
  text,
  u64,
} from "./shape.ts";
import { makeWorld, type World } from "./world.ts";

const atSlot = (value: Shape): Shape => object({ context: object({ slot: u64 }), value });

const statistics = object({
  numTransactionEntries: u64,
  numSuccessfulTransactions: u64,
  numFailedTransactions: u64,
  maxTransactionsPerEntry: u64,
});
const update = either(
  ...["firstShredReceived", "completed", "optimisticConfirmation", "root"].map((type) =>
    object({ type: literal(type), slot: u64, timestamp: u64 }),
  ),
  object({ type: literal("createdBank"), slot: u64, parent: u64, timestamp: u64 }),
  object({ type: literal("frozen"), slot: u64, timestamp: u64, stats: statistics }),
  object({ type: literal("dead"), slot: u64, timestamp: u64, err: text }),
);

interface Kind {
  readonly params: (world: World) => readonly JsonValue[];
  readonly notification: Shape;
  /** Parameters that are refused, with the message. */
  readonly refusals: readonly (readonly [readonly JsonValue[], string])[];
  readonly optional: number;
}

const invalidKey = "Invalid Request: Invalid pubkey provided";

/** Every subscription of a node without its experimental flags beside blockSubscribe. */
const kinds: Readonly<Record<string, Kind>> = {
  account: {
    params: ({ node }) => [node.chain.genesis.faucet.address, { encoding: "base64", commitment: "processed" }],
    notification: atSlot(account),
    refusals: [
      [["0OIl"], invalidKey],
      [["1111"], invalidKey],
      [[5n], "Invalid params: invalid type: integer `5`, expected a string."],
    ],
    optional: 1,
  },
  program: {
    params: () => ["11111111111111111111111111111111", { encoding: "base64", commitment: "processed" }],
    notification: atSlot(object({ pubkey: address, account })),
    refusals: [
      [["nope"], invalidKey],
      [
        ["11111111111111111111111111111111", { filters: new Array<JsonValue>(5).fill({ dataSize: 1n }) }],
        "Too many filters provided; max 4",
      ],
    ],
    optional: 1,
  },
  logs: {
    params: () => ["all", { commitment: "processed" }],
    notification: atSlot(object({ signature, err: anything, logs: list(text) })),
    refusals: [
      [[{ mentions: [] }], "Invalid Request: Only 1 address supported"],
      [
        [{ mentions: ["11111111111111111111111111111111", "Vote111111111111111111111111111111111111111"] }],
        "Invalid Request: Only 1 address supported",
      ],
      [[{ mentions: ["x"] }], "Invalid Request: Invalid mentions provided"],
    ],
    optional: 1,
  },
  signature: {
    params: ({ names }) => [names.signature, { commitment: "processed" }],
    notification: atSlot(either(object({ err: anything }), literal("receivedSignature"))),
    refusals: [
      [["11111111"], "Invalid Request: Invalid signature provided"],
      [["0"], "Invalid Request: Invalid signature provided"],
    ],
    optional: 1,
  },
  block: {
    params: () => [
      "all",
      { commitment: "confirmed", encoding: "json", maxSupportedTransactionVersion: 0n, showRewards: true },
    ],
    notification: atSlot(object({ slot: u64, block: nullable(block), err: anything })),
    refusals: [
      [["all", { commitment: "processed" }], "Method does not support commitment below `confirmed`"],
      [[{ mentionsAccountOrProgram: "x" }], "Invalid Request: Invalid mentions_account_or_program provided"],
    ],
    optional: 1,
  },
  slot: { params: () => [], notification: object({ slot: u64, parent: u64, root: u64 }), refusals: [], optional: 0 },
  root: { params: () => [], notification: u64, refusals: [], optional: 0 },
  slotsUpdates: { params: () => [], notification: update, refusals: [], optional: 0 },
};

/** A client by hand that keeps every message, integers exact. */
class Socket implements Disposable {
  readonly messages: JsonObject[] = [];
  readonly #socket: WebSocket;
  #nextId = 1;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      const parsed = parseJsonExact(String(data));
      if (parsed.ok) this.messages.push(parsed.value as JsonObject);
    });
  }

  static async open(url: string): Promise<Socket> {
    const socket = new WebSocket(url);
    await new Promise((resolve) => socket.addEventListener("open", resolve, { once: true }));
    return new Socket(socket);
  }

  async ask(method: string, params: readonly JsonValue[]): Promise<JsonObject> {
    const id = this.#nextId;
    this.#nextId += 1;
    this.#socket.send(stringifyJsonExact({ jsonrpc: "2.0", id, method, params }));
    for (;;) {
      const answer = this.messages.find((message) => message["id"] === id);
      if (answer !== undefined) return answer;
      await new Promise((resolve) => this.#socket.addEventListener("message", resolve, { once: true }));
    }
  }

  async notices(id: JsonValue | undefined): Promise<JsonObject[]> {
    await this.ask("getVersion", []);
    return this.messages.filter((message) => (message["params"] as JsonObject | undefined)?.["subscription"] === id);
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}

let world: World;
beforeAll(async () => {
  world = await makeWorld();
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

describe.each(Object.entries(kinds))("%sSubscribe", (kind, { params, notification, refusals, optional }) => {
  test("gives a number, notices of its shape under its name, and nothing more once it is left", async () => {
    using socket = await Socket.open(world.node.wsUrl);
    const { result: id } = await socket.ask(`${kind}Subscribe`, params(world));
    expect(Number.isInteger(Number(id))).toBe(true);
    await world.call("requestAirdrop", [world.names.missing, 5n]);
    await world.faulty.closeSlots(3);
    const notices = await socket.notices(id);
    expect(notices.length).toBeGreaterThan(0);
    for (const message of notices) {
      expect(Object.keys(message).sort()).toEqual(["jsonrpc", "method", "params"]);
      expect(message["method"]).toBe(`${kind}Notification`);
      expect(notification((message["params"] as JsonObject)["result"], kind)).toBeNull();
    }
    const gone = await socket.ask(`${kind}Unsubscribe`, [id ?? null]);
    // A signature's subscription ends by itself with what it waited for.
    if (kind === "signature") expect(gone["error"]).toMatchObject({ message: "Invalid subscription id." });
    else expect(gone["result"]).toBe(true);
    const before = (await socket.notices(id)).length;
    await world.faulty.closeSlots(2);
    expect((await socket.notices(id)).length).toBe(before);
    const again = await socket.ask(`${kind}Unsubscribe`, [id ?? null]);
    expect(again["error"]).toEqual({ code: -32602, message: "Invalid subscription id." });
  });

  test("counts its parameters", async () => {
    using socket = await Socket.open(world.node.wsUrl);
    const full = [...params(world), ...new Array<JsonValue>(3).fill(null)];
    expect(await socket.ask(`${kind}Subscribe`, full)).toMatchObject({ error: { code: -32602 } });
    if (optional > 0) expect(await socket.ask(`${kind}Subscribe`, [])).toMatchObject({ error: { code: -32602 } });
    expect(await socket.ask(`${kind}Unsubscribe`, [])).toMatchObject({ error: { code: -32602 } });
    expect(await socket.ask(`${kind}Unsubscribe`, ["1"])).toMatchObject({ error: { code: -32602 } });
  });

  for (const [wrong, message] of refusals) {
    test(`refuses ${JSON.stringify(wrong, (_name, value: unknown) => (typeof value === "bigint" ? `${value}` : value)).slice(0, 60)}`, async () => {
      using socket = await Socket.open(world.node.wsUrl);
      expect((await socket.ask(`${kind}Subscribe`, wrong))["error"]).toEqual({ code: -32602, message });
    });
  }
});

test("a method of HTTP, and an unknown subscription are not found over a socket", async () => {
  using socket = await Socket.open(world.node.wsUrl);
  for (const method of ["getSlot", "nothingSubscribe", "accountNotification", "constructorSubscribe", "ping"]) {
    expect((await socket.ask(method, []))["error"]).toEqual({ code: -32601, message: "Method not found" });
  }
});
