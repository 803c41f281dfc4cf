import { decodeTokenAccount } from "@sluice/wire/accounts/token";
import { answerOf, type RpcStand } from "../../rpc/testing/rpc-stand.ts";
import type { Accounts } from "./asset-accounts.ts";

/** The slot of every answer. */
export const nodeSlot = 77;

/** Has the nodes of a stand show these accounts, by the calls that read assets and token accounts. */
export function showAccounts(rpc: RpcStand, accounts: Accounts): void {
  const withContext = (value: unknown) =>
    answerOf(JSON.stringify({ context: { slot: nodeSlot }, value }), { contextSlot: BigInt(nodeSlot) });
  const shown = (address: string): object | null => {
    const account = accounts.get(address);
    if (account === undefined) return null;
    const { program, data } = account;
    return { owner: program, data: [Buffer.from(data).toString("base64"), "base64"], lamports: 1, executable: false };
  };
  rpc.respond = ({ method, params }) => {
    const [first, filter] = JSON.parse(params ?? "[]");
    if (method === "getMultipleAccounts") return withContext(first.map(shown));
    const held = [...accounts].flatMap(([address, { program, data }]) => {
      const decoded = decodeTokenAccount(data);
      return decoded === null ? [] : [{ address, program, decoded }];
    });
    if (method === "getTokenLargestAccounts") {
      const ofMint = held.filter(({ decoded }) => decoded.mint === first);
      return withContext(ofMint.map(({ address, decoded }) => ({ address, amount: `${decoded.amount}`, decimals: 0 })));
    }
    if (method === "getTokenAccountsByOwner") {
      const isAsked = ({ decoded, program }: (typeof held)[number]): boolean =>
        filter.mint === undefined ? program === filter.programId : decoded.mint === filter.mint;
      const ofOwner = held.filter((each) => each.decoded.owner === first && isAsked(each));
      return withContext(ofOwner.map(({ address }) => ({ pubkey: address, account: shown(address) })));
    }
    if (method === "getProgramAccounts") {
      const ofMint = filter.filters.flatMap(({ memcmp }: { memcmp?: { bytes: string } }) => memcmp?.bytes ?? []);
      const ofProgram = held.filter(({ decoded, program }) => program === first && ofMint.includes(decoded.mint));
      return withContext(ofProgram.map(({ address }) => ({ pubkey: address, account: shown(address) })));
    }
    throw new RangeError(`nobody is asked for ${method}`);
  };
}
