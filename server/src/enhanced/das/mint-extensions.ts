import type { JsonObject, JsonValue } from "@sluice/encode";
import {
  decodeInterestBearingConfig,
  decodeMetadataPointer,
  decodeTokenMetadata,
  decodeTransferFeeConfig,
  type TransferFee,
} from "@sluice/wire/accounts/token-extensions";
import { nonZeroAddressAt } from "@sluice/wire/bytes";
import type { AssetToken } from "../assets/asset.ts";

type Decode = (value: Uint8Array) => JsonValue;

const fee = ({ epoch, maximumFee, basisPoints }: TransferFee): JsonObject => ({
  epoch,
  maximum_fee: maximumFee,
  transfer_fee_basis_points: basisPoints,
});

const pointer =
  (target: string): Decode =>
  (value) => {
    const decoded = decodeMetadataPointer(value);
    return decoded === null ? null : { authority: decoded.authority, [target]: decoded.address };
  };

const states = ["uninitialized", "initialized", "frozen"] as const;

/** Extensions of a mint by the names of DAS. Those that are not here are not told. */
const decoders: Readonly<Record<string, readonly [name: string, decode: Decode]>> = {
  transferFeeConfig: [
    "transfer_fee_config",
    (value) => {
      const decoded = decodeTransferFeeConfig(value);
      return decoded === null
        ? null
        : {
            transfer_fee_config_authority: decoded.configAuthority,
            withdraw_withheld_authority: decoded.withdrawWithheldAuthority,
            withheld_amount: decoded.withheldAmount,
            older_transfer_fee: fee(decoded.older),
            newer_transfer_fee: fee(decoded.newer),
          };
    },
  ],
  metadataPointer: ["metadata_pointer", pointer("metadata_address")],
  transferHook: ["transfer_hook", pointer("program_id")],
  groupPointer: ["group_pointer", pointer("group_address")],
  groupMemberPointer: ["group_member_pointer", pointer("member_address")],
  mintCloseAuthority: ["mint_close_authority", (value) => ({ close_authority: nonZeroAddressAt(value, 0) })],
  permanentDelegate: ["permanent_delegate", (value) => ({ delegate: nonZeroAddressAt(value, 0) })],
  defaultAccountState: ["default_account_state", (value) => ({ state: states[value[0] ?? 0] ?? "uninitialized" })],
  interestBearingConfig: [
    "interest_bearing_config",
    (value) => {
      const decoded = decodeInterestBearingConfig(value);
      return decoded === null
        ? null
        : {
            rate_authority: decoded.rateAuthority,
            initialization_timestamp: decoded.initializedAt,
            pre_update_average_rate: decoded.preUpdateAverageRate,
            last_update_timestamp: decoded.lastUpdatedAt,
            current_rate: decoded.currentRate,
          };
    },
  ],
  tokenMetadata: [
    "metadata",
    (value) => {
      const decoded = decodeTokenMetadata(value);
      if (decoded === null) return null;
      const { name, symbol, uri, mint, updateAuthority } = decoded;
      const additional = decoded.additional.map(([key, text]) => ({ key, value: text }));
      return { updateAuthority, mint, name, symbol, uri, additionalMetadata: additional };
    },
  ],
};

/** The extensions of a mint that DAS tells of; null for a mint without any. */
export function mintExtensionsOf(token: AssetToken | null): JsonObject | null {
  const told = (token?.extensions ?? []).flatMap(({ name, value }) => {
    const decoder = decoders[name];
    const decoded = decoder?.[1](value) ?? null;
    return decoder === undefined || decoded === null ? [] : [[decoder[0], decoded] as const];
  });
  return told.length === 0 ? null : Object.fromEntries(told);
}
