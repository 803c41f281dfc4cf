import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ExchangeId } from "../model/listings.ts";

const directory = join(import.meta.dir, "../../../../shared/fixtures/exchanges");

export type Json = null | boolean | number | string | Json[] | { [member: string]: Json };

export interface Sample {
  readonly httpStatus?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly frames?: readonly { readonly dir: "in" | "out"; readonly frame?: Json; readonly text?: string }[];
}

/** Whether the real samples are at hand; says so loudly when they are not. */
export function haveSamples(): boolean {
  if (existsSync(directory)) return true;
  console.warn(`NOT RUN: no samples of exchanges at ${directory}`);
  return false;
}

export const sample = (exchange: ExchangeId, name: string): Sample =>
  JSON.parse(readFileSync(join(directory, exchange, `${name}.json`), "utf8")) as Sample;

/** Frames that the exchange sent. */
export const received = (exchange: ExchangeId, name: string): Json[] =>
  (sample(exchange, name).frames ?? []).flatMap(({ dir, frame }) =>
    dir === "in" && frame !== undefined ? [frame] : [],
  );

export interface Rules {
  /** Members that only newer or only older answers carry. */
  readonly optional?: readonly string[];
  /** Texts of numbers have as many decimals as the sample's. */
  readonly exactPlaces?: boolean;
  /** Objects whose members are names of markets, by path. */
  readonly keyed?: readonly string[];
  /** Members that are lists whose entries differ in kind, and so are compared place by place. */
  readonly byPlace?: readonly string[];
  /** Members in another order are no difference, as with exchanges that promise none. */
  readonly anyOrder?: boolean;
}

const numberPattern = /^-?\d+(?:\.(\d+))?$/;
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.(\d+))?Z$/;

/**
 * Every way in which one value is not shaped as a sample is: a type, a member, a text that should be a number or a
 * time.
 */
export function differences(ours: Json, real: Json, rules: Rules = {}, path = "$"): string[] {
  if (real === null) return [];
  if (Array.isArray(real)) return ofLists(ours, real, rules, path);
  if (typeof real === "object") return ofObjects(ours, real, rules, path);
  if (typeof ours !== typeof real) return [`${path} is ${describe(ours)}, not a ${typeof real}`];
  return typeof ours === "string" && typeof real === "string" ? ofTexts(ours, real, rules, path) : [];
}

const describe = (value: Json): string =>
  value === null ? "null" : Array.isArray(value) ? "a list" : `a ${typeof value}`;

function ofTexts(ours: string, real: string, rules: Rules, path: string): string[] {
  const asNumber = numberPattern.exec(real);
  if (asNumber !== null) {
    const number = numberPattern.exec(ours);
    if (number === null) return [`${path} is no number: ${ours}`];
    const isExact = rules.exactPlaces !== true || (number[1]?.length ?? 0) === (asNumber[1]?.length ?? 0);
    return isExact ? [] : [`${path} has other decimals than ${real}: ${ours}`];
  }
  const asTime = timePattern.exec(real);
  if (asTime === null) return numberPattern.test(ours) && real !== "" ? [`${path} is a number: ${ours}`] : [];
  const time = timePattern.exec(ours);
  return time?.[1]?.length === asTime[1]?.length ? [] : [`${path} is no such time as ${real}: ${ours}`];
}

const isScalar = (value: Json | undefined): boolean => typeof value !== "object" || value === null;

function ofLists(ours: Json, real: Json[], rules: Rules, path: string): string[] {
  if (!Array.isArray(ours)) return [`${path} is ${describe(ours)}, not a list`];
  const [first] = real;
  if (first === undefined) return [];
  // Rows of columns are compared place by place; lists of one kind of thing with the first of the sample's.
  const isRow =
    real.length > 1 &&
    real.every(isScalar) &&
    new Set(real.map((each) => typeof each)).size >= 1 &&
    numberPattern.test(String(first));
  const isByPlace = rules.byPlace?.some((name) => path.endsWith(`.${name}`)) === true;
  if (isRow || isByPlace) {
    if (ours.length !== real.length) return [`${path} has ${ours.length} columns, not ${real.length}`];
    return real.flatMap((each, index) => differences(ours[index] ?? null, each, rules, `${path}[${index}]`));
  }
  if (ours.length === 0) return [`${path} is empty`];
  return ours.flatMap((each, index) => differences(each, first, rules, `${path}[${index}]`));
}

function ofObjects(ours: Json, real: { [member: string]: Json }, rules: Rules, path: string): string[] {
  if (isScalar(ours) || ours === null || Array.isArray(ours) || typeof ours !== "object") {
    return [`${path} is ${describe(ours)}, not an object`];
  }
  if (rules.keyed?.includes(path) === true) {
    const [like] = Object.values(real);
    return Object.entries(ours).flatMap(([name, each]) =>
      name === "last" ? [] : differences(each, like ?? null, rules, `${path}.${name}`),
    );
  }
  const isOptional = (name: string): boolean => rules.optional?.includes(name) === true;
  const missing = Object.keys(real).filter((name) => !(name in ours) && !isOptional(name));
  const added = Object.keys(ours).filter((name) => !(name in real) && !isOptional(name));
  const shared = Object.keys(real).filter((name) => name in ours);
  const order = Object.keys(ours).filter((name) => name in real);
  const isMoved = rules.anyOrder !== true && order.join() !== shared.join();
  return [
    ...missing.map((name) => `${path}.${name} is missing`),
    ...added.map((name) => `${path}.${name} is not in the sample`),
    ...(isMoved ? [`${path} has its members in another order: ${order.join()}`] : []),
    ...shared.flatMap((name) => differences(ours[name] ?? null, real[name] ?? null, rules, `${path}.${name}`)),
  ];
}
