import { decodeValidatorInfo, validatorInfoKey } from "@sluice/wire/accounts/validator-info";
import { programs } from "@sluice/wire/programs";
import { type ChainValue, memberOf } from "../chain/index.ts";
import { malformedAnswer, type StakePoolChain } from "./account-reads.ts";

/** Reads what validators call themselves, by identity. Of an identity that said it twice any one is taken. */
export async function readValidatorNames(chain: StakePoolChain): Promise<ReadonlyMap<string, string>> {
  const method = "getProgramAccounts";
  const filters = [{ memcmp: { offset: 1, bytes: validatorInfoKey } }];
  const answer = await chain.read(method, [programs.config, { encoding: "base64", filters }]);
  if (!Array.isArray(answer)) throw malformedAnswer(method);
  const names = new Map<string, string>();
  for (const row of answer as readonly ChainValue[]) {
    const data = memberOf(memberOf(row, "account"), "data");
    const [text] = Array.isArray(data) ? data : [];
    const info = typeof text === "string" ? decodeValidatorInfo(Uint8Array.fromBase64(text)) : null;
    if (info !== null && info.name !== "") names.set(info.identity, info.name);
  }
  return names;
}
