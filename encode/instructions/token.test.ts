import { describe, expect, test } from "bun:test";
import { programs, sysvars } from "@sluice/wire/programs";
import * as spl from "@solana/spl-token";
import {
  createInitializeGroupInstruction,
  createInitializeMemberInstruction,
  createUpdateGroupAuthorityInstruction,
  createUpdateGroupMaxSizeInstruction,
} from "@solana/spl-token-group";
import {
  createEmitInstruction,
  createInitializeInstruction,
  createRemoveKeyInstruction,
  createUpdateAuthorityInstruction,
  createUpdateFieldInstruction,
} from "@solana/spl-token-metadata";
import { PublicKey, type TransactionInstruction } from "@solana/web3.js";
import { parsedOf, parsedOfParts, u8, u64 } from "../testing/instruction.ts";
import { A, a, B, b, C, c, D, d, E, e, F, f } from "../testing/keys.ts";

const token2022 = new PublicKey(programs.token2022);
const amount = { amount: "55" };
const shown = { uiAmount: 0.55, decimals: 2, amount: "55", uiAmountString: "0.55" };

function expectToken(built: TransactionInstruction, type: string, info: object): void {
  expect(parsedOf(built)).toEqual({ program: "spl-token", parsed: { type, info } });
}

describe("movements, by one owner and by a multisig", () => {
  const cases: [string, (owner: PublicKey, signers: PublicKey[]) => TransactionInstruction, object, string][] = [
    [
      "transfer",
      (owner, s) => spl.createTransferInstruction(a, b, owner, 55n, s),
      { source: A, destination: B, ...amount },
      "authority",
    ],
    [
      "approve",
      (owner, s) => spl.createApproveInstruction(a, b, owner, 55n, s),
      { source: A, delegate: B, ...amount },
      "owner",
    ],
    ["revoke", (owner, s) => spl.createRevokeInstruction(a, owner, s), { source: A }, "owner"],
    [
      "mintTo",
      (owner, s) => spl.createMintToInstruction(a, b, owner, 55n, s),
      { mint: A, account: B, ...amount },
      "mintAuthority",
    ],
    [
      "burn",
      (owner, s) => spl.createBurnInstruction(a, b, owner, 55n, s),
      { account: A, mint: B, ...amount },
      "authority",
    ],
    [
      "closeAccount",
      (owner, s) => spl.createCloseAccountInstruction(a, b, owner, s),
      { account: A, destination: B },
      "owner",
    ],
    [
      "freezeAccount",
      (owner, s) => spl.createFreezeAccountInstruction(a, b, owner, s),
      { account: A, mint: B },
      "freezeAuthority",
    ],
    [
      "thawAccount",
      (owner, s) => spl.createThawAccountInstruction(a, b, owner, s),
      { account: A, mint: B },
      "freezeAuthority",
    ],
    [
      "transferChecked",
      (owner, s) => spl.createTransferCheckedInstruction(a, b, c, owner, 55n, 2, s),
      { source: A, mint: B, destination: C, tokenAmount: shown },
      "authority",
    ],
    [
      "approveChecked",
      (owner, s) => spl.createApproveCheckedInstruction(a, b, c, owner, 55n, 2, s),
      { source: A, mint: B, delegate: C, tokenAmount: shown },
      "owner",
    ],
    [
      "mintToChecked",
      (owner, s) => spl.createMintToCheckedInstruction(a, b, owner, 55n, 2, s),
      { mint: A, account: B, tokenAmount: shown },
      "mintAuthority",
    ],
    [
      "burnChecked",
      (owner, s) => spl.createBurnCheckedInstruction(a, b, owner, 55n, 2, s),
      { account: A, mint: B, tokenAmount: shown },
      "authority",
    ],
    [
      "setAuthority",
      (owner, s) => spl.createSetAuthorityInstruction(a, owner, spl.AuthorityType.CloseAccount, b, s),
      { account: A, authorityType: "closeAccount", newAuthority: B },
      "authority",
    ],
  ];
  for (const [type, build, info, authority] of cases) {
    test(type, () => {
      const multisig = `multisig${authority.charAt(0).toUpperCase()}${authority.slice(1)}`;
      expectToken(build(d, []), type, { ...info, [authority]: D });
      expectToken(build(d, [e, f]), type, { ...info, [multisig]: D, signers: [E, F] });
      const built = build(d, []);
      built.keys.pop();
      expect(parsedOf(built)).toBeNull();
    });
  }

  test("a mint's authority that is given up is null under the mint", () => {
    const built = spl.createSetAuthorityInstruction(a, d, spl.AuthorityType.MintTokens, null);
    expectToken(built, "setAuthority", { mint: A, authorityType: "mintTokens", newAuthority: null, authority: D });
  });
  test("withdrawExcessLamports and unwrapLamports", () => {
    const named = { source: A, destination: B, authority: D };
    const parsed = (...parts: Uint8Array[]) => parsedOfParts(programs.token, [A, B, D], ...parts);
    const result = (type: string, info: object) => ({ program: "spl-token", parsed: { type, info } });
    expect(parsed(u8(38))).toEqual(result("withdrawExcessLamports", named));
    expect(parsed(u8(45, 0))).toEqual(result("unwrapLamports", named));
    expect(parsed(u8(45, 1), u64(7n))).toEqual(result("unwrapLamports", { ...named, amount: "7" }));
  });
});

