import { describe, expect, test } from "bun:test";
import { programs } from "@sluice/wire/programs";
import * as spl from "@solana/spl-token";
import type { PublicKey } from "@solana/web3.js";
import { i64, u8, u16, u32, u64 } from "../testing/instruction.ts";
import { A, a, B, b, C, c, D, d, raw } from "../testing/keys.ts";
import { bytesOf, chainAccount, presented } from "../testing/layout.ts";
import { mintTokenAmount } from "./token.ts";

function mintData(decimals: number, freezeAuthority: PublicKey | null = null): Uint8Array {
  const data = Buffer.alloc(spl.MINT_SIZE);
  spl.MintLayout.encode(
    {
      mintAuthorityOption: 1,
      mintAuthority: b,
      supply: 18446744073709551615n,
      decimals,
      isInitialized: true,
      freezeAuthorityOption: freezeAuthority === null ? 0 : 1,
      freezeAuthority: freezeAuthority ?? a,
    },
    data,
  );
  return new Uint8Array(data);
}

function accountData(change: Partial<Parameters<typeof spl.AccountLayout.encode>[0]> = {}): Uint8Array {
  const data = Buffer.alloc(spl.ACCOUNT_SIZE);
  spl.AccountLayout.encode(
    {
      mint: a,
      owner: b,
      amount: 1_234_500n,
      delegateOption: 0,
      delegate: c,
      state: spl.AccountState.Initialized,
      isNativeOption: 0,
      isNative: 0n,
      delegatedAmount: 0n,
      closeAuthorityOption: 0,
      closeAuthority: d,
      ...change,
    },
    data,
  );
  return new Uint8Array(data);
}

const amount = (text: string, raw: string) => ({
  uiAmount: Number(text),
  decimals: 6,
  amount: raw,
  uiAmountString: text,
});

describe("the first token program", () => {
  const token = (type: string, info: object, space: bigint) => ({
    program: "spl-token",
    parsed: { type, info },
    space,
  });
  const plain = { mint: A, owner: B, tokenAmount: amount("1.2345", "1234500"), state: "initialized", isNative: false };

  test("a plain account shows no option that is not set", () => {
    expect(presented(accountData(), programs.token, { mint: mintData(6) })).toEqual(token("account", plain, 165n));
  });

  test("delegate, native reserve, close authority and frozen state are shown where they are", () => {
    const data = accountData({
      delegateOption: 1,
      delegatedAmount: 500_000n,
      closeAuthorityOption: 1,
      isNativeOption: 1,
      isNative: 2_039_280n,
      state: spl.AccountState.Frozen,
    });
    const info = {
      ...plain,
      delegate: C,
      state: "frozen",
      isNative: true,
      rentExemptReserve: amount("2.03928", "2039280"),
      delegatedAmount: amount("0.5", "500000"),
      closeAuthority: D,
    };
    expect(presented(data, programs.token, { mint: mintData(6) })).toEqual(token("account", info, 165n));
  });

  test("without its mint, or uninitialised, an account stays bytes", () => {
    const unparsed = (data: Uint8Array) => [Buffer.from(data).toString("base64"), "base64"];
    expect(presented(accountData(), programs.token, { mint: null })).toEqual(unparsed(accountData()));
    const empty = accountData({ state: spl.AccountState.Uninitialized });
    expect(presented(empty, programs.token, { mint: mintData(6) })).toEqual(unparsed(empty));
  });

  test("a mint shows its supply as text and its authorities or null", () => {
    const info = {
      mintAuthority: B,
      supply: "18446744073709551615",
      decimals: 9,
      isInitialized: true,
      freezeAuthority: null,
    };
    expect(presented(mintData(9), programs.token)).toEqual(token("mint", info, 82n));
    expect(presented(mintData(9, c), programs.token)).toEqual(token("mint", { ...info, freezeAuthority: C }, 82n));
  });

  test("a multisig shows the signers that it has", () => {
    const data = Buffer.alloc(spl.MULTISIG_SIZE);
    const unused = { signer4: a, signer5: a, signer6: a, signer7: a, signer8: a, signer9: a, signer10: a, signer11: a };
    spl.MultisigLayout.encode({ m: 2, n: 3, isInitialized: true, signer1: b, signer2: c, signer3: d, ...unused }, data);
    data.fill(0, 3 + 3 * 32);
    const info = { numRequiredSigners: 2, numValidSigners: 3, isInitialized: true, signers: [B, C, D] };
    expect(presented(new Uint8Array(data), programs.token)).toEqual(token("multisig", info, 355n));
  });
});

