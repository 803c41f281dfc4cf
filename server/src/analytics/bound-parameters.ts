import { SluiceError } from "@sluice/contract/errors";
import type { SqlQuery } from "@sluice/contract/schemas";

/** Placeholders of lists of numbers, as the one-line form of a query has them. */
const numberList = /\{([A-Za-z_]\w*):\s*Array\((?:Nullable\()?(?:U?Int\d+|Float\d+|Decimal\d*(?:\([\d, ]+\))?|Bool)\)/g;
const number = /^-?(?:\d{1,80}(?:\.\d{1,80})?(?:[eE][-+]?\d{1,4})?|inf|nan)$/;

/** Placeholders of whole numbers and decimals, which a number of JSON holds up to 2^53 alone. */
const exactNumber = /\{([A-Za-z_]\w*):\s*(?:Array\()?(?:Nullable\()?(?:U?Int\d+|Decimal)/g;
const isInexact = (value: unknown): boolean =>
  typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);

/**
 * The values of a query's parameters as they are bound. Items of a list of numbers may be text, so that 64-bit integers
 * arrive exactly; the engine reads such a list unquoted. All other values are bound as they are.
 *
 * @throws {SluiceError} INVALID_INPUT for a number that JSON does not hold exactly
 */
export function boundParameters(formatted: string, parameters: SqlQuery["parameters"]): Record<string, unknown> {
  const bound: Record<string, unknown> = { ...parameters };
  for (const [, name = ""] of formatted.matchAll(exactNumber)) {
    const value = parameters[name];
    if (!(Array.isArray(value) ? value.some(isInexact) : isInexact(value))) continue;
    const error = { path: `parameters.${name}`, message: "must be text: a number of JSON does not hold it exactly" };
    throw new SluiceError("INVALID_INPUT", { message: `${error.path} ${error.message}`, details: { errors: [error] } });
  }
  for (const [, name = ""] of formatted.matchAll(numberList)) {
    const value = parameters[name];
    if (!Array.isArray(value) || !value.every((item) => typeof item !== "string" || number.test(item))) continue;
    bound[name] = `[${value.map((item) => (item === null ? "NULL" : String(item))).join(",")}]`;
  }
  return bound;
}
