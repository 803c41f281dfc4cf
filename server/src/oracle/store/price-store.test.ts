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
