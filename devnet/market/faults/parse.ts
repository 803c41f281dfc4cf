import { CodedError } from "@sluice/contract/errors";
import { marketAssets } from "../model/assets.ts";
import { mix, seedOf } from "../model/hash.ts";
import { type ExchangeId, exchangeIds } from "../model/listings.ts";
import { type GarbagePlace, garbageForms, type Trouble } from "./fault.ts";
import type { FaultRequest } from "./faults.ts";

const msMax = 30 * 86_400_000;
const garbagePlaces: readonly GarbagePlace[] = ["rest", "stream", "both"];
const freezeModes = ["content", "whole", "stream"] as const;
const outageForms = ["html", "busy"] as const;
const stable = ["USDT", "USDC"] as const;

/** An error in a request for a fault, as a text for its sender. */
export class FaultRequestError extends CodedError<"FAULT_REQUEST_INVALID"> {
  constructor(message: string) {
    super("FAULT_REQUEST_INVALID", { message, details: {} });
  }
}

const isOneOf = <Text extends string>(list: readonly Text[], value: unknown): value is Text =>
  typeof value === "string" && (list as readonly string[]).includes(value);

/** The members of a wish, each of which has to be asked for: what is left over is an error. */
class Members {
  readonly #left: Map<string, unknown>;

  constructor(body: object) {
    this.#left = new Map(Object.entries(body));
  }

  take(name: string): unknown {
    const value = this.#left.get(name);
    this.#left.delete(name);
    return value;
  }

  number(name: string, lowest: number, highest: number, otherwise?: number): number {
    const value = this.take(name) ?? otherwise;
    if (typeof value !== "number" || !(value >= lowest && value <= highest)) {
      throw new FaultRequestError(`${name} must be a number from ${lowest} to ${highest}`);
    }
    return value;
  }

  choice<Text extends string>(name: string, list: readonly Text[], otherwise?: Text): Text {
    const value = this.take(name) ?? otherwise;
    if (!isOneOf(list, value)) throw new FaultRequestError(`${name} must be one of ${list.join(", ")}`);
    return value;
  }

  flag(name: string): boolean {
    const value = this.take(name) ?? false;
    if (typeof value !== "boolean") throw new FaultRequestError(`${name} must be true or false`);
    return value;
  }

  /** Null when the list is missing. */
  list<Text extends string>(name: string, known: readonly Text[]): Text[] | null {
    const value = this.take(name);
    if (value === undefined || value === null) return null;
    if (!Array.isArray(value) || value.length === 0 || !value.every((each) => isOneOf(known, each))) {
      throw new FaultRequestError(`${name} must be a list of some of ${known.join(", ")}`);
    }
    return [...new Set(value)];
  }

  factor(): number {
    const bps = this.take("bps");
    if (bps === undefined) return this.number("factor", 1e-6, 1e6);
    if (typeof bps !== "number" || !(bps > -10_000 && bps <= 1e6))
      throw new FaultRequestError("bps must be a number above -10000, at most 1000000");
    return 1 + bps / 10_000;
  }

  end(): void {
    const [name] = this.#left.keys();
    if (name !== undefined) throw new FaultRequestError(`unknown member ${name}`);
  }
}

/** Reads a request for a fault; throws a FaultRequestError. */
export function parseFaultRequest(body: unknown, seed: string): FaultRequest {
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new FaultRequestError("a fault is an object");
  const members = new Members(body);
  const symbols = members.list(
    "symbols",
    marketAssets.map((asset) => asset.symbol),
  );
  const named = members.list("exchanges", exchangeIds);
  const kind = members.take("kind");
  const count = kind === "collusion" ? members.number("count", 1, exchangeIds.length, named?.length ?? 3) : null;
  const trouble = readTrouble(kind, members);
  members.end();
  const exchanges =
    count === null ? (named ?? exchangeIds) : named === null ? drawn(count, seed) : named.slice(0, count);
  return { trouble, exchanges, symbols };
}

/** So many exchanges, the same ones for the same seed. */
function drawn(count: number, seed: string): ExchangeId[] {
  const key = seedOf(`${seed}/collusion`);
  const order = exchangeIds.map((id, index) => ({ id, draw: mix(key, index, 0) }));
  return order
    .toSorted((left, right) => left.draw - right.draw)
    .slice(0, count)
    .map(({ id }) => id);
}

function readTrouble(kind: unknown, members: Members): Trouble {
  switch (kind) {
    case "offset":
    case "collusion":
      return { kind, factor: members.factor(), rampMs: members.number("rampMs", 0, msMax, 0) };
    case "depeg": {
      const asset = members.choice("asset", stable);
      return { kind, asset, factor: members.factor(), rampMs: members.number("rampMs", 0, msMax, 0) };
    }
    case "freeze":
      return { kind, mode: members.choice("mode", freezeModes, "content") };
    case "lag":
      return { kind, ms: members.number("ms", 1, msMax) };
    case "skew":
      return { kind, ms: Math.round(members.number("ms", -msMax, msMax)) };
    case "volume":
      return { kind, factor: members.number("factor", 0, 1e9) };
    case "garbage":
      return {
        kind,
        form: members.choice("form", garbageForms),
        share: members.number("share", 0, 1, 1),
        door: members.choice("door", garbagePlaces, "both"),
      };
    case "limited":
      return { kind, isBan: members.flag("ban") };
    case "outage":
      return { kind, form: members.choice("form", outageForms, "html") };
    case "slow":
      return { kind, ms: members.number("ms", 1, 60_000) };
    case "duplicate":
    case "reorder":
      return { kind, share: members.number("share", 0, 1, 1) };
    case "crossed":
    case "drop":
    case "cut":
    case "refuse":
    case "silence":
    case "unacknowledged":
    case "tokens":
      return { kind };
    default:
      throw new FaultRequestError(`unknown kind ${String(kind).slice(0, 32)}`);
  }
}
