import type { WebhookFilters } from "@sluice/contract/schemas";
import {
  eventCommitment,
  type WebhookEventName,
  type WebhookFilterName,
  webhookFilterEvents,
  webhookLimits,
} from "@sluice/contract/webhooks";
import { transactionErrorNames } from "@sluice/encode";
import { isAddress } from "@sluice/wire/identifiers";
import type { InputFault } from "../../http/index.ts";

/** Wrong addresses beyond these are not told. */
const addressFaultsMax = 20;
/** Addresses that are checked before other work of the process has its turn: about 5 ms on one busy core. */
const addressesInTurn = 5_000;

const notAnAddress = "must be an address in base58, of 32 bytes";

export interface FilterRules {
  /** Whether a source of the network tells of accounts, so that a program's accounts can be watched without a list. */
  readonly hasAccountSource: boolean;
}

/** Each name of an event that stands there a second time. */
export function eventFaults(events: readonly string[]): InputFault[] {
  return events.flatMap((event, index) =>
    events.indexOf(event) === index ? [] : [{ path: `events.${index}`, message: `names ${event} a second time` }],
  );
}

/** What of the filters is wrong beside these events, beyond their form; empty where nothing is. */
export async function filterFaults(
  events: readonly WebhookEventName[],
  filters: WebhookFilters,
  rules: FilterRules,
): Promise<InputFault[]> {
  return [
    ...unknownToEvents(events, filters),
    ...commitmentFaults(events, filters),
    ...rangeFaults(filters),
    ...tradeFaults(filters),
    ...errorTypeFaults(filters),
    ...ownerFaults(events, filters, rules),
    ...singleAddressFaults(filters),
    ...(await listFaults(filters)),
  ];
}

const fault = (name: string, message: string): InputFault => ({ path: `filters.${name}`, message });

function namesOf(filters: WebhookFilters): WebhookFilterName[] {
  const isName = (name: string): name is WebhookFilterName => name in webhookFilterEvents;
  const given: Readonly<Record<string, unknown>> = filters;
  return Object.keys(filters)
    .filter((name) => given[name] !== undefined)
    .filter(isName);
}

function unknownToEvents(events: readonly WebhookEventName[], filters: WebhookFilters): InputFault[] {
  return namesOf(filters).flatMap((name) => {
    const known: readonly WebhookEventName[] = webhookFilterEvents[name];
    if (events.some((event) => known.includes(event))) return [];
    return [fault(name, `narrows ${known.join(", ")}, and the webhook has none of them`)];
  });
}

function commitmentFaults(events: readonly WebhookEventName[], { commitment }: WebhookFilters): InputFault[] {
  if (commitment === undefined) return [];
  const known: readonly WebhookEventName[] = webhookFilterEvents.commitment;
  const other = events.find((event) => {
    const own = known.includes(event) ? eventCommitment(event) : null;
    return own !== null && own !== commitment;
  });
  return other === undefined ? [] : [fault("commitment", `contradicts ${other}, which has a commitment of its own`)];
}

function rangeFaults({ min_amount: least, max_amount: most }: WebhookFilters): InputFault[] {
  if (least === undefined || most === undefined || BigInt(least) <= BigInt(most)) return [];
  return [fault("max_amount", "must be at least min_amount")];
}

/** What failed made no trade, so that both together would match nothing for ever. */
function tradeFaults({ success, nft, defi }: WebhookFilters): InputFault[] {
  if (success !== false || (nft === undefined && defi === undefined)) return [];
  return [fault("success", `contradicts ${nft === undefined ? "defi" : "nft"}: a trade that failed is none`)];
}

function errorTypeFaults({ error_types: types = [] }: WebhookFilters): InputFault[] {
  return types.flatMap((type, index) =>
    transactionErrorNames.includes(type) ? [] : [fault(`error_types.${index}`, "is no error of a transaction")],
  );
}

function ownerFaults(
  events: readonly WebhookEventName[],
  { owner, accounts }: WebhookFilters,
  { hasAccountSource }: FilterRules,
): InputFault[] {
  if (owner === undefined || accounts !== undefined || hasAccountSource) return [];
  if (!events.includes("account.updated")) return [];
  const source = "a node with a Yellowstone source (option grpc of its upstream)";
  return [
    fault("owner", `needs filters.accounts beside it for account.updated, or ${source}, which this network lacks`),
  ];
}

function singleAddressFaults(filters: WebhookFilters): InputFault[] {
  const { token_transfers: transfers, nft } = filters;
  const single: readonly (readonly [string, string | undefined])[] = [
    ["program_id", filters.program_id],
    ["owner", filters.owner],
    ["creator", filters.creator],
    ["reclaimed_by", filters.reclaimed_by],
    ["nft.collection", nft?.collection],
    ...(typeof transfers === "object"
      ? ([
          ["token_transfers.mint", transfers.mint],
          ["token_transfers.from", transfers.from],
          ["token_transfers.to", transfers.to],
        ] as const)
      : []),
  ];
  return single.flatMap(([name, address]) =>
    address === undefined || isAddress(address) ? [] : [fault(name, notAnAddress)],
  );
}

async function listFaults(filters: WebhookFilters): Promise<InputFault[]> {
  const lists = (["account_include", "account_exclude", "accounts"] as const).map(
    (name) => [name, filters[name] ?? []] as const,
  );
  const count = lists.reduce((sum, [, list]) => sum + list.length, 0);
  if (count > webhookLimits.addresses) {
    const message = `must hold at most ${webhookLimits.addresses} addresses in all lists, not ${count}`;
    return [{ path: "filters", message }];
  }
  const faults: InputFault[] = [];
  for (const [name, list] of lists) {
    for (let index = 0; index < list.length; index += 1) {
      if (!isAddress(list[index])) faults.push(fault(`${name}.${index}`, notAnAddress));
      if (faults.length >= addressFaultsMax) return faults;
      if (index % addressesInTurn === addressesInTurn - 1) await new Promise((resolve) => setImmediate(resolve));
    }
  }
  return faults;
}
