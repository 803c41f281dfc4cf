import type { ExchangeId } from "../model/listings.ts";

export const garbageForms = [
  "malformed",
  "truncated",
  "types",
  "nan",
  "negative",
  "huge",
  "zero",
  "missing",
  "html",
  "empty",
  "null",
] as const;
export type GarbageForm = (typeof garbageForms)[number];

/** What can be wrong; what each one does stands in the README, and `faults/parse.ts` reads them. */
export type Trouble =
  | { readonly kind: "offset" | "collusion"; readonly factor: number; readonly rampMs: number }
  | { readonly kind: "depeg"; readonly asset: "USDT" | "USDC"; readonly factor: number; readonly rampMs: number }
  | { readonly kind: "freeze"; readonly mode: "content" | "whole" | "stream" }
  | { readonly kind: "lag"; readonly ms: number }
  | { readonly kind: "skew"; readonly ms: number }
  | { readonly kind: "volume"; readonly factor: number }
  | { readonly kind: "crossed" }
  | { readonly kind: "drop" }
  | { readonly kind: "garbage"; readonly form: GarbageForm; readonly share: number; readonly door: GarbagePlace }
  | { readonly kind: "limited"; readonly isBan: boolean }
  | { readonly kind: "outage"; readonly form: "html" | "busy" }
  | { readonly kind: "slow"; readonly ms: number }
  | { readonly kind: "cut" }
  | { readonly kind: "refuse" }
  | { readonly kind: "silence" }
  | { readonly kind: "unacknowledged" }
  | { readonly kind: "duplicate"; readonly share: number }
  | { readonly kind: "reorder"; readonly share: number }
  | { readonly kind: "tokens" };

/** The answers on which garbage falls. */
export type GarbagePlace = "rest" | "stream" | "both";

/** A trouble that is on, and where. */
export type Fault = Trouble & {
  readonly id: number;
  readonly exchanges: readonly ExchangeId[];
  /** Base assets; null is all of them. */
  readonly symbols: readonly string[] | null;
  /** Since when, by the clock of the process. */
  readonly sinceMs: number;
};

export type Kind = Trouble["kind"];
export type FaultOf<K extends Kind> = Extract<Fault, { readonly kind: K }>;
