const quote = 0x22;
const backslash = 0x5c;

/** The first position at or after `at` that is not JSON white space. */
export function skipSpace(text: string, at: number): number {
  let position = at;
  for (;;) {
    const code = text.charCodeAt(position);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return position;
    position += 1;
  }
}

/** The position after the string that opens with the quote at `at`; -1 when it is not closed. */
export function skipString(text: string, at: number): number {
  let position = at;
  for (;;) {
    position = text.indexOf('"', position + 1);
    if (position < 0) return -1;
    let slashes = position - 1;
    while (text.charCodeAt(slashes) === backslash) slashes -= 1;
    if ((position - slashes) % 2 === 1) return position + 1;
  }
}

/** The position after the value that begins at `at` (no white space before it); -1 when the text ends inside it. */
export function skipValue(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === quote) return skipString(text, at);
  if (first !== 0x7b && first !== 0x5b) return skipScalar(text, at);
  const end = text.length;
  let depth = 0;
  for (let position = at; position < end; position += 1) {
    const code = text.charCodeAt(position);
    if (code === quote) {
      position = skipString(text, position) - 1;
      if (position < 0) return -1;
    } else if (code === 0x7b || code === 0x5b) depth += 1;
    else if (code === 0x7d || code === 0x5d) {
      depth -= 1;
      if (depth === 0) return position + 1;
    }
  }
  return -1;
}

function skipScalar(text: string, at: number): number {
  let position = at;
  for (; position < text.length; position += 1) {
    const code = text.charCodeAt(position);
    if (code <= 0x20 || code === 0x2c || code === 0x5d || code === 0x7d || code === 0x3a || code === quote) break;
  }
  return position === at ? -1 : position;
}

/**
 * A copy of a slice that shares no memory with the text it was cut from. An engine keeps the whole text alive for the
 * sake of a slice; what is kept for long (a cache key cut from a request body) is therefore detached first.
 */
export function detached(slice: string): string {
  return Buffer.from(slice, "utf8").toString("utf8");
}
