import { programs } from "@sluice/wire/programs";
import { busy, customProgram, exchange, market, mint, signatureOf, text, wallet } from "./world.ts";

export interface Shape {
  readonly method: string;
  readonly what: string;
  /** Parameters of call number `n`, so that no two need be alike. */
  readonly params: (n: number) => readonly unknown[];
}

const memcmp = (offset: number, bytes: Uint8Array) => ({ memcmp: { offset, bytes: text(bytes) } });
const base64 = { encoding: "base64" };
const listed = (filters: readonly unknown[]) => ({ ...base64, filters });
const signature = (number: number): string => text(signatureOf(number));
const ofToken = { dataSize: 165 };
const traderOf = (n: number) => wallet((n * 13) % 100_000);

export const shapes: readonly Shape[] = [
  {
    method: "getProgramAccounts",
    what: "token accounts of an owner",
    params: (n) => [programs.token, listed([ofToken, memcmp(32, wallet(n))])],
  },
  {
    method: "getProgramAccounts",
    what: "token accounts of a mint (700 rows)",
    params: (n) => [programs.token, listed([ofToken, memcmp(0, mint(1 + ((n * 4) % 1_000)))])],
  },
  {
    method: "getProgramAccounts",
    what: "any program, memcmp (30 rows)",
    params: (n) => [customProgram, listed([memcmp(8, market(n))])],
  },
  {
    method: "getProgramAccounts",
    what: "any program, dataSize (100 rows)",
    params: () => [customProgram, listed([{ dataSize: 300 }])],
  },
  {
    method: "getProgramAccounts",
    what: "any program, four filters",
    params: (n) => [
      customProgram,
      listed([
        { dataSize: 200 },
        memcmp(0, Uint8Array.of(1, 2, 3)),
        memcmp(8, market((n * 13) % 10_000)),
        memcmp(40, traderOf(n)),
      ]),
    ],
  },
  { method: "getTokenLargestAccounts", what: "of 525,000 holders", params: () => [text(mint(0))] },
  { method: "getTokenLargestAccounts", what: "of 700 holders", params: (n) => [text(mint(1 + ((n * 4) % 1_000)))] },
  {
    method: "getTokenAccountsByOwner",
    what: "a wallet",
    params: (n) => [text(wallet(n)), { programId: programs.token }, base64],
  },
  {
    method: "getTokenAccountsByOwner",
    what: "one mint of an owner of 10,000",
    params: (n) => [text(exchange), { mint: text(mint(1 + ((n * 4) % 1_000))) }, base64],
  },
  { method: "getSignaturesForAddress", what: "the newest 1,000 of a million", params: () => [busy] },
  {
    method: "getSignaturesForAddress",
    what: "10 before one in the middle of a million",
    params: (n) => [busy, { limit: 10, before: signature(500_000 + n) }],
  },
  {
    method: "getSignaturesForAddress",
    what: "from an early one until 100 before it",
    params: (n) => [busy, { before: signature(10_100 + n), until: signature(10_000 + n) }],
  },
  {
    method: "getSignaturesForAddress",
    what: "10 of an address that one in 1,000 names",
    params: () => [text(market(0)), { limit: 10, before: signature(500_000) }],
  },
  { method: "getLargestAccounts", what: "of a million", params: () => [] },
];

/** Every account of the custom program in one answer. */
export const everything: Shape = {
  method: "getProgramAccounts",
  what: "all of a program",
  params: () => [customProgram, base64],
};

export const bodyOf = ({ method, params }: Shape, n: number): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: params(n) });
