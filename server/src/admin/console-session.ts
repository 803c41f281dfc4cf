import { SluiceError } from "@sluice/contract/errors";
import type { Permission } from "@sluice/contract/tiers";
import { type Clock, compileAddressSet } from "@sluice/lib";
import type { Context } from "hono";
import type { Access } from "../access/index.ts";
import { bearerToken, type RestEnvironment } from "../http/index.ts";
import { type Grant, grantOf, type KeyRefusal } from "../keys/index.ts";
import { hashSessionToken, type State } from "../state/index.ts";
import { grantedOrThrow, takeRequest } from "./admin-access.ts";

/** A request and the socket that it came over. */
export interface ConsoleCaller {
  readonly request: Request;
  readonly socketAddress: string;
}

/** Who looks: an account, and whether by a key that operates the server. */
export interface ConsoleViewer {
  readonly accountId: string;
  /** Absent where no key was asked for. */
  readonly keyId?: string;
  readonly operates: boolean;
  /** False on a development machine, whose owner needs no session and so has none to end. */
  readonly signedIn: boolean;
}

export interface ConsoleSessionDependencies {
  readonly state: {
    readonly sessions: State["sessions"];
    readonly keys: Pick<State["keys"], "get">;
    readonly accounts: Pick<State["accounts"], "get">;
  };
  readonly clock: Clock;
  /** Access to the network that the console shows. */
  readonly access: Pick<Access, "admit" | "admitted" | "callerOf" | "isOverTls" | "meter">;
  /**
   * The account that a browser on this machine sees without signing in; null where there is none. Only a development
   * server has one.
   */
  readonly openAccount: () => string | null;
}

/** Who opened a session. */
interface SessionHolder {
  readonly keyId: string | null;
  readonly accountId: string;
}

/** What the owner of a development machine may do: all of the account, without a key. */
const ownerKey = {
  id: "",
  permissions: ["admin"],
  methods: [],
  restrictions: { networks: [], domains: [], ipRanges: [] },
  requestsPerSecond: null,
  enhanced: true,
  enhancedRequestsPerSecond: null,
  expiresAt: null,
} as const satisfies Omit<Parameters<typeof grantOf>[0], "accountId">;

const cookieName = "sluice_session";
const lifeMs = 7 * 24 * 3_600_000;
/** What the console needs of a key. */
const readPermission: readonly Permission[] = ["read"];
const loopbackHosts = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;
const loopbackAddresses = compileAddressSet(["127.0.0.0/8", "::1"]);
/** What a proxy adds; a browser on this machine that comes by itself sends none of them. */
const proxyHeaders = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"];

/** Who looks at the console: by key, by cookie, and on a development server by being on this machine. */
export class ConsoleSessions {
  readonly #publicUrl: string | null;
  readonly #dependencies: ConsoleSessionDependencies;

  constructor(options: { readonly publicUrl: string | null }, dependencies: ConsoleSessionDependencies) {
    this.#publicUrl = options.publicUrl;
    this.#dependencies = dependencies;
  }

