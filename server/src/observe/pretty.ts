/**
 * Lines for a person at a terminal, made from lines of JSON. Small on purpose: time, level, message, then the fields.
 */
const colours: Readonly<Record<string, string>> = {
  debug: "\u001b[2m",
  info: "\u001b[36m",
  warn: "\u001b[33m",
  error: "\u001b[31m",
};
const dim = "\u001b[2m";
const plain = "\u001b[0m";

/** Control characters could move the cursor or change the terminal's colours, so none passes. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => (character === "\n" ? "\n" : "�"));
}

function showField(value: unknown): string {
  if (typeof value === "string") return /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value) ?? "undefined";
}

/** A stack reads as lines; every other field is `name=value`. */
function showStack(error: unknown): string {
  if (typeof error !== "object" || error === null || !("stack" in error)) return "";
  return typeof error.stack === "string" ? `\n${printable(error.stack)}` : "";
}

/** One line of JSON as text for a terminal, line break included. What is not such a line is given back as it is. */
export function formatPretty(line: string, options: { readonly colour: boolean }): string {
  let record: unknown;
  try {
    record = JSON.parse(line);
  } catch {
    return line;
  }
  if (typeof record !== "object" || record === null) return line;
  const { time, level, msg, error, ...fields } = record as Record<string, unknown>;
  const name = typeof level === "string" ? level : "info";
  const clockTime = typeof time === "string" ? time.slice(11, 23) : "";
  const paint = (colour: string, text: string): string =>
    options.colour && text !== "" ? `${colour}${text}${plain}` : text;
  const message = showStack(error) === "" && error !== undefined ? { ...fields, error } : fields;
  const shown = Object.entries(message).map(([field, value]) => `${printable(field)}=${printable(showField(value))}`);
  const head = `${paint(dim, clockTime)} ${paint(colours[name] ?? "", name.padEnd(5))} ${printable(String(msg ?? ""))}`;
  return `${head}${shown.length === 0 ? "" : ` ${paint(dim, shown.join(" "))}`}${showStack(error)}\n`;
}
