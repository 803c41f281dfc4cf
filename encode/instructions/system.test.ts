import { describe, expect, test } from "bun:test";
import { programs, sysvars } from "@sluice/wire/programs";
import { address, createNoopSigner } from "@solana/kit";
import { SystemProgram } from "@solana/web3.js";
import { getCreateAccountAllowPrefundInstruction, getUpgradeNonceAccountInstruction } from "@solana-program/system";
import { parsedOf, parsedOfKit, parsedOfParts, u8, u32, u64 } from "../testing/instruction.ts";
import { A, a, B, b, C, c, D, d, raw } from "../testing/keys.ts";

function system(type: string, info: object): unknown {
  return { program: "system", parsed: { type, info } };
}

describe("system", () => {
  const seeded = { basePubkey: c, seed: "seed", programId: d };
  const cases: [string, unknown, object][] = [
    [
      "createAccount",
      parsedOf(
        SystemProgram.createAccount({ fromPubkey: a, newAccountPubkey: b, lamports: 7, space: 9, programId: c }),
      ),
      { source: A, newAccount: B, lamports: 7n, space: 9n, owner: C },
    ],
    [
      "createAccountWithSeed",
      parsedOf(
        SystemProgram.createAccountWithSeed({ fromPubkey: a, newAccountPubkey: b, lamports: 7, space: 9, ...seeded }),
      ),
      { source: A, newAccount: B, base: C, seed: "seed", lamports: 7n, space: 9n, owner: D },
    ],
    [
      "transfer",
      parsedOf(SystemProgram.transfer({ fromPubkey: a, toPubkey: b, lamports: 2n ** 64n - 1n })),
      { source: A, destination: B, lamports: 18446744073709551615n },
    ],
    [
      "transferWithSeed",
      parsedOf(SystemProgram.transfer({ fromPubkey: a, toPubkey: b, lamports: 5, ...seeded })),
      { source: A, sourceBase: C, destination: B, lamports: 5n, sourceSeed: "seed", sourceOwner: D },
    ],
    ["assign", parsedOf(SystemProgram.assign({ accountPubkey: a, programId: b })), { account: A, owner: B }],
    [
      "assignWithSeed",
      parsedOf(SystemProgram.assign({ accountPubkey: a, ...seeded })),
      { account: A, base: C, seed: "seed", owner: D },
    ],
    ["allocate", parsedOf(SystemProgram.allocate({ accountPubkey: a, space: 11 })), { account: A, space: 11n }],
    [
      "allocateWithSeed",
      parsedOf(SystemProgram.allocate({ accountPubkey: a, space: 11, ...seeded })),
      { account: A, base: C, seed: "seed", space: 11n, owner: D },
    ],
    [
      "advanceNonce",
      parsedOf(SystemProgram.nonceAdvance({ noncePubkey: a, authorizedPubkey: b })),
      { nonceAccount: A, recentBlockhashesSysvar: sysvars.recentBlockhashes, nonceAuthority: B },
    ],
    [
      "withdrawFromNonce",
      parsedOf(SystemProgram.nonceWithdraw({ noncePubkey: a, authorizedPubkey: b, toPubkey: c, lamports: 3 })),
      {
        nonceAccount: A,
        destination: C,
        recentBlockhashesSysvar: sysvars.recentBlockhashes,
        rentSysvar: sysvars.rent,
        nonceAuthority: B,
        lamports: 3n,
      },
    ],
    [
      "initializeNonce",
      parsedOf(SystemProgram.nonceInitialize({ noncePubkey: a, authorizedPubkey: b })),
      {
        nonceAccount: A,
        recentBlockhashesSysvar: sysvars.recentBlockhashes,
        rentSysvar: sysvars.rent,
        nonceAuthority: B,
      },
    ],
    [
      "authorizeNonce",
      parsedOf(SystemProgram.nonceAuthorize({ noncePubkey: a, authorizedPubkey: b, newAuthorizedPubkey: c })),
      { nonceAccount: A, nonceAuthority: B, newAuthorized: C },
    ],
    ["upgradeNonce", parsedOfKit(getUpgradeNonceAccountInstruction({ nonceAccount: address(A) })), { nonceAccount: A }],
    [
      "createAccountAllowPrefund",
      parsedOfKit(
        getCreateAccountAllowPrefundInstruction({
          newAccount: createNoopSigner(address(A)),
          payer: createNoopSigner(address(B)),
          lamports: 4n,
          space: 5n,
          programAddress: address(C),
        }),
      ),
      { newAccount: A, source: B, lamports: 4n, space: 5n, owner: C },
    ],
    [
      "createAccountAllowPrefund",
      parsedOfParts(programs.system, [A], u32(13), u64(0n), u64(5n), raw(C)),
      { newAccount: A, space: 5n, owner: C },
    ],
  ];
  for (const [type, actual, info] of cases) {
    test(type, () => {
      expect(actual).toEqual(system(type, info));
    });
  }

  test("too few accounts, cut data, a foreign tag and no accounts at all leave it undecoded", () => {
    expect(parsedOfParts(programs.system, [A], u32(2), u64(5n))).toBeNull();
    expect(parsedOfParts(programs.system, [A, B], u32(2), u32(5))).toBeNull();
    expect(parsedOfParts(programs.system, [A, B], u32(14))).toBeNull();
    expect(parsedOfParts(programs.system, [], u32(12))).toBeNull();
  });

  test("bytes after the arguments do not matter", () => {
    expect(parsedOfParts(programs.system, [A, B, C], u32(2), u64(5n), u8(1, 2, 3))).toEqual(
      system("transfer", { source: A, destination: B, lamports: 5n }),
    );
  });
});