describe("initialisation and control", () => {
  test("mints", () => {
    const info = { mint: A, decimals: 6, mintAuthority: B };
    const { rent } = sysvars;
    expectToken(spl.createInitializeMintInstruction(a, 6, b, c), "initializeMint", {
      ...info,
      freezeAuthority: C,
      rentSysvar: rent,
    });
    expectToken(spl.createInitializeMintInstruction(a, 6, b, null), "initializeMint", { ...info, rentSysvar: rent });
    expectToken(spl.createInitializeMint2Instruction(a, 6, b, c), "initializeMint2", { ...info, freezeAuthority: C });
  });
  test("accounts", () => {
    const info = { account: A, mint: B, owner: C };
    const rentSysvar = sysvars.rent;
    expectToken(spl.createInitializeAccountInstruction(a, b, c), "initializeAccount", { ...info, rentSysvar });
    expectToken(spl.createInitializeAccount2Instruction(a, b, c), "initializeAccount2", { ...info, rentSysvar });
    expectToken(spl.createInitializeAccount3Instruction(a, b, c), "initializeAccount3", info);
    const immutable = spl.createInitializeImmutableOwnerInstruction(a, token2022);
    expectToken(immutable, "initializeImmutableOwner", { account: A });
  });
  test("multisigs", () => {
    const info = { multisig: A, signers: [B, C], m: 2 };
    const rentSysvar = sysvars.rent;
    expectToken(spl.createInitializeMultisigInstruction(a, [b, c], 2), "initializeMultisig", { ...info, rentSysvar });
    expect(parsedOfParts(programs.token, [A, B, C], u8(19, 2))).toEqual({
      program: "spl-token",
      parsed: { type: "initializeMultisig2", info },
    });
  });
  test("amounts, sizes and the native mint", () => {
    expectToken(spl.createSyncNativeInstruction(a), "syncNative", { account: A });
    expectToken(spl.createAmountToUiAmountInstruction(a, 55n), "amountToUiAmount", { mint: A, amount: "55" });
    expectToken(spl.createUiAmountToAmountInstruction(a, "5.5"), "uiAmountToAmount", { mint: A, uiAmount: "5.5" });
    expectToken(spl.createCreateNativeMintInstruction(a), "createNativeMint", {
      payer: A,
      nativeMint: spl.NATIVE_MINT_2022.toBase58(),
      systemProgram: programs.system,
    });
    expect(parsedOfParts(programs.token, [A], u8(21))).toEqual({
      program: "spl-token",
      parsed: { type: "getAccountDataSize", info: { mint: A } },
    });
    expect(parsedOfParts(programs.token2022, [A], u8(21, 7, 0))).toEqual({
      program: "spl-token",
      parsed: { type: "getAccountDataSize", info: { mint: A, extensionTypes: ["immutableOwner"] } },
    });
  });
  test("a batch shows each packed instruction, and nothing when one does not fit", () => {
    const close = { type: "closeAccount", info: { account: A, destination: B, owner: C } };
    const sync = { type: "syncNative", info: { account: D } };
    const send = (...bytes: number[]) => parsedOfParts(programs.token, [A, B, C, D], u8(255, ...bytes));
    expect(send(3, 1, 9, 1, 1, 17)).toEqual({
      program: "spl-token",
      parsed: { type: "batch", info: { instructions: [close, sync] } },
    });
    expect(send(3, 1, 9, 2, 1, 17)).toBeNull();
    expect(send(3, 1, 255)).toBeNull();
  });
});

