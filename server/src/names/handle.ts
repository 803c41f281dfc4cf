/** Why a text is no handle; the words of the public test corpus. */
export type HandleFault =
  | "Empty"
  | "NonAscii"
  | "TooLong"
  | "IllegalCharacter"
  | "HyphenAtEdge"
  | "ConsecutiveHyphens"
  | "AllDigits";

export type HandleReading =
  | { readonly ok: true; readonly handle: string }
  | { readonly ok: false; readonly fault: HandleFault };

const handleLengthMax = 32;

/** Unicode's White_Space property, exactly: U+0085 is in it and U+FEFF is not, which is where String.trim differs. */
const whiteSpaceAtEdges = /^\p{White_Space}+|\p{White_Space}+$/gu;

export function trimWhiteSpace(text: string): string {
  return text.replace(whiteSpaceAtEdges, "");
}

/** The canonical form of a handle, with or without its `@`. Source: the resolver's decisions, and the public corpus. */
export function readHandle(text: string): HandleReading {
  const trimmed = trimWhiteSpace(text);
  const handle = (trimmed.startsWith("@") ? trimmed.slice(1) : trimmed).replace(/[A-Z]/g, (letter) =>
    letter.toLowerCase(),
  );
  const fault = faultOf(handle);
  return fault === null ? { ok: true, handle } : { ok: false, fault };
}

function faultOf(handle: string): HandleFault | null {
  if (handle === "") return "Empty";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: ASCII is what the rule names, its control characters included.
  if (/[^\x00-\x7f]/.test(handle)) return "NonAscii";
  if (handle.length > handleLengthMax) return "TooLong";
  if (/[^a-z0-9-]/.test(handle)) return "IllegalCharacter";
  if (handle.startsWith("-") || handle.endsWith("-")) return "HyphenAtEdge";
  if (handle.includes("--")) return "ConsecutiveHyphens";
  return /^[0-9]+$/.test(handle) ? "AllDigits" : null;
}
