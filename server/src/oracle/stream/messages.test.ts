import { describe, expect, test } from "bun:test";
import { oracleBounds } from "@sluice/contract/oracle";
import { connect, enter, settled, streamBoots } from "./testing/stream-clients.ts";

const boot = streamBoots();

describe("what clients say", () => {
  test("a symbol in letters that are not ASCII is not taken for one, and is repeated in whole characters", async () => {
    const server = await boot();
    const { socket, say } = await enter(server, server.addKey({ oracle: "ultra" }));
    for (const symbol of ["un\u0131", `${"A".repeat(31)}\u{1f600}\ud83d`]) {
      say({ type: "subscribe", channel: "prices", symbols: [symbol] });
      expect(socket.got.at(-1)).toMatchObject({ type: "error", code: "INVALID_SYMBOL" });
      expect(socket.texts.at(-1)?.isWellFormed()).toBe(true);
      expect(socket.texts.at(-1)).not.toContain("\\ud83d");
    }
  });

  test("subscriptions are acknowledged in order, each symbol once, in any letter case, and taken back", async () => {
    const server = await boot();
    await server.say("BTC", "65000");
    const { socket, say } = await enter(server, server.addKey({ oracle: "ultra" }));
    say({ type: "subscribe", channel: "prices", symbols: ["btc", "ETH", "BTC"] });
    expect(socket.got[1]).toEqual({ type: "subscribed", channel: "prices", symbols: ["BTC", "ETH"] });
    expect(socket.prices()).toEqual([["BTC", 65_000]]);
    say({ type: "unsubscribe", channel: "prices", symbols: ["BTC"] });
    expect(socket.got.at(-1)).toEqual({ type: "unsubscribed", channel: "prices", symbols: ["BTC"] });
    server.clock.advance(1_000);
    await server.say("BTC", "65001");
    expect(socket.prices()).toHaveLength(1);
  });

  test("a price message is the whole price record, digit by digit", async () => {
    const server = await boot();
    await server.say("ETH", "3000.000000000000000001");
    const key = server.addKey({ oracle: "ultra" });
    const { socket, say } = await enter(server, key);
    say({ type: "subscribe", channel: "prices", symbols: ["ETH"] });
    const record = await server.get("/api/v1/price/ETH", key);
    expect(socket.texts.at(-1)).toBe(`{"type":"price_update",${record.text.slice(1)}`);
    expect(record.text).toContain('"price":3000.000000000000000001,');
  });

  test("what is no message, no channel or no symbol is answered with an error, and nothing is subscribed", async () => {
    const deepSubscription = `{"type":"subscribe","channel":"prices","symbols":[${"[".repeat(7_000)}${"]".repeat(7_000)}]}`;
    const server = await boot();
    const { socket, session, say } = await enter(server, server.addKey({ oracle: "ultra" }));
    const wrong: [unknown, string][] = [
      ["{", "INVALID_PARAMETER"],
      [[], "INVALID_PARAMETER"],
      [{ type: "hello" }, "INVALID_PARAMETER"],
      [{ type: "subscribe", symbols: ["BTC"] }, "INVALID_PARAMETER"],
      [{ type: "subscribe", channel: "prices" }, "INVALID_PARAMETER"],
      [{ type: "subscribe", channel: "prices", symbols: [] }, "INVALID_PARAMETER"],
      [{ type: "subscribe", channel: "prices", symbols: ["BTC", "DOGE"] }, "INVALID_SYMBOL"],
      [{ type: "subscribe", channel: "prices", symbols: ["BTC", { a: 1 }] }, "INVALID_PARAMETER"],
      // Neither can be turned into a text: one has no way to, the other nests too deep.
      [{ type: "subscribe", channel: "prices", symbols: [{ toString: 1 }] }, "INVALID_PARAMETER"],
      [deepSubscription, "INVALID_PARAMETER"],
      [{ type: "subscribe", channel: "prices", symbols: Array.from({ length: 51 }, () => "BTC") }, "TOO_MANY_SYMBOLS"],
      [{ type: "auth", api_key: 7 }, "INVALID_PARAMETER"],
      [{ type: "auth", api_key: "again" }, "INVALID_PARAMETER"],
    ];
    for (const [message, code] of wrong) {
      if (typeof message === "string") session.received(message);
      else say(message);
      await settled();
      expect([message, socket.got.at(-1)?.type, socket.got.at(-1)?.code]).toEqual([message, "error", code]);
    }
    await server.say("BTC", "65000");
    await settled();
    expect(socket.prices()).toEqual([]);
    expect(socket.closed).toBeNull();
  });

  test("too many messages in a second close with 4429, a message that is too large with 1009", async () => {
    const server = await boot();
    const chatty = await enter(server, server.addKey({ oracle: "ultra" }));
    for (let index = 0; index < oracleBounds.socketMessagesPerSecond; index += 1) chatty.say({ type: "x" });
    expect(chatty.socket.closed).toBe(4429);
    const large = connect(server);
    large.session.received("x".repeat(oracleBounds.socketMessageBytes + 1));
    expect(large.socket.closed).toBe(1009);
  });
});