describe("extensions", () => {
  test("transfer fees", () => {
    const config = spl.createInitializeTransferFeeConfigInstruction(a, b, null, 42, 2121n);
    const fee = { transferFeeBasisPoints: 42, maximumFee: 2121n };
    expectToken(config, "initializeTransferFeeConfig", { mint: A, transferFeeConfigAuthority: B, ...fee });
    const transfer = spl.createTransferCheckedWithFeeInstruction(a, b, c, d, 55n, 2, 5n);
    const feeAmount = { uiAmount: 0.05, decimals: 2, amount: "5", uiAmountString: "0.05" };
    const moved = { source: A, mint: B, destination: C, tokenAmount: shown, feeAmount };
    expectToken(transfer, "transferCheckedWithFee", { ...moved, authority: D });
    const withdrawer = { withdrawWithheldAuthority: C };
    expectToken(spl.createWithdrawWithheldTokensFromMintInstruction(a, b, c), "withdrawWithheldTokensFromMint", {
      mint: A,
      feeRecipient: B,
      ...withdrawer,
    });
    expectToken(
      spl.createWithdrawWithheldTokensFromAccountsInstruction(a, b, c, [e], [d, f]),
      "withdrawWithheldTokensFromAccounts",
      { mint: A, feeRecipient: B, sourceAccounts: [D, F], multisigWithdrawWithheldAuthority: C, signers: [E] },
    );
    expectToken(spl.createHarvestWithheldTokensToMintInstruction(a, [b, c]), "harvestWithheldTokensToMint", {
      mint: A,
      sourceAccounts: [B, C],
    });
    expectToken(spl.createSetTransferFeeInstruction(a, b, [], 42, 2121n), "setTransferFee", {
      mint: A,
      ...fee,
      transferFeeConfigAuthority: B,
    });
  });
  test("account states, memos and the guard", () => {
    const frozen = spl.createInitializeDefaultAccountStateInstruction(a, spl.AccountState.Frozen);
    expectToken(frozen, "initializeDefaultAccountState", { mint: A, accountState: "frozen" });
    const update = spl.createUpdateDefaultAccountStateInstruction(a, spl.AccountState.Initialized, b);
    const info = { mint: A, accountState: "initialized", freezeAuthority: B };
    expectToken(update, "updateDefaultAccountState", info);
    const owned = { account: A, owner: B };
    expectToken(spl.createEnableRequiredMemoTransfersInstruction(a, b), "enableRequiredMemoTransfers", owned);
    expectToken(spl.createDisableRequiredMemoTransfersInstruction(a, b), "disableRequiredMemoTransfers", owned);
    expectToken(spl.createEnableCpiGuardInstruction(a, b), "enableCpiGuard", owned);
    expectToken(spl.createDisableCpiGuardInstruction(a, b), "disableCpiGuard", owned);
  });
  test("closing, delegation, non-transferability and reallocation", () => {
    const close = spl.createInitializeMintCloseAuthorityInstruction(a, b, token2022);
    expectToken(close, "initializeMintCloseAuthority", { mint: A, newAuthority: B });
    const delegate = spl.createInitializePermanentDelegateInstruction(a, b, token2022);
    expectToken(delegate, "initializePermanentDelegate", { mint: A, delegate: B });
    const bound = spl.createInitializeNonTransferableMintInstruction(a, token2022);
    expectToken(bound, "initializeNonTransferableMint", { mint: A });
    const types = [spl.ExtensionType.TransferFeeAmount, spl.ExtensionType.MemoTransfer];
    expectToken(spl.createReallocateInstruction(a, b, types, c), "reallocate", {
      account: A,
      payer: B,
      systemProgram: programs.system,
      extensionTypes: ["transferFeeAmount", "memoTransfer"],
      owner: C,
    });
  });
  test("interest and scaling", () => {
    const interest = spl.createInitializeInterestBearingMintInstruction(a, b, -5);
    expectToken(interest, "initializeInterestBearingConfig", { mint: A, rateAuthority: B, rate: -5 });
    const rate = spl.createUpdateRateInterestBearingMintInstruction(a, b, 12);
    // This encoder lists the authority once more as a signer, which makes it look like a multisig.
    const authority = { multisigRateAuthority: B, signers: [B] };
    expectToken(rate, "updateInterestBearingConfigRate", { mint: A, newRate: 12, ...authority });
    const scale = spl.createInitializeScaledUiAmountConfigInstruction(a, b, 1.5);
    expectToken(scale, "initializeScaledUiAmountConfig", { mint: A, authority: B, multiplier: "1.5" });
    expectToken(spl.createUpdateMultiplierDataInstruction(a, b, 2, 77n), "updateMultiplier", {
      mint: A,
      newMultiplier: "2",
      newMultiplierTimestamp: 77n,
      authority: B,
    });
  });
  test("pointers and hooks", () => {
    const both = { mint: A, authority: B };
    const hook = spl.createInitializeTransferHookInstruction(a, b, c, token2022);
    expectToken(hook, "initializeTransferHook", { ...both, programId: C });
    const updateHook = spl.createUpdateTransferHookInstruction(a, b, c);
    expectToken(updateHook, "updateTransferHook", { ...both, programId: C });
    const metadata = spl.createInitializeMetadataPointerInstruction(a, b, c, token2022);
    expectToken(metadata, "initializeMetadataPointer", { ...both, metadataAddress: C });
    expectToken(spl.createUpdateMetadataPointerInstruction(a, b, c), "updateMetadataPointer", {
      ...both,
      metadataAddress: C,
    });
    const group = spl.createInitializeGroupPointerInstruction(a, b, c, token2022);
    expectToken(group, "initializeGroupPointer", { ...both, groupAddress: C });
    expectToken(spl.createUpdateGroupPointerInstruction(a, b, c), "updateGroupPointer", { ...both, groupAddress: C });
    const member = spl.createInitializeGroupMemberPointerInstruction(a, null, c, token2022);
    expectToken(member, "initializeGroupMemberPointer", { mint: A, memberAddress: C });
    const updateMember = spl.createUpdateGroupMemberPointerInstruction(a, b, c);
    expectToken(updateMember, "updateGroupMemberPointer", { ...both, memberAddress: C });
  });
  test("pausing", () => {
    const both = { mint: A, authority: B };
    expectToken(spl.createInitializePausableConfigInstruction(a, b), "initializePausableConfig", both);
    expectToken(spl.createPauseInstruction(a, b), "pause", both);
    expectToken(spl.createResumeInstruction(a, b), "resume", both);
  });
});

