import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { priced } from "../testing/rounds.ts";
import { PriceStore } from "./price-store.ts";

test("a window that begins with a new round serves the one that stood before it, whether or not anybody asked", () => {
  const clock = new ManualClock(600_000);
  const store = new PriceStore({ clock });
  const say = (price: string) => store.accept(priced({ atMs: clock.now(), price }));
  const seen = (seconds: number) => {
    const served = store.served("BTC", seconds);
    return served.kind === "price" ? served.quotation.record.match(/"price":([^,]+)/)?.[1] : served.reason;
  };
  say("1");
  clock.advance(59_000);
  say("2");
  clock.advance(2_000);
  say("3");
  expect([seen(60), seen(15), seen(1)]).toEqual(["2", "2", "3"]);
});

test("a symbol that no source speaks of is starting for a minute, and then has too few sources", () => {
  const clock = new ManualClock(600_000);
  const store = new PriceStore({ clock });
  const last = { price: priced({ atMs: 1_000, price: "7" }).price, atMs: 1_000 };
  store.remember("BTC", last);
  const seen = () => store.served("BTC", 1);
  expect(seen()).toEqual({ kind: "none", symbol: "BTC", reason: "starting", last });
  clock.advance(59_999);
  expect(seen()).toMatchObject({ reason: "starting" });
  clock.advance(1);
  expect(seen()).toEqual({ kind: "none", symbol: "BTC", reason: "too-few-sources", last });
});