describe("Token-2022", () => {
  const extension = (type: number, ...parts: Uint8Array[]) => {
    const value = bytesOf(parts);
    return bytesOf([u16(type), u16(value.length), value]);
  };
  const mintWith = (...extensions: Uint8Array[]) => bytesOf([bytesOf([mintData(2)], 165), u8(1), ...extensions]);
  const accountWith = (...extensions: Uint8Array[]) => bytesOf([accountData(), u8(2), ...extensions]);
  const extensionsOf = (data: Uint8Array, mint?: Uint8Array) =>
    (
      presented(data, programs.token2022, { mint: mint ?? mintData(2) }) as {
        parsed: { info: { extensions?: unknown } };
      }
    ).parsed.info.extensions;
  const none = new Uint8Array(32);
  const text = (value: string) => bytesOf([u32(Buffer.byteLength(value)), Buffer.from(value)]);

  test("the program has its own name, and no list without extensions", () => {
    const shown = presented(mintData(2), programs.token2022);
    expect(shown).toMatchObject({ program: "spl-token-2022", parsed: { type: "mint" } });
    expect(extensionsOf(mintData(2))).toBeUndefined();
  });

  test("the extensions of a mint", () => {
    const fee = (epoch: bigint, maximum: bigint, points: number) => [u64(epoch), u64(maximum), u16(points)];
    const data = mintWith(
      extension(1, raw(A), none, u64(5n), ...fee(1n, 2n, 3), ...fee(4n, 2n ** 64n - 1n, 6)),
      extension(3, raw(B)),
      extension(6, u8(2)),
      extension(9),
      extension(12, none),
      extension(14, raw(A), raw(B)),
      extension(18, none, raw(C)),
      extension(19, raw(A), raw(B), text("Mega"), text("M"), text("u"), u32(1), text("k"), text("ü")),
      extension(20, raw(A), raw(B)),
      extension(21, none, raw(A), u64(1n), u64(9n)),
      extension(22, raw(A), raw(B)),
      extension(23, raw(A), raw(B), u64(3n)),
      extension(26, raw(D), u8(1)),
      extension(28, raw(D)),
    );
    const olderTransferFee = { epoch: 1n, maximumFee: 2n, transferFeeBasisPoints: 3 };
    const newerTransferFee = { epoch: 4n, maximumFee: 18446744073709551615n, transferFeeBasisPoints: 6 };
    const authorities = { transferFeeConfigAuthority: A, withdrawWithheldAuthority: null };
    const words = { name: "Mega", symbol: "M", uri: "u", additionalMetadata: [["k", "ü"]] };
    expect(extensionsOf(data)).toEqual([
      {
        extension: "transferFeeConfig",
        state: { ...authorities, withheldAmount: 5n, olderTransferFee, newerTransferFee },
      },
      { extension: "mintCloseAuthority", state: { closeAuthority: B } },
      { extension: "defaultAccountState", state: { accountState: "frozen" } },
      { extension: "nonTransferable" },
      { extension: "permanentDelegate", state: { delegate: null } },
      { extension: "transferHook", state: { authority: A, programId: B } },
      { extension: "metadataPointer", state: { authority: null, metadataAddress: C } },
      { extension: "tokenMetadata", state: { updateAuthority: A, mint: B, ...words } },
      { extension: "groupPointer", state: { authority: A, groupAddress: B } },
      { extension: "tokenGroup", state: { updateAuthority: null, mint: A, size: 1n, maxSize: 9n } },
      { extension: "groupMemberPointer", state: { authority: A, memberAddress: B } },
      { extension: "tokenGroupMember", state: { mint: A, group: B, memberNumber: 3n } },
      { extension: "pausableConfig", state: { authority: D, paused: true } },
      { extension: "permissionedBurnConfig", state: { authority: D } },
    ]);
  });

  test("the confidential extensions of a mint show keys and ciphertexts as base64", () => {
    const zeros = (length: number) => Buffer.alloc(length).toString("base64");
    const data = mintWith(
      extension(4, raw(A), u8(1), none),
      extension(16, none, raw(A), u8(0), new Uint8Array(64)),
      extension(24, new Uint8Array(196)),
    );
    const key = Buffer.from(raw(A)).toString("base64");
    expect(extensionsOf(data)).toEqual([
      {
        extension: "confidentialTransferMint",
        state: { authority: A, autoApproveNewAccounts: true, auditorElgamalPubkey: null },
      },
      {
        extension: "confidentialTransferFeeConfig",
        state: {
          authority: null,
          withdrawWithheldAuthorityElgamalPubkey: key,
          harvestToMintEnabled: false,
          withheldAmount: zeros(64),
        },
      },
      {
        extension: "confidentialMintBurn",
        state: {
          confidentialSupply: zeros(64),
          decryptableSupply: zeros(36),
          supplyElgamalPubkey: zeros(32),
          pendingBurn: zeros(64),
        },
      },
    ]);
  });

  test("the extensions of an account", () => {
    const data = accountWith(
      extension(2, u64(7n)),
      extension(7),
      extension(8, u8(1)),
      extension(11, u8(0)),
      extension(13),
      extension(15, u8(1)),
      extension(17, new Uint8Array(64)),
      extension(27),
    );
    expect(extensionsOf(data)).toEqual([
      { extension: "transferFeeAmount", state: { withheldAmount: 7n } },
      { extension: "immutableOwner" },
      { extension: "memoTransfer", state: { requireIncomingTransferMemos: true } },
      { extension: "cpiGuard", state: { lockCpi: false } },
      { extension: "nonTransferableAccount" },
      { extension: "transferHookAccount", state: { transferring: true } },
      { extension: "confidentialTransferFeeAmount", state: { withheldAmount: Buffer.alloc(64).toString("base64") } },
      { extension: "pausableAccount" },
    ]);
  });

  test("an extension on the wrong kind of account is named unparseable", () => {
    expect(extensionsOf(accountWith(extension(3, raw(A))))).toEqual([{ extension: "unparseableExtension" }]);
  });

  test("amounts follow the mint's interest or scale at the time of the bank", () => {
    const interest = mintWith(extension(10, none, i64(0n), u16(0), i64(0n), u16(1000)));
    const shown = presented(accountData(), programs.token2022, { mint: interest, unixTimestamp: 31_556_736n });
    const expected = (12_345 * Math.exp(0.1)).toFixed(2);
    expect(shown).toMatchObject({ parsed: { info: { tokenAmount: { amount: "1234500", uiAmountString: expected } } } });
    const f64 = (value: number) => new Uint8Array(new Float64Array([value]).buffer);
    const scale = mintWith(extension(25, none, f64(2), i64(100n), f64(3)));
    const scaled = chainAccount(scale, programs.token2022);
    expect(mintTokenAmount(100n, scaled, 99n)?.uiAmountString).toBe("2");
    expect(mintTokenAmount(100n, scaled, 100n)?.uiAmountString).toBe("3");
    expect(extensionsOf(scale)).toEqual([
      {
        extension: "scaledUiAmountConfig",
        state: { authority: null, multiplier: "2", newMultiplierEffectiveTimestamp: 100n, newMultiplier: "3" },
      },
    ]);
    expect(mintTokenAmount(100n, chainAccount(accountData(), programs.token), 0n)).toBeNull();
  });
});
