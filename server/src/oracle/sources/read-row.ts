import {
  absolute,
  add,
  type Decimal,
  decimal,
  divide,
  multiply,
  parseDecimal,
  subtract,
  unit,
} from "../model/decimal.ts";
import type { DayFigures, DropReason, Field, Heartbeat, Observation, Reading, Row, TimeUnit } from "./row.ts";

/** How far an exchange's clock may be ahead of the server's. */
const futureMsMax = 5_000;
/** Times before this are in another unit or mean nothing: the exchanges read here are younger. */
const earliestMs = 1_230_768_000_000;
const latestMs = 4_102_444_800_000;

const priceMax = decimal("1000000000000");
const volumeMax = decimal("1000000000000000000");
/** Half a percent: a snapshot of two sides that were read one after the other. Ten percent is no market. */
const crossedMax = decimal("0.005");
const spreadMax = decimal("0.1");
/** The figures of 24 hours and the last trade are counted apart, so they may disagree a little. */
const dayTolerance = decimal("0.02");
const two = decimal("2");
const hundred = decimal("100");

class Refusal {
  readonly reason: DropReason;
  constructor(reason: DropReason) {
    this.reason = reason;
  }
}

/** Checks one row. Never throws; the first thing that is wrong with it is the reason. */
export function readRow(row: Row, receivedAtMs: number): Reading<Observation> {
  try {
    return { ok: true, value: observe(row, receivedAtMs) };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, reason: error.reason };
    throw error;
  }
}

function observe(row: Row, receivedAtMs: number): Observation {
  const wants = (part: Row["part"]): boolean => row.part === "ticker" || row.part === part;
  const last = wants("last") ? price(row.last) : null;
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
    sequence: row.sequence === undefined ? null : wholeNumber(row.sequence),
    tradeId: row.tradeId === undefined ? null : wholeNumber(row.tradeId),
    witness: JSON.stringify(row.witness),
  };
}

/** A book that is crossed by a hair was read while it moved: neither side can be relied upon. */
const uncrossed = (bid: Decimal | null, ask: Decimal | null) =>
  bid !== null && ask !== null && bid > ask ? { bid: null, ask: null } : { bid, ask };

function number(field: Field): Decimal {
  if (field === undefined) throw new Refusal("missing-field");
  const value = typeof field === "string" ? parseDecimal(field) : null;
  if (value === null) throw new Refusal("not-a-number");
  return value;
}

function price(field: Field): Decimal {
  const value = number(field);
  if (value <= 0n) throw new Refusal("not-positive");
  if (value > priceMax) throw new Refusal("absurd");
  return value;
}

/** A side without orders is written as "" or as zero: the market is halted or has no other side, and has no price. */
function side(field: Field): Decimal {
  if (field === "") throw new Refusal("empty-side");
  if (field !== undefined && number(field) === 0n) throw new Refusal("empty-side");
  return price(field);
}

function checkBook(bid: Decimal, ask: Decimal, last: Decimal | null): void {
  if (bid > ask && divide(subtract(bid, ask), ask) > crossedMax) throw new Refusal("crossed");
  if (ask > bid && divide(subtract(ask, bid), ask) > spreadMax) throw new Refusal("wide-spread");
  // A last trade outside the book is normal; one by a factor is another scale or another column.
  if (last !== null && (last > multiply(ask, two) || multiply(last, two) < bid)) throw new Refusal("far-from-book");
}

/** Figures that an exchange leaves out are unknown: absent, null, empty, or "nan" as one writes it. */
const isUnsaid = (field: Field): boolean =>
  field === undefined || field === null || (typeof field === "string" && /^(|nan)$/i.test(field));

const volume = (field: Field): Decimal | null => {
  if (isUnsaid(field)) return null;
  const value = number(field);
  if (value < 0n) throw new Refusal("not-positive");
  if (value > volumeMax) throw new Refusal("absurd");
  return value;
};

function readDay(row: Row, last: Decimal | null): DayFigures | null {
  const said = [row.open, row.high, row.low, row.baseVolume, row.quoteVolume, row.vwap];
  if (row.part === "day" && (isUnsaid(row.high) || isUnsaid(row.low))) throw new Refusal("missing-field");
  if (said.every(isUnsaid)) return null;
  const high = isUnsaid(row.high) ? null : price(row.high);
  const low = isUnsaid(row.low) ? null : price(row.low);
  const baseVolume = volume(row.baseVolume);
  const vwap = isUnsaid(row.vwap) ? null : price(row.vwap);
  const quoteVolume =
    volume(row.quoteVolume) ?? (vwap === null || baseVolume === null ? null : multiply(vwap, baseVolume));
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
  if (!isUnsaid(row.open)) return price(row.open);
  if (last === null) return null;
  let open: Decimal | null = null;
  if (!isUnsaid(row.change)) open = subtract(last, number(row.change));
  else if (!isUnsaid(row.changePercent)) {
    const factor = add(unit, divide(number(row.changePercent), hundred));
    if (absolute(factor) === 0n) throw new Refusal("absurd");
    open = divide(last, factor);
  }
  if (open !== null && open <= 0n) throw new Refusal("absurd");
  return open;
}

const wholeShape = /^-?\d{1,20}$/;

function wholeNumber(field: Field): bigint {
  if (typeof field !== "string" || !wholeShape.test(field)) throw new Refusal("not-a-number");
  return BigInt(field);
}

const isoShape = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,12}))?Z$/;

/** Unix milliseconds of a time that an exchange wrote, held to the moment of receipt. */
function readTime(field: Field, unitOfTime: TimeUnit, receivedAtMs: number): number {
  if (field === undefined) throw new Refusal("missing-field");
  if (typeof field !== "string") throw new Refusal("not-a-number");
  const ms = unitOfTime === "iso" ? isoMs(field) : Number(wholeNumber(field)) * msPer[unitOfTime];
  if (Number.isNaN(ms)) throw new Refusal("not-a-number");
  if (ms < earliestMs || ms > latestMs) throw new Refusal("time-unit");
  if (ms > receivedAtMs + futureMsMax) throw new Refusal("future");
  return Math.min(Math.floor(ms), receivedAtMs);
}

const msPer = { s: 1_000, ms: 1, us: 0.001 } as const;

function isoMs(text: string): number {
  const match = isoShape.exec(text);
  if (match === null) return Number.NaN;
  const [, second = "", fraction = ""] = match;
  return Date.parse(`${second}.${fraction.slice(0, 3).padEnd(3, "0")}Z`);
}

/** A heartbeat's figures, checked like a row's. */
export function readHeartbeat(
  heartbeat: Heartbeat,
  receivedAtMs: number,
): Reading<{ readonly tradeId: bigint; readonly sequence: bigint; readonly timeMs: number }> {
  try {
    const timeMs = readTime(heartbeat.time.value, heartbeat.time.unit, receivedAtMs);
    const value = { tradeId: wholeNumber(heartbeat.tradeId), sequence: wholeNumber(heartbeat.sequence), timeMs };
    return { ok: true, value };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, reason: error.reason };
    throw error;
  }
}