describe("interfaces", () => {
  const programId = token2022;
  const update = { programId, metadata: a, updateAuthority: b };
  const updated = { metadata: A, updateAuthority: B };

  test("token metadata", () => {
    const words = { name: "Mega Token", symbol: "MEGA", uri: "https://mega.example" };
    const created = createInitializeInstruction({ ...update, mint: c, mintAuthority: d, ...words });
    expectToken(created, "initializeTokenMetadata", { ...updated, mint: C, mintAuthority: D, ...words });
    const known = createUpdateFieldInstruction({ ...update, field: "Uri", value: "ü" });
    expectToken(known, "updateTokenMetadataField", { ...updated, field: "uri", value: "ü" });
    const own = createUpdateFieldInstruction({ ...update, field: "colour", value: "red" });
    expectToken(own, "updateTokenMetadataField", { ...updated, field: "colour", value: "red" });
    const removed = createRemoveKeyInstruction({ ...update, key: "colour", idempotent: true });
    expectToken(removed, "removeTokenMetadataKey", { ...updated, key: "colour", idempotent: true });
    const passedOn = createUpdateAuthorityInstruction({
      programId,
      metadata: a,
      oldAuthority: b,
      newAuthority: null,
    });
    expectToken(passedOn, "updateTokenMetadataAuthority", { ...updated, newAuthority: null });
    const emitted = createEmitInstruction({ programId, metadata: a, start: 1n });
    expectToken(emitted, "emitTokenMetadata", { metadata: A, start: 1n });
  });
  test("token groups", () => {
    const group = { group: A, mint: B, mintAuthority: C };
    const created = createInitializeGroupInstruction({
      programId,
      group: a,
      mint: b,
      mintAuthority: c,
      updateAuthority: null,
      maxSize: 300n,
    });
    expectToken(created, "initializeTokenGroup", { ...group, updateAuthority: null, maxSize: 300n });
    const grown = createUpdateGroupMaxSizeInstruction({ programId, group: a, updateAuthority: b, maxSize: 500n });
    expectToken(grown, "updateTokenGroupMaxSize", { group: A, updateAuthority: B, maxSize: 500n });
    const authorities = { currentAuthority: b, newAuthority: c };
    const passedOn = createUpdateGroupAuthorityInstruction({ programId, group: a, ...authorities });
    expectToken(passedOn, "updateTokenGroupAuthority", { group: A, updateAuthority: B, newAuthority: C });
    const member = { member: a, memberMint: b, memberMintAuthority: c, group: d, groupUpdateAuthority: e };
    expectToken(createInitializeMemberInstruction({ programId, ...member }), "initializeTokenGroupMember", {
      member: A,
      memberMint: B,
      memberMintAuthority: C,
      group: D,
      groupUpdateAuthority: E,
    });
  });
});

