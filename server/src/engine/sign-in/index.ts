/**
 * sign-in: how validators and searchers of Jito's protocols prove who they are: a challenge, signed with their key, buys
 * an access token that each call carries. Fed by clients; feeds both of those protocols' services with a public key.
 */
import { protoFiles } from "@sluice/contract/proto";
import type { Clock, Random } from "@sluice/lib";
import type { Address } from "@sluice/wire/identifiers";
import type { RateLimiter } from "../../limits/index.ts";
import { type CallHost, type GrpcService, loadService, unary } from "../calls/index.ts";
import { Challenges } from "./challenges.ts";
import { SignIn } from "./sign-in.ts";
import { type Bearers, bearersOf, type TokenKeys, Tokens } from "./tokens.ts";

export type { Bearers } from "./tokens.ts";
export { type SignedIn, type TokenKeys, tokenKeysOf } from "./tokens.ts";

export interface SignInServiceDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: RateLimiter;
  readonly host: CallHost;
  readonly mayValidate: (identity: Address) => boolean;
}

/** `auth.AuthService`, and what reads the tokens that it grants. */
export function createSignIn(
  keys: TokenKeys,
  dependencies: SignInServiceDependencies,
): { readonly service: GrpcService; readonly bearers: Bearers } {
  const { clock, random, limits, host, mayValidate } = dependencies;
  const tokens = new Tokens(keys, { clock });
  const signIn = new SignIn({ challenges: new Challenges({ clock, random }), tokens, limits, mayValidate });
  return {
    bearers: bearersOf(tokens),
    service: {
      definition: loadService(protoFiles.auth, "auth.AuthService"),
      implementation: {
        GenerateAuthChallenge: unary(host, signIn.challenge.bind(signIn)),
        GenerateAuthTokens: unary(host, signIn.tokens.bind(signIn)),
        RefreshAccessToken: unary(host, signIn.refresh.bind(signIn)),
      },
    },
  };
}
