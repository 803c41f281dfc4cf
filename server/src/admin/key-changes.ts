import { SluiceError } from "@sluice/contract/errors";
import type { AdminKeyCreate, KeyChange } from "@sluice/contract/schemas";
import { type Permission, permissionsDefault } from "@sluice/contract/tiers";
import type { Clock, Random } from "@sluice/lib";
import type { ChangingStores, KeyChanges, KeyRecord, State } from "../state/index.ts";
import type { AdminCaller } from "./admin-access.ts";
import { issueKey } from "./issue-key.ts";
import { excessOf, type KeyPowers } from "./key-bounds.ts";
import { changedMembers, isoTime, keyBody } from "./records.ts";

export interface KeyAdministrationDependencies {
  readonly state: Pick<State, "change">;
  readonly clock: Clock;
  readonly random: Random;
  /** Makes every cache of every replica forget the key with this hash at once. */
  readonly invalidateKey: (hash: string) => void;
  /** Whether this server takes development keys; where it does not, none is made. */
  readonly developmentKeys: "accept" | "refuse";
}

type Stores = ChangingStores;

/**
 * Changes of keys by a key. Owners manage those of their own account that have no more than theirs; operators manage
 * all. Each change is one transaction with its entry in the trail, and is forgotten everywhere before it is answered.
 */
export class KeyAdministration {
  readonly #dependencies: KeyAdministrationDependencies;

  constructor(dependencies: KeyAdministrationDependencies) {
    this.#dependencies = dependencies;
  }

  /** The record, and the key itself, which is nowhere afterwards. */
  async create(caller: AdminCaller, wish: AdminKeyCreate): Promise<{ key: string; record: KeyRecord }> {
    const { clock, random, state } = this.#dependencies;
    const expiresAt = expiryOf(wish.expires_at, clock.now());
    return await state.change(async (stores) => {
      const own = await this.#own(stores, caller);
      const accountId = wish.account_id ?? caller.accountId;
      if (accountId === null) throw invalid("account_id", "must name an account");
      if (accountId !== caller.accountId && !caller.isOperator) throw noSuch("account");
      if ((await stores.accounts.get(accountId)) === null) throw noSuch("account");
      const nowhere = { networks: [], domains: [], ipRanges: [] };
      const isFree = caller.isOperator || own === null;
      const { networks, domains, ipRanges } = wish.restrictions ?? (isFree ? nowhere : own.restrictions);
      const { key, record } = issueKey(
        {
          accountId,
          name: wish.name,
          environment: wish.environment ?? own?.environment ?? "live",
          restrictions: { networks: [...networks], domains: [...domains], ipRanges: [...ipRanges] },
          permissions: wish.permissions ?? defaultOf(isFree ? null : own),
          methods: wish.methods ?? (isFree ? [] : own.methods),
          enhanced: wish.enhanced,
          enhancedRequestsPerSecond: wish.enhanced_requests_per_second,
          requestsPerSecond: wish.requests_per_second,
          expiresAt,
        },
        { clock, random },
      );
      this.#requireUsable(record);
      requireWithin(own, record);
      await stores.keys.insert(record);
      await stores.audit.append({
        actor: caller.actor,
        action: "key.create",
        subject: record.id,
        detail: { after: keyBody(record) },
      });
      return { key, record };
    });
  }

