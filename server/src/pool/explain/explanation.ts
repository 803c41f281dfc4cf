import type { ExplainedRecord } from "@sluice/contract/pool";
import type { ExactDecimal } from "../decimal.ts";
import { decimalText } from "../decimal.ts";

/** What a figure is computed from: what it is, where anybody can read it, and its value in the smallest unit. */
export interface ExplainedInput {
  readonly what: string;
  readonly where: string;
  readonly value: string;
}

/** How a record comes about. */
export interface Explanation {
  readonly record: ExplainedRecord;
  /** When it was read, and the record with it: records of the same moment have these very values. ISO 8601. */
  readonly at: string;
  /** The slot of the accounts; null where there is no pool, or nothing is from the chain. */
  readonly slot: string | null;
  readonly inputs: readonly ExplainedInput[];
  /** The arithmetic, one step a line. */
  readonly steps: readonly string[];
}

/** Inputs and steps of a part of a record. */
export interface ExplainedPart {
  readonly inputs: readonly ExplainedInput[];
  readonly steps: readonly string[];
}

/** Makes an input of a value in the smallest unit. */
export const input = (what: string, where: string, value: bigint | number | string): ExplainedInput => ({
  what,
  where,
  value: String(value),
});

/** Joins parts in their order. */
export const joined = (...parts: readonly ExplainedPart[]): ExplainedPart => ({
  inputs: parts.flatMap(({ inputs }) => inputs),
  steps: parts.flatMap(({ steps }) => steps),
});

/** A part of steps alone. */
export const stepsOf = (...steps: readonly string[]): ExplainedPart => ({ inputs: [], steps });

/** `name = expression = value`. */
export const step = (name: string, expression: string, value: ExactDecimal): string =>
  `${name} = ${expression} = ${decimalText(value)}`;

/** A moment as an explanation writes it. */
export const momentText = (ms: number): string => new Date(ms).toISOString();
