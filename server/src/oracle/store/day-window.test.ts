import { describe, expect, test } from "bun:test";
import { decimal } from "../model/decimal.ts";
import { priced } from "../testing/rounds.ts";
import { DayWindow } from "./day-window.ts";

const minute = 60_000;
const hour = 60 * minute;

describe("the day window", () => {
  test("fills in what the sources do not report: high, low, and the change once a day ago is known", () => {
    const day = new DayWindow();
    const bare = { change24h: null, high24h: null, low24h: null };
    const take = (atMs: number, price: string) => {
      const round = priced({ atMs, price, ...bare });
      day.add(round);
      return day.complete(round);
    };
    expect(take(0, "100")).toMatchObject({ change24h: null, high24h: decimal("100"), low24h: decimal("100") });
    take(hour, "300");
    take(2 * hour, "50");
    expect(take(23 * hour, "200")).toMatchObject({ change24h: null, high24h: decimal("300"), low24h: decimal("50") });
    expect(take(24 * hour, "110")).toMatchObject({ change24h: decimal("10") });
    expect(take(26 * hour, "110")).toMatchObject({ high24h: decimal("200"), low24h: decimal("50") });
    expect(take(40 * hour, "110").change24h).toBeNull();
  });

  test("leaves what the sources report as it is", () => {
    const round = priced({
      atMs: 0,
      price: "1",
      change24h: decimal("-3"),
      high24h: decimal("9"),
      low24h: decimal("0.5"),
    });
    expect(new DayWindow().complete(round)).toBe(round);
  });

  test("holds a day of minutes and no more, however long it runs", () => {
    const day = new DayWindow();
    for (let at = 0; at < 3 * 24 * hour; at += minute) day.add(priced({ atMs: at, price: "1" }));
    expect(day.size("BTC")).toBe(1_446);
  });
});
