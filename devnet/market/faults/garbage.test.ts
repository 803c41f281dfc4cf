import { afterEach, describe, expect, test } from "bun:test";
import { OpenedMarkets } from "../testing/opened-markets.ts";
import { garbageForms } from "./fault.ts";
import { spoil } from "./garbage.ts";

const opened = new OpenedMarkets();
afterEach(() => opened.close());

describe("garbage", () => {
  test("each form is what it says, of an honest answer and an honest frame", async () => {
    const markets = opened.boot();
    const kraken = "/0/public/Ticker?pair=ETHUSD";
    const honest = await (await markets.get("kraken", kraken)).text();
    const expected: Record<(typeof garbageForms)[number], (text: string) => boolean> = {
      malformed: (text) => text.endsWith(",}{"),
      truncated: (text) => honest.startsWith(text) && text.length < honest.length,
      types: (text) => /"c":\[\{"value":/.test(text) && JSON.parse(text) !== null,
      nan: (text) => text.includes('"NaN"') && JSON.parse(text) !== null,
      negative: (text) => /"c":\["-\d/.test(text) && JSON.parse(text) !== null,
      huge: (text) => /"c":\["\d{300}/.test(text) && JSON.parse(text) !== null,
      zero: (text) => /"c":\["0","0"\]/.test(text) && JSON.parse(text) !== null,
      missing: (text) => Object.keys(JSON.parse(text).result.XETHZUSD ?? {}).length < 9,
      html: (text) => text.startsWith("<!DOCTYPE html>"),
      empty: (text) => text === "",
      null: (text) => text === "null",
    };
    for (const form of garbageForms) {
      const id = await markets.fault({ kind: "garbage", form, exchanges: ["kraken"] });
      const response = await markets.get("kraken", kraken);
      const text = await response.text();
      expect([form, expected[form](text)]).toEqual([form, true]);
      expect(response.headers.get("content-type")).toStartWith(form === "html" ? "text/html" : "application/json");
      await markets.admin("DELETE", `/faults/${id}`);
    }
    expect(await (await markets.get("kraken", kraken)).text()).toBe(honest);
  });

  test("it falls on data, on the share and the endpoint that were named, and the same ones for the same seed", async () => {
    const garbageOf = async (): Promise<boolean[]> => {
      const markets = opened.boot();
      const socket = await opened.connect(markets, "gate", "/ws/v4/");
      socket.send({ time: 1, channel: "spot.tickers", event: "subscribe", payload: ["BTC_USDT"] });
      await socket.next();
      await markets.fault({ kind: "garbage", form: "truncated", share: 0.5, door: "stream", exchanges: ["gate"] });
      expect(await markets.json("gate", "/api/v4/spot/tickers?currency_pair=BTC_USDT")).toHaveLength(1);
      const whole: boolean[] = [];
      for (let count = 0; count < 24; count += 1) {
        await markets.step(1_000);
        whole.push((await socket.text()).endsWith("}}"));
      }
      return whole;
    };
    const first = await garbageOf();
    expect(first).toContain(true);
    expect(first).toContain(false);
    expect(await garbageOf()).toEqual(first);
  });

  test("a bare number becomes bad as well as one in quotes, and names of members stay", () => {
    const text = '{"1":"2.5","last":83744.3,"ids":[7,"x"]}';
    expect(spoil(text, "negative", 1)).toBe('{"1":"-2.5","last":-83744.3,"ids":[-7,"x"]}');
    expect(JSON.parse(spoil(text, "types", 1))).toEqual({ 1: { value: 2.5 }, last: ["83744.3"], ids: [["7"], "x"] });
    expect(Object.keys(JSON.parse(spoil('{"a":1,"b":2,"c":3,"d":4}', "missing", 5)) as object).length).toBeLessThan(4);
  });
});
