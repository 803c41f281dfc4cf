import { fraction, mix } from "./model/hash.ts";
import { type ExchangeId, exchangeIds } from "./model/listings.ts";
import { bootMarket, type TestMarket } from "./testing/market.ts";

/** Texts of numbers as whole numbers of 10^-18. */
const decimalPlaces = 18;
const one = 10n ** BigInt(decimalPlaces);

function exact(text: string): bigint {
  const [, sign, whole = "", part = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  if (sign === undefined) throw new TypeError(`no number: ${text}`);
  const units = BigInt(whole + part.padEnd(decimalPlaces, "0").slice(0, decimalPlaces));
  return sign === "-" ? -units : units;
}

type Row = Readonly<Record<string, string>>;
type Rounding = "half" | "cut";

/** A ratio of two numbers to so many places, as text is compared: in units of 10^-18. */
function ratio(part: bigint, whole: bigint, places: number, rounding: Rounding): bigint {
  const step = 10n ** BigInt(decimalPlaces - places);
  const scaled = (part * one * 2n) / whole;
  const half = rounding === "half" ? (scaled < 0n ? -step : step) : 0n;
  return ((scaled + half) / (2n * step)) * step;
}

/** A description of the errors in one row. `of` names its members as this exchange does. */
interface Claim {
  readonly what: string;
  readonly holds: boolean;
}

const within = (low: string, value: string, high: string, what: string): Claim => ({
  what: `${low} <= ${value} <= ${high} (${what})`,
  holds: exact(low) <= exact(value) && exact(value) <= exact(high),
});

/**
 * Quote volume lies between what the base volume cost at the lowest and at the highest; the last digit may be rounded.
 */
function amount(base: string, quote: string, low: string, high: string): Claim {
  const slack = 10n ** BigInt(decimalPlaces - 8) * one;
  const least = exact(base) * exact(low) - slack;
  const most = exact(base) * exact(high) + slack;
  const shown = exact(quote) * one;
  return { what: `${quote} is no amount for ${base} from ${low} to ${high}`, holds: least <= shown && shown <= most };
}

const change = (
  part: bigint,
  open: bigint,
  shown: string,
  scale: bigint,
  places: number,
  rounding: Rounding,
): Claim => ({
  what: `a change of ${part} from ${open} is not ${shown}`,
  holds: ratio(part * scale, open, places, rounding) === exact(shown),
});

const get = (row: Row, ...names: string[]): string[] => names.map((name) => row[name] ?? "missing");

const claimsOf: Readonly<Record<string, (row: Row) => readonly Claim[]>> = {
  binance(row) {
    const [low = "", last = "", high = "", open = "", mean = ""] = get(
      row,
      "lowPrice",
      "lastPrice",
      "highPrice",
      "openPrice",
      "weightedAvgPrice",
    );
    const moved = exact(last) - exact(open);
    return [
      ...[within(low, last, high, "last"), within(low, mean, high, "mean"), within(low, open, high, "open")],
      within(row["bidPrice"] ?? "", row["askPrice"] ?? "", "1000000000", "bid, ask"),
      amount(row["volume"] ?? "", row["quoteVolume"] ?? "", low, high),
      { what: `${row["priceChange"]} is not ${last} - ${open}`, holds: moved === exact(row["priceChange"] ?? "") },
      change(moved, exact(open), row["priceChangePercent"] ?? "", 100n, 3, "half"),
    ];
  },
  okx(row) {
    const [low = "", last = "", high = "", open = ""] = get(row, "low24h", "last", "high24h", "open24h");
    return [
      ...[within(low, last, high, "last"), within(low, open, high, "open")],
      amount(row["vol24h"] ?? "", row["volCcy24h"] ?? "", low, high),
    ];
  },
  bybit(row) {
    const [low = "", last = "", high = "", open = ""] = get(
      row,
      "lowPrice24h",
      "lastPrice",
      "highPrice24h",
      "prevPrice24h",
    );
    return [
      within(low, last, high, "last"),
      amount(row["volume24h"] ?? "", row["turnover24h"] ?? "", low, high),
      change(exact(last) - exact(open), exact(open), row["price24hPcnt"] ?? "", 1n, 4, "half"),
    ];
  },
  kucoin(row) {
    const [low = "", last = "", high = "", moved = ""] = get(row, "low", "last", "high", "changePrice");
    return [
      ...[within(low, last, high, "last"), within(low, row["averagePrice"] ?? "", high, "mean")],
      amount(row["vol"] ?? "", row["volValue"] ?? "", low, high),
      change(exact(moved), exact(last) - exact(moved), row["changeRate"] ?? "", 1n, 4, "cut"),
    ];
  },
  bitstamp(row) {
    const [low = "", last = "", high = "", open = ""] = get(row, "low", "last", "high", "open_24");
    return [
      ...[within(low, last, high, "last"), within(low, row["vwap"] ?? "", high, "mean")],
      change(exact(last) - exact(open), exact(open), row["percent_change_24"] ?? "", 100n, 2, "half"),
    ];
  },
  gate(row) {
    const [low = "", last = "", high = ""] = get(row, "low_24h", "last", "high_24h");
    return [
      ...[
        within(low, last, high, "last"),
        within(row["highest_bid"] ?? "", row["lowest_ask"] ?? "", "1000000000", "bid, ask"),
      ],
      amount(row["base_volume"] ?? "", row["quote_volume"] ?? "", low, high),
    ];
  },
};

const lists: Readonly<Record<string, readonly [path: string, rows: (body: unknown) => unknown]>> = {
  binance: ["/api/v3/ticker/24hr", (body) => body],
  okx: ["/api/v5/market/tickers?instType=SPOT", (body) => inside(body, "data")],
  bybit: ["/v5/market/tickers?category=spot", (body) => inside(inside(body, "result"), "list")],
  kucoin: ["/api/v1/market/allTickers", (body) => inside(inside(body, "data"), "ticker")],
  bitstamp: ["/api/v2/ticker/", (body) => body],
  gate: ["/api/v4/spot/tickers", (body) => body],
};

const inside = (value: unknown, name: string): unknown => (value as Record<string, unknown>)[name];

async function wrongOf(markets: TestMarket, id: ExchangeId): Promise<{ rows: number; wrong: string[] }> {
  const [path, rowsOf] = lists[id] ?? [];
  const claims = claimsOf[id];
  if (path === undefined || rowsOf === undefined || claims === undefined) return { rows: 0, wrong: [] };
  const rows = rowsOf(await markets.json(id, path)) as Row[];
  const wrong = rows.flatMap((row) => claims(row).filter(({ holds }) => !holds));
  return { rows: rows.length, wrong: wrong.map(({ what }) => `${id} at ${markets.now()}: ${what}`) };
}

/** `n` moments of a month, and whether every printed row of six exchanges agrees with itself to the last digit. */
export async function run(options: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  await using markets = bootMarket({ seed: `figures ${options.seed}` });
  const wrong: string[] = [];
  let rows = 0;
  for (let moment = 0; moment < options.n; moment += 1) {
    const step = Math.floor(fraction(mix(options.seed, moment, 1)) * 7_200_000);
    markets.pass(step);
    for (const id of exchangeIds) {
      const found = await wrongOf(markets, id);
      rows += found.rows;
      wrong.push(...found.wrong);
    }
  }
  const summary = [`${rows} rows, ${wrong.length} that disagree with themselves`, ...wrong.slice(0, 20)].join("\n");
  return { passed: wrong.length === 0 && rows > 0, summary };
}
