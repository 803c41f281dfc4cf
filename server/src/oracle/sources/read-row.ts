import { absolute, add, type Decimal, decimal, divide, multiply, subtract, unit } from "../model/decimal.ts";
import { checked, isUnsaid, numberIn, priceIn, Refusal, timeIn, volumeIn, wholeIn } from "./checked-fields.ts";
import type { DayFigures, Field, Heartbeat, Observation, Reading, Row, TimeUnit } from "./row.ts";

/** Half a percent: a snapshot of two sides that were read one after the other. Ten percent is no market. */
const crossedMax = decimal("0.005");
const spreadMax = decimal("0.1");
/** The figures of 24 hours and the last trade are counted apart, so they may disagree a little. */
const dayTolerance = decimal("0.02");
const two = decimal("2");
const hundred = decimal("100");

/** Checks one row. Never throws; the first thing that is wrong with it is the reason. */
export function readRow(row: Row, receivedAtMs: number): Reading<Observation> {
  return checked(() => observe(row, receivedAtMs));
}

function observe(row: Row, receivedAtMs: number): Observation {
  const wants = (part: Row["part"]): boolean => row.part === "ticker" || row.part === part;
  const last = wants("last") ? priceIn(row.last) : null;
  const bid = wants("book") ? side(row.bid) : null;
  const ask = wants("book") ? side(row.ask) : null;
  if (bid !== null && ask !== null) checkBook(bid, ask, last);
  const day = readDay(row, last);
  return {
    part: row.part,
    last,
    ...uncrossed(bid, ask),
    day,
    timeMs: row.time === undefined ? null : readTime(row.time.value, row.time.unit, receivedAtMs),
    timeMeans: row.time?.means ?? "generated",
    sequence: row.sequence === undefined ? null : wholeIn(row.sequence),
    tradeId: row.tradeId === undefined ? null : wholeIn(row.tradeId),
    witness: JSON.stringify(row.witness),
  };
}

/** A book that is crossed by a hair was read while it moved: neither side can be relied upon. */
const uncrossed = (bid: Decimal | null, ask: Decimal | null) =>
  bid !== null && ask !== null && bid > ask ? { bid: null, ask: null } : { bid, ask };

/** A side without orders is written as "" or as zero: the market is halted or has no other side, and has no price. */
function side(field: Field): Decimal {
  if (field === "") throw new Refusal("empty-side");
  if (field !== undefined && numberIn(field) === 0n) throw new Refusal("empty-side");
  return priceIn(field);
}

function checkBook(bid: Decimal, ask: Decimal, last: Decimal | null): void {
  if (bid > ask && divide(subtract(bid, ask), ask) > crossedMax) throw new Refusal("crossed");
  if (ask > bid && divide(subtract(ask, bid), ask) > spreadMax) throw new Refusal("wide-spread");
  // A last trade outside the book is normal; one by a factor is another scale or another column.
  if (last !== null && (last > multiply(ask, two) || multiply(last, two) < bid)) throw new Refusal("far-from-book");
}

function readDay(row: Row, last: Decimal | null): DayFigures | null {
  const said = [row.open, row.high, row.low, row.baseVolume, row.quoteVolume, row.vwap];
  if (row.part === "day" && (isUnsaid(row.high) || isUnsaid(row.low))) throw new Refusal("missing-field");
  if (said.every(isUnsaid)) return null;
  const high = isUnsaid(row.high) ? null : priceIn(row.high);
  const low = isUnsaid(row.low) ? null : priceIn(row.low);
  const baseVolume = volumeIn(row.baseVolume);
  const vwap = isUnsaid(row.vwap) ? null : priceIn(row.vwap);
  const quoteVolume =
    volumeIn(row.quoteVolume) ?? (vwap === null || baseVolume === null ? null : multiply(vwap, baseVolume));
  if (high !== null && low !== null) checkDay(high, low, last, baseVolume, quoteVolume);
  return { open: readOpen(row, last), high, low, baseVolume, quoteVolume };
}

/** Every ratio of the two volumes is a mean price of the day, whatever an exchange calls its columns. */
function checkDay(high: Decimal, low: Decimal, last: Decimal | null, base: Decimal | null, quote: Decimal | null) {
  const floor = subtract(low, multiply(low, dayTolerance));
  const ceiling = add(high, multiply(high, dayTolerance));
  if (low > high || (last !== null && (last < floor || last > ceiling))) throw new Refusal("outside-day-range");
  if (base === null || quote === null || base === 0n || quote === 0n) return;
  // Compared as products: a quotient of tiny volumes would be cut to nothing.
  if (quote < multiply(base, floor) || quote > add(multiply(base, ceiling), 1n as Decimal))
    throw new Refusal("volume-columns");
}

function readOpen(row: Row, last: Decimal | null): Decimal | null {
  if (!isUnsaid(row.open)) return priceIn(row.open);
  if (last === null) return null;
  let open: Decimal | null = null;
  if (!isUnsaid(row.change)) open = subtract(last, numberIn(row.change));
  else if (!isUnsaid(row.changePercent)) {
    const factor = add(unit, divide(numberIn(row.changePercent), hundred));
    if (absolute(factor) === 0n) throw new Refusal("absurd");
    open = divide(last, factor);
  }
  if (open !== null && open <= 0n) throw new Refusal("absurd");
  return open;
}

/** A time held to the moment of receipt. */
const readTime = (field: Field, unitOfTime: TimeUnit, receivedAtMs: number): number =>
  Math.min(timeIn(field, unitOfTime, receivedAtMs), receivedAtMs);

/** A heartbeat's figures, checked like a row's. */
export function readHeartbeat(
  heartbeat: Heartbeat,
  receivedAtMs: number,
): Reading<{ readonly tradeId: bigint; readonly sequence: bigint; readonly timeMs: number }> {
  return checked(() => {
    const timeMs = readTime(heartbeat.time.value, heartbeat.time.unit, receivedAtMs);
    return { tradeId: wholeIn(heartbeat.tradeId), sequence: wholeIn(heartbeat.sequence), timeMs };
  });
}