  /**
   * Who looks, by a key in a header, as a program sends it, else by the session's cookie; takes one request of the
   * key's rate. A development machine's owner operates it, and has no rate.
   *
   * @throws {SluiceError} INVALID_API_KEY when neither opens an account, or the code that refuses the key
   */
  async admit(context: Context<RestEnvironment>): Promise<ConsoleViewer> {
    const { viewer, grant } = await this.#look(context);
    if (grant !== null) await takeRequest(this.#dependencies.access, context, grant);
    return viewer;
  }

  /** The same for what changes or costs something: from a page of this origin alone. */
  async admitChange(context: Context<RestEnvironment>): Promise<ConsoleViewer> {
    requireSameOrigin(context.req.raw, this.#publicUrl);
    return await this.admit(context);
  }

  /** As `admit`, or for what is no reading as `admitChange`; with what the key may do, null for a machine's owner. */
  async admitKey(context: Context<RestEnvironment>): Promise<{ accountId: string; grant: Grant | null }> {
    const { method } = context.req;
    if (method !== "GET" && method !== "HEAD") requireSameOrigin(context.req.raw, this.#publicUrl);
    const { viewer, grant } = await this.#look(context);
    if (grant !== null) await takeRequest(this.#dependencies.access, context, grant);
    return { accountId: viewer.accountId, grant };
  }

  /** The same without taking from the rate: for streams, which ask again at each message. */
  async admitAgain(context: Context<RestEnvironment>): Promise<ConsoleViewer> {
    return (await this.#look(context)).viewer;
  }

  /** Without a grant where no key was asked for. */
  async #look(context: Context<RestEnvironment>): Promise<{ viewer: ConsoleViewer; grant: Grant | null }> {
    const caller = callerOf(context);
    const { headers } = caller.request;
    const key = headers.get("x-api-key") ?? bearerToken(headers.get("authorization"));
    if (key !== null && key !== "") return looking(await this.#identify(key, context));
    const token = cookieOf(headers.get("cookie"));
    if (token !== null) {
      const session = await this.#dependencies.state.sessions.find(hashSessionToken(token));
      const grant = session === null ? null : await this.#grantOf(session, context);
      if (grant !== null) return looking(grant);
    }
    const open = this.#dependencies.openAccount();
    if (open !== null && isLocalBrowser(caller)) {
      return { viewer: { accountId: open, operates: true, signedIn: false }, grant: null };
    }
    throw new SluiceError("INVALID_API_KEY", { message: "Sign in with an API key" });
  }

  /**
   * The same for a WebSocket, at its upgrade and again while it lasts; its rate, network and restrictions are for
   * whoever serves it. From a page of this origin alone: one of another site can open a WebSocket, cookies and all.
   */
  async identify(caller: ConsoleCaller): Promise<Grant | KeyRefusal> {
    const { headers } = caller.request;
    const refusal = { ok: false, code: "INVALID_API_KEY" } as const;
    if (!isOfSameOrigin(caller.request, this.#publicUrl)) return refusal;
    const token = cookieOf(headers.get("cookie"));
    const session = token === null ? null : await this.#dependencies.state.sessions.find(hashSessionToken(token));
    const grant = session === null ? null : await this.#heldGrant(session);
    if (grant !== null) return grant;
    const accountId = this.#dependencies.openAccount();
    const account =
      accountId !== null && isLocalBrowser(caller) ? await this.#dependencies.state.accounts.get(accountId) : null;
    return account === null ? refusal : grantOf({ ...ownerKey, accountId: account.id }, account);
  }

  /** What a presented API key may do. Throws the code that refuses it, its restrictions included. */
  async #identify(key: string, context: Context<RestEnvironment>): Promise<Grant> {
    const { access } = this.#dependencies;
    const { request, socketAddress } = callerOf(context);
    const outcome = await access.admit(key, access.callerOf(request.headers, socketAddress), readPermission);
    return await grantedOrThrow(access, context, { outcome, oneOf: readPermission });
  }

  /**
   * What the key that opened a session may do now, as if it were presented; null when it is no longer in use. A session
   * lives no longer than its key, and opens nothing while its account is disabled.
   */
  async #grantOf(session: SessionHolder, context: Context<RestEnvironment>): Promise<Grant | null> {
    const { access } = this.#dependencies;
    const grant = await this.#heldGrant(session);
    if (grant === null) return null;
    const { request, socketAddress } = callerOf(context);
    const caller = access.callerOf(request.headers, socketAddress);
    const outcome = access.admitted(grant, caller, readPermission);
    return await grantedOrThrow(access, context, { outcome, oneOf: readPermission });
  }

  /** Before any restriction. */
  async #heldGrant({ keyId, accountId }: SessionHolder): Promise<Grant | null> {
    const { clock, state } = this.#dependencies;
    const [key, account] = await Promise.all([
      keyId === null ? null : state.keys.get(keyId),
      state.accounts.get(accountId),
    ]);
    if (key?.status !== "active" || account === null || account.disabledAt !== null) return null;
    return key.expiresAt !== null && key.expiresAt <= clock.now() ? null : grantOf(key, account);
  }

  /** Opens a session for a valid key, for one request of its rate. Throws the code that refuses the key. */
  async signIn(
    context: Context<RestEnvironment>,
    key: string,
  ): Promise<{ accountId: string; expiresAt: number; cookie: string }> {
    const caller = callerOf(context);
    requireSameOrigin(caller.request, this.#publicUrl);
    const grant = await this.#identify(key, context);
    await takeRequest(this.#dependencies.access, context, grant);
    const { accountId, keyId } = grant;
    const expiresAt = this.#dependencies.clock.now() + lifeMs;
    const { token } = await this.#dependencies.state.sessions.create({ accountId, keyId, expiresAt });
    return { accountId, expiresAt, cookie: this.#cookie(caller, token, lifeMs / 1_000) };
  }

  /** Ends the session, wherever else its cookie was copied to. */
  async signOut(context: Context<RestEnvironment>): Promise<{ cookie: string }> {
    const caller = callerOf(context);
    requireSameOrigin(caller.request, this.#publicUrl);
    const token = cookieOf(caller.request.headers.get("cookie"));
    if (token !== null) await this.#dependencies.state.sessions.delete(hashSessionToken(token));
    return { cookie: this.#cookie(caller, "", 0) };
  }

  #cookie({ request, socketAddress }: ConsoleCaller, token: string, maxAgeSeconds: number): string {
    // An address with https is the operator's word that browsers are on TLS, whatever the proxy says or leaves out.
    const isSecure =
      this.#publicUrl?.startsWith("https:") === true ||
      this.#dependencies.access.isOverTls(request.headers, socketAddress);
    const secure = isSecure ? "; Secure" : "";
    return `${cookieName}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`;
  }
}

const looking = (grant: Grant) => ({
  viewer: {
    accountId: grant.accountId,
    keyId: grant.keyId,
    operates: grant.permissions.includes("admin"),
    signedIn: true,
  },
  grant,
});

function callerOf(context: Context<RestEnvironment>): ConsoleCaller {
  // Without a second argument to fetch there is no env at all, whatever its type says.
  const env = context.env as RestEnvironment["Bindings"] | undefined;
  return { request: context.req.raw, socketAddress: env?.socketAddress ?? "" };
}

function cookieOf(header: string | null): string | null {
  const found = header?.split(/; */).find((part) => part.startsWith(`${cookieName}=`));
  const token = found?.slice(cookieName.length + 1) ?? "";
  return token === "" || token.length > 200 ? null : token;
}

/**
 * A change needs an Origin that is this very host, so that no other page can make it (decisions: All doors), or the
 * address that the operator names: a proxy may put a host of its own in the place of the browser's.
 */
function requireSameOrigin(request: Request, publicUrl: string | null): void {
  if (isOfSameOrigin(request, publicUrl)) return;
  throw new SluiceError("PERMISSION_DENIED", { message: "The request comes from another origin" });
}

function isOfSameOrigin({ headers }: Request, publicUrl: string | null): boolean {
  const origin = headers.get("origin");
  if (origin === null) return false;
  return origin === publicUrl || origin.replace(/^https?:\/\//, "") === headers.get("host");
}

/**
 * A browser on this machine that comes by itself. A proxy on this machine can bring requests from anywhere: it is
 * detected by what it adds, unless it adds nothing. A page of another site can send requests here too, and can point
 * its host name at this machine: the first is detected by Sec-Fetch-Site, the second by the Host header.
 */
function isLocalBrowser({ request: { headers }, socketAddress }: ConsoleCaller): boolean {
  const site = headers.get("sec-fetch-site");
  return (
    loopbackAddresses.contains(socketAddress) &&
    !proxyHeaders.some((name) => headers.has(name)) &&
    loopbackHosts.test(headers.get("host") ?? "") &&
    (site === null || site === "same-origin" || site === "none")
  );
}