  async change(caller: AdminCaller, id: string, wish: KeyChange): Promise<KeyRecord> {
    const changes = changesOf(wish, this.#dependencies.clock.now());
    const { hash, after } = await this.#dependencies.state.change(async (stores) => {
      const { own, before } = await this.#target(stores, caller, id);
      if (before.status === "revoked") throw new SluiceError("CONFLICT", { message: "A deleted key stays deleted" });
      const requested = { ...before, ...changes, status: wish.status ?? before.status };
      // An operator may put any key out of use; its powers are checked when it is to be used again.
      if (!caller.isOperator || requested.status === "active") requireWithin(own, requested);
      await this.#requireAdminLeft(stores, caller, { before, after: requested });
      const changed = (await stores.keys.update(id, changes)) ?? before;
      const after = wish.status === undefined ? changed : ((await stores.keys.setStatus(id, wish.status)) ?? changed);
      await stores.audit.append({
        actor: caller.actor,
        action: "key.change",
        subject: id,
        detail: changedMembers(keyBody(before), keyBody(after)),
      });
      return { hash: before.hash, after };
    });
    this.#dependencies.invalidateKey(hash);
    return after;
  }

  /**
   * A new key with all that the old one may do; the old one works until the overlap ends, or until it would have ended.
   */
  async rotate(caller: AdminCaller, id: string, overlapMs: number) {
    const { clock, random, state } = this.#dependencies;
    const rotated = await state.change(async (stores) => {
      const { own, before } = await this.#target(stores, caller, id);
      if (before.status !== "active") throw new SluiceError("CONFLICT", { message: "Only an active key is rotated" });
      requireWithin(own, before);
      const until = clock.now() + overlapMs;
      const endsAt = before.expiresAt === null ? until : Math.min(before.expiresAt, until);
      const { networks, domains, ipRanges } = before.restrictions;
      const { key, record } = issueKey(
        {
          accountId: before.accountId,
          name: before.name,
          environment: before.environment,
          restrictions: { networks: [...networks], domains: [...domains], ipRanges: [...ipRanges] },
          permissions: [...before.permissions],
          methods: before.methods,
          enhanced: before.enhanced,
          enhancedRequestsPerSecond: before.enhancedRequestsPerSecond,
          requestsPerSecond: before.requestsPerSecond,
          expiresAt: before.expiresAt,
        },
        { clock, random },
      );
      await stores.keys.insert(record);
      await stores.keys.update(id, { expiresAt: endsAt });
      const { actor, detail } = {
        actor: caller.actor,
        detail: {
          before: { expires_at: keyBody(before).expires_at },
          after: { expires_at: isoTime(endsAt) },
          new_key: record.id,
        },
      };
      await stores.audit.append({ actor, action: "key.rotate", subject: id, detail });
      const after = { after: keyBody(record), replaces: id };
      await stores.audit.append({ actor, action: "key.create", subject: record.id, detail: after });
      return { key, record, hash: before.hash, endsAt };
    });
    this.#dependencies.invalidateKey(rotated.hash);
    return rotated;
  }

  /** Revokes it for ever; its record stays, since the ledger and the trail name it. */
  async remove(caller: AdminCaller, id: string): Promise<void> {
    const hash = await this.#dependencies.state.change(async (stores) => {
      const { own, before } = await this.#target(stores, caller, id);
      if (before.status === "revoked") return before.hash;
      if (!caller.isOperator) requireWithin(own, before);
      await this.#requireAdminLeft(stores, caller, { before, after: { ...before, status: "revoked" } });
      await stores.keys.setStatus(id, "revoked");
      await stores.audit.append({
        actor: caller.actor,
        action: "key.delete",
        subject: id,
        detail: { before: { status: before.status }, after: { status: "revoked" } },
      });
      return before.hash;
    });
    this.#dependencies.invalidateKey(hash);
  }

  /** The key that asks, as it is now: what it was granted may be minutes old. Null for an operator without a key. */
  async #own({ keys }: Stores, caller: AdminCaller): Promise<KeyRecord | null> {
    if (caller.keyId === null) return null;
    const own = await keys.get(caller.keyId);
    if (own?.status !== "active") throw new SluiceError("KEY_INACTIVE");
    return own;
  }

  async #target(
    stores: Stores,
    caller: AdminCaller,
    id: string,
  ): Promise<{ own: KeyRecord | null; before: KeyRecord }> {
    const own = await this.#own(stores, caller);
    const before = await stores.keys.lock(id);
    if (before === null || (before.accountId !== caller.accountId && !caller.isOperator)) throw noSuch("key");
    // A caller that could not have made a key cannot change it either: a rotation would hand over its powers.
    if (!caller.isOperator) requireWithin(own, before);
    return { own, before };
  }

  #requireUsable({ environment }: Pick<KeyRecord, "environment">): void {
    if (environment === "live" || this.#dependencies.developmentKeys === "accept") return;
    throw invalid("environment", "must be live: this server refuses development keys");
  }

  /**
   * Over REST the last operator's key can be neither ended nor robbed of its permission, not even by itself. At the
   * server's own machine another can always be made.
   */
  async #requireAdminLeft(
    { keys }: Stores,
    caller: AdminCaller,
    { before, after }: { readonly before: KeyRecord; readonly after: KeyRecord },
  ): Promise<void> {
    if (caller.keyId === null) return;
    const nowMs = this.#dependencies.clock.now();
    const counts = (key: KeyRecord): boolean =>
      key.status === "active" && key.permissions.includes("admin") && (key.expiresAt === null || key.expiresAt > nowMs);
    if (!counts(before) || counts(after)) return;
    if ((await keys.lockAdmins()).some((key) => key.id !== before.id && counts(key))) return;
    throw new SluiceError("CONFLICT", { message: "This is the last active key with the permission admin" });
  }
}