describe("associated token account and memo", () => {
  const program = "spl-associated-token-account";
  const members = { source: A, account: B, wallet: C, mint: D, systemProgram: programs.system };
  const named = { ...members, tokenProgram: programs.token };

  test("create, createIdempotent and recoverNested", () => {
    expect(parsedOf(spl.createAssociatedTokenAccountInstruction(a, b, c, d))).toEqual({
      program,
      parsed: { type: "create", info: named },
    });
    expect(parsedOf(spl.createAssociatedTokenAccountIdempotentInstruction(a, b, c, d))).toEqual({
      program,
      parsed: { type: "createIdempotent", info: named },
    });
    expect(parsedOf(spl.createRecoverNestedInstruction(a, b, c, d, e, f))).toEqual({
      program,
      parsed: {
        type: "recoverNested",
        info: {
          nestedSource: A,
          nestedMint: B,
          destination: C,
          nestedOwner: D,
          ownerMint: E,
          wallet: F,
          tokenProgram: programs.token,
        },
      },
    });
  });
  test("a memo is its text, with or without signers; bytes that are no text stay undecoded", () => {
    const text = Buffer.from("schöner Gruß 🦖");
    const expected = { program: "spl-memo", parsed: "schöner Gruß 🦖" };
    expect(parsedOfParts(programs.memo, [], text)).toEqual(expected);
    expect(parsedOfParts(programs.memoV1, [A], text)).toEqual(expected);
    expect(parsedOfParts(programs.memo, [A], u8(0x80))).toBeNull();
  });
});
