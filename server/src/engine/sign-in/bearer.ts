import { bearerToken } from "../../http/index.ts";
import { type CallContext, CallFault, type FaultStatus } from "../calls/index.ts";
import type { SignedIn, SignInRole, Tokens } from "./tokens.ts";

/** What tells who made a call of Jito's protocols. The texts are those that their clients know. */
export interface Bearers {
  /** Whose access token the call carries. Throws PERMISSION_DENIED where it is none of this role; `missing` where there is none. */
  signedIn(context: CallContext, role: SignInRole, missing: FaultStatus): Promise<SignedIn>;
}

export function bearersOf(tokens: Tokens): Bearers {
  return {
    signedIn: async (context, role, missing) => {
      const header = context.headers.get("authorization");
      if (header === null) throw new CallFault(missing, "The authorization header is missing.");
      const token = bearerToken(header);
      if (token === null) {
        throw new CallFault("PERMISSION_DENIED", "Invalid authorization header format. It is `Bearer <token>`.");
      }
      const found = await tokens.verify("access", token);
      if (typeof found === "string" || found.role !== role) {
        throw new CallFault("PERMISSION_DENIED", "Token failed verification.");
      }
      return found;
    },
  };
}
