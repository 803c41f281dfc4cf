import { decodeAddress, encodeBase58 } from "@sluice/wire/base58";
import { isOnCurve } from "@sluice/wire/program-address";
import { programs } from "@sluice/wire/programs";
import { independentHandleAddress, independentPath } from "./independent-derivation.ts";

/** What a name means, by a second reading of the rules that shares no code with the resolver. */
export type Meaning =
  | { readonly kind: "handle"; readonly name: string }
  | { readonly kind: "domain"; readonly name: string }
  | { readonly kind: "refused"; readonly status: 400 | 409; readonly error: string };

const whiteSpace = new Set(
  [9, 10, 11, 12, 13, 32, 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000].concat(
    Array.from({ length: 11 }, (_, at) => 0x2000 + at),
  ),
);
const isSpace = (character: string): boolean => whiteSpace.has(character.codePointAt(0) ?? 0);
const isControl = (code: number): boolean => code < 32 || (code >= 127 && code < 160);
const refusal = (error: string, status: 400 | 409 = 400): Meaning => ({ kind: "refused", status, error });

function trimmed(text: string): string {
  const characters = [...text];
  while (characters.length > 0 && isSpace(characters[0] ?? "")) characters.shift();
  while (characters.length > 0 && isSpace(characters.at(-1) ?? "")) characters.pop();
  return characters.join("");
}

const hasSuffix = (text: string): boolean =>
  [".x1", ".xnt", ".xen"].some((suffix) => text.slice(-suffix.length).toLowerCase() === suffix);

function handleMeaning(text: string): Meaning {
  const letters = [...text.slice(1)].map((letter) => (letter >= "A" && letter <= "Z" ? letter.toLowerCase() : letter));
  const name = letters.join("");
  const plain = letters.every((letter) => "abcdefghijklmnopqrstuvwxyz0123456789-".includes(letter));
  const onlyDigits = letters.every((letter) => letter >= "0" && letter <= "9");
  const edges = letters[0] === "-" || letters.at(-1) === "-" || name.split("--").length > 1;
  const good = letters.length >= 1 && letters.length <= 32 && plain && !onlyDigits && !edges;
  return good ? { kind: "handle", name } : refusal("invalid handle");
}

function domainMeaning(text: string): Meaning | null {
  const name = text.toLowerCase().normalize("NFC");
  if (text.length > 1024 || !hasSuffix(name)) return null;
  const labels = name.split(".").slice(0, -1);
  const good = labels.every((label) => {
    const characters = [...label];
    const codes = characters.map((character) => character.codePointAt(0) ?? 0);
    if (characters.length < 1 || characters.length > 64) return false;
    if (characters.some((character) => isSpace(character) || "@/\ufffd".includes(character))) return false;
    if (codes.some((code) => isControl(code) || (code >= 0xd800 && code <= 0xdfff))) return false;
    const hex = (character: string | undefined): boolean => "0123456789abcdef".includes(character ?? "none");
    return !characters.some((each, at) => each === "%" && hex(characters[at + 1]) && hex(characters[at + 2]));
  });
  return good && labels.length <= 9 ? { kind: "domain", name } : null;
}

export function meaningOf(input: string): Meaning {
  const bare = trimmed(input);
  if (bare.startsWith("@")) {
    return hasSuffix(bare) ? refusal("ambiguous: both a handle and a domain shape", 409) : handleMeaning(bare);
  }
  return domainMeaning(input) ?? refusal(bare.includes(".") ? "invalid domain" : "invalid handle");
}

/** Percent-decoding by bytes; null when the text is no encoding of UTF-8. */
export function decodedOnce(segment: string): string | null {
  const bytes: number[] = [];
  for (let at = 0; at < segment.length; at++) {
    if (segment[at] !== "%") {
      bytes.push(...new TextEncoder().encode(segment[at] ?? ""));
      continue;
    }
    const pair = segment.slice(at + 1, at + 3);
    if (!/^[0-9a-fA-F]{2}$/.test(pair)) return null;
    bytes.push(Number.parseInt(pair, 16));
    at += 2;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes));
  } catch {
    return null;
  }
}

export const flaws = ["none", "missing", "parent", "program", "truncated", "closed", "unowned"] as const;
export type Flaw = (typeof flaws)[number];

export interface PlacedAccount {
  readonly address: string;
  readonly program: string;
  readonly data: Uint8Array;
}

export interface Placement {
  readonly accounts: readonly PlacedAccount[];
  readonly expected: { readonly status: number; readonly owner?: string; readonly error?: string };
}

const expectedOf: Readonly<Record<Exclude<Flaw, "none">, "absent" | "malformed">> = {
  missing: "absent",
  parent: "absent",
  closed: "absent",
  unowned: "absent",
  program: "malformed",
  truncated: "malformed",
};

const bytesOf = (address: string): Uint8Array => decodeAddress(address) ?? new Uint8Array(32);

function spoiled(account: PlacedAccount, flaw: Flaw, ownerAt: number): readonly PlacedAccount[] {
  const data = account.data.slice();
  switch (flaw) {
    case "none":
      return [account];
    case "missing":
      return [];
    case "program":
      return [{ ...account, program: programs.memo }];
    case "truncated":
      return [{ ...account, data: data.subarray(0, ownerAt === 9 ? 73 : 95) }];
    case "closed":
      return [{ ...account, program: programs.system, data: new Uint8Array() }];
    case "unowned":
      data.fill(0, ownerAt, ownerAt + 32);
      return [{ ...account, data }];
    case "parent":
      data[0] = (data[0] ?? 0) ^ 1;
      return [{ ...account, data }];
  }
}

/** The accounts that make `meaning` belong to `owner`, spoiled at one level, and what the resolver must then say. */
export async function place(
  meaning: Exclude<Meaning, { kind: "refused" }>,
  owner: Uint8Array,
  flaw: Flaw,
  level: number,
  ids: { readonly nameProgram: string; readonly handleProgram: string },
): Promise<Placement> {
  const outcome = flaw === "none" ? "owner" : expectedOf[flaw];
  const expected =
    outcome === "owner"
      ? { status: 200, owner: encodeBase58(owner) }
      : outcome === "absent"
        ? { status: 404, error: `${meaning.kind} not registered` }
        : { status: 502, error: "malformed account" };
  if (meaning.kind === "handle") {
    const data = new Uint8Array(74);
    data.set([1, 2, 3, 4, 5, 6, 7, 8, 1]);
    data.set(owner, 9);
    data[41] = meaning.name.length;
    data.set(new TextEncoder().encode(meaning.name), 42);
    const address = await independentHandleAddress(meaning.name, ids.handleProgram);
    return { accounts: spoiled({ address, program: ids.handleProgram, data }, flaw, 9), expected };
  }
  const path = await independentPath(meaning.name, ids.nameProgram);
  const accounts = path.slice(1).flatMap((address, depth) => {
    const data = new Uint8Array(96);
    data.set(bytesOf(path[depth] ?? ""), 0);
    data.set(depth === path.length - 2 ? owner : new Uint8Array(32).fill(2), 32);
    return spoiled(
      { address, program: ids.nameProgram, data },
      depth === level % (path.length - 1) ? flaw : "none",
      32,
    );
  });
  return { accounts, expected };
}

export function ownerIsWallet(owner: Uint8Array): boolean {
  return isOnCurve(owner);
}
