import { SluiceError } from "@sluice/contract/errors";
import type { Clock } from "@sluice/lib";
import type { Context } from "hono";
import type { Access } from "../access/index.ts";
import { bearerToken, type RestEnvironment } from "../http/index.ts";
import { hashSessionToken, type State } from "../state/index.ts";

/** A request and the socket that it came over. */
export interface ConsoleCaller {
  readonly request: Request;
  readonly socketAddress: string;
}

/** Who looks: an account, and whether by a key that operates the server. */
export interface ConsoleViewer {
  readonly accountId: string;
  readonly operates: boolean;
}

export interface ConsoleSessionDependencies {
  readonly state: { readonly sessions: State["sessions"]; readonly keys: Pick<State["keys"], "get"> };
  readonly clock: Clock;
  /** Access to the network that the console shows. */
  readonly access: Pick<Access, "admit" | "callerOf">;
  /**
   * The account that a browser on this machine sees without signing in; null where there is none. Only a development
   * server has one.
   */
  readonly openAccount: () => string | null;
}

const cookieName = "sluice_session";
const lifeMs = 7 * 24 * 3_600_000;
const loopbackHosts = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/** Who looks at the console: by cookie, and on a development server by being on this machine. */
export class ConsoleSessions {
  readonly #dependencies: ConsoleSessionDependencies;

  constructor(dependencies: ConsoleSessionDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * The account of this request: by a key in a header, as a program sends it, else by the session's cookie. Throws
   * INVALID_API_KEY when neither opens an account.
   */
  async accountOf(caller: ConsoleCaller): Promise<string> {
    return (await this.#signedIn(caller)).accountId;
  }

  /**
   * The same, and whether the key that opened the session holds `admin` now. A development machine's owner operates it.
   */
  async viewerOf(caller: ConsoleCaller): Promise<ConsoleViewer> {
    const { accountId, keyId } = await this.#signedIn(caller);
    const key = keyId === null ? null : await this.#dependencies.state.keys.get(keyId);
    return { accountId, operates: keyId === null || key?.permissions.includes("admin") === true };
  }

  /** Without a key where none was asked for. */
  async #signedIn(caller: ConsoleCaller): Promise<{ accountId: string; keyId: string | null }> {
    const { request } = caller;
    const key = request.headers.get("x-api-key") ?? bearerToken(request.headers.get("authorization"));
    if (key !== null && key !== "") {
      return await this.#identify(key, caller);
    }
    const token = cookieOf(request.headers.get("cookie"));
    if (token !== null) {
      const session = await this.#dependencies.state.sessions.find(hashSessionToken(token));
      if (session !== null && (await this.#isKeyInUse(session.keyId))) return session;
    }
    const open = this.#dependencies.openAccount();
    if (open !== null && isLocalBrowser(request)) return { accountId: open, keyId: null };
    throw new SluiceError("INVALID_API_KEY", { message: "Sign in with an API key" });
  }

  /** The account and key that a presented API key opens. Throws the code that refuses it, its restrictions included. */
  async #identify(
    key: string,
    { request, socketAddress }: ConsoleCaller,
  ): Promise<{ accountId: string; keyId: string }> {
    const { access } = this.#dependencies;
    const grant = await access.admit(key, access.callerOf(request.headers, socketAddress));
    if (!grant.ok) throw new SluiceError(grant.code);
    return grant;
  }

  /** A session lives no longer than the key that opened it. */
  async #isKeyInUse(keyId: string | null): Promise<boolean> {
    if (keyId === null) return true;
    const key = await this.#dependencies.state.keys.get(keyId);
    if (key === null || key.status !== "active") return false;
    return key.expiresAt === null || key.expiresAt > this.#dependencies.clock.now();
  }

  /** Opens a session for a valid key. Throws the code that refuses the key. */
  async signIn(caller: ConsoleCaller, key: string): Promise<{ accountId: string; expiresAt: number; cookie: string }> {
    const { request } = caller;
    requireSameOrigin(request);
    const { accountId, keyId } = await this.#identify(key, caller);
    const expiresAt = this.#dependencies.clock.now() + lifeMs;
    const { token } = await this.#dependencies.state.sessions.create({ accountId, keyId, expiresAt });
    return { accountId, expiresAt, cookie: cookieText(request, token, lifeMs / 1_000) };
  }

  /** Ends the session, wherever else its cookie was copied to. */
  async signOut(request: Request): Promise<{ cookie: string }> {
    requireSameOrigin(request);
    const token = cookieOf(request.headers.get("cookie"));
    if (token !== null) await this.#dependencies.state.sessions.delete(hashSessionToken(token));
    return { cookie: cookieText(request, "", 0) };
  }
}

/** Who asks, as a route's handler finds it. */
export function callerOf(context: Context<RestEnvironment>): ConsoleCaller {
  // Without a second argument to fetch there is no env at all, whatever its type says.
  const env = context.env as RestEnvironment["Bindings"] | undefined;
  return { request: context.req.raw, socketAddress: env?.socketAddress ?? "" };
}

function cookieOf(header: string | null): string | null {
  const found = header?.split(/; */).find((part) => part.startsWith(`${cookieName}=`));
  const token = found?.slice(cookieName.length + 1) ?? "";
  return token === "" || token.length > 200 ? null : token;
}

function cookieText(request: Request, token: string, maxAgeSeconds: number): string {
  const secure = new URL(request.url).protocol === "https:" ? "; Secure" : "";
  return `${cookieName}=${token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`;
}

/** A change needs an Origin that is this very host, so that no other page can make it (decisions: All doors). */
function requireSameOrigin(request: Request): void {
  const origin = request.headers.get("origin");
  const host = request.headers.get("host");
  if (origin === null || host === null || origin.replace(/^https?:\/\//, "") !== host) {
    throw new SluiceError("PERMISSION_DENIED", { message: "The request comes from another origin" });
  }
}

/**
 * A page of another site can send requests here too, and can point its host name at this machine: the first is detected
 * by Sec-Fetch-Site, the second by the Host header.
 */
function isLocalBrowser(request: Request): boolean {
  const site = request.headers.get("sec-fetch-site");
  return (
    loopbackHosts.test(request.headers.get("host") ?? "") &&
    (site === null || site === "same-origin" || site === "none")
  );
}
