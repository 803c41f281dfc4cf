import { fraction, mix } from "../model/hash.ts";
import type { GarbageForm } from "./fault.ts";

const page =
  "<!DOCTYPE html>\n<html><head><title>Attention Required!</title></head><body><h1>Error 1020</h1></body></html>\n";
/** Numbers in quotes that are no member's name, and bare ones. */
const numbers = /"(-?\d+(?:\.\d+)?)"(?!\s*:)|(?<=[:,[])(-?\d+(?:\.\d+)?)(?=[,\]}])/g;

const replaceNumbers = (text: string, quoted: (number: string) => string, bare: (number: string) => string): string =>
  text.replace(numbers, (_, inQuotes: string | undefined, alone: string | undefined) =>
    inQuotes === undefined ? bare(alone ?? "") : quoted(inQuotes),
  );

/** A well-formed message made bad. `draw` decides where, when there is a choice. */
export function spoil(text: string, form: GarbageForm, draw: number): string {
  switch (form) {
    case "malformed":
      return `${text.slice(0, -1)},}{`;
    case "truncated":
      return text.slice(0, Math.max(1, Math.floor(text.length * (0.2 + 0.7 * fraction(draw)))));
    case "types":
      return replaceNumbers(
        text,
        (number) => `{"value":${number.replace(/^(-?)0+(?=\d)/, "$1")}}`,
        (number) => `["${number}"]`,
      );
    case "nan":
      return replaceNumbers(
        text,
        () => '"NaN"',
        () => "null",
      );
    case "negative":
      return replaceNumbers(
        text,
        (number) => `"-${number.replace("-", "")}"`,
        (number) => `-${number.replace("-", "")}`,
      );
    case "huge":
      return replaceNumbers(
        text,
        (number) => `"${number.replace("-", "").replace(".", "")}${"9".repeat(300)}"`,
        () => "1e308",
      );
    case "zero":
      return replaceNumbers(
        text,
        () => '"0"',
        () => "0",
      );
    case "missing":
      return JSON.stringify(without(JSON.parse(text), draw));
    case "html":
      return page;
    case "empty":
      return "";
    case "null":
      return "null";
  }
}

/** About every second member of the innermost objects is gone; which ones follows from the draw. */
function without(value: unknown, draw: number): unknown {
  if (Array.isArray(value)) return value.map((each) => without(each, draw));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) => [name, without(member, draw)] as const);
  const isInner = members.every(([, member]) => !holdsObjects(member));
  // One is gone in any case, whatever the draws are.
  const gone = draw % Math.max(1, members.length);
  return Object.fromEntries(
    members.filter((_, index) => !isInner || (index !== gone && mix(draw, index, 1) % 2 === 0)),
  );
}

const holdsObjects = (value: unknown): boolean =>
  Array.isArray(value) ? value.some(holdsObjects) : typeof value === "object" && value !== null;
