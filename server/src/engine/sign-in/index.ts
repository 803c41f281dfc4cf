/**
 * sign-in: how validators and searchers of Jito's protocols identify themselves: a challenge, signed with their key,
 * earns an access token that each call carries. Fed by clients; feeds the services of both protocols with a public key,
 * and with the account that a public key is linked to.
 */
export { LinkedAccounts } from "./linked-accounts.ts";
export { createSignIn } from "./sign-in.ts";
export { type Bearers, seedOf, tokenKeysOf, tokenSeed } from "./tokens.ts";