function noSuch(what: string): SluiceError {
  return new SluiceError("NOT_FOUND", { message: `There is no such ${what}` });
}

const invalid = (path: string, message: string): SluiceError =>
  new SluiceError("INVALID_INPUT", { message: `${path} ${message}`, details: { errors: [{ path, message }] } });

/** An operator without a key is bound by none. */
function requireWithin(own: KeyPowers | null, requested: KeyPowers): void {
  const excess = own === null ? null : excessOf(own, requested);
  if (excess === null) return;
  const member = excess.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  throw new SluiceError("PERMISSION_DENIED", {
    message: `The key goes beyond the one that asks: ${member}`,
    details: { member },
  });
}

/**
 * What a key may do whose maker names nothing: the default, as far as the maker holds it; null holds all.
 *
 * @throws {SluiceError} PERMISSION_DENIED where that is nothing
 */
function defaultOf(maker: Pick<KeyRecord, "permissions"> | null): Permission[] {
  const granted = permissionsDefault.filter((name) => maker === null || maker.permissions.includes(name));
  if (granted.length > 0) return granted;
  const missing = permissionsDefault.join(" and ");
  throw new SluiceError("PERMISSION_DENIED", {
    message: `A key is made with ${missing}, and the key that asks holds neither; name the permissions to grant`,
    details: { member: "permissions", missing: [...permissionsDefault] },
  });
}

/** When a key ends, in Unix milliseconds. @throws {SluiceError} INVALID_INPUT for a time that is over */
function expiryOf(text: string | null, nowMs: number): number | null {
  if (text === null) return null;
  const expiresAt = Date.parse(text);
  if (expiresAt > nowMs) return expiresAt;
  throw invalid("expires_at", `must be in the future; it is ${isoTime(nowMs)} now`);
}

function changesOf(wish: KeyChange, nowMs: number): KeyChanges {
  const { name, restrictions, permissions, methods, enhanced } = wish;
  const { enhanced_requests_per_second: enhancedRate, requests_per_second: rate, expires_at: expires } = wish;
  return {
    ...(name === undefined ? {} : { name }),
    ...(restrictions === undefined ? {} : { restrictions }),
    ...(permissions === undefined ? {} : { permissions }),
    ...(methods === undefined ? {} : { methods }),
    ...(enhanced === undefined ? {} : { enhanced }),
    ...(enhancedRate === undefined ? {} : { enhancedRequestsPerSecond: enhancedRate }),
    ...(rate === undefined ? {} : { requestsPerSecond: rate }),
    ...(expires === undefined ? {} : { expiresAt: expiryOf(expires, nowMs) }),
  };
}
