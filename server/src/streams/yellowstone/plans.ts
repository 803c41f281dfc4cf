import type { FilterSet, MatchedTransaction, SubscribeRequest, TransactionFilter } from "@sluice/geyser";
import type { Random } from "@sluice/lib";
import { TransactionMatcher } from "../../events/index.ts";
import type { PackedMessage } from "../../net/index.ts";
import { Plan } from "./plan.ts";
import type { BlockContent } from "./slot-content.ts";

/** A filter of a plan: its place among those of its kind. */
interface PlannedFilter {
  readonly plan: Plan;
  readonly kind: "transactions" | "statuses";
  readonly place: number;
  /** Asked again, where the index knows less of the filter than it says itself. */
  readonly filter: TransactionFilter | null;
}

/** The plans of the streams of one network, and which transactions they are for. */
export class Plans {
  readonly #plans = new Map<string, { readonly plan: Plan; readonly members: readonly Disposable[] }>();
  readonly #matcher: TransactionMatcher<PlannedFilter>;
  /** Of the newest content of those who are live. */
  #matched: { readonly content: BlockContent; readonly byPlan: ReadonlyMap<Plan, MatchedTransaction[]> } | null = null;

  constructor({ random }: { readonly random: Random }) {
    this.#matcher = new TransactionMatcher(random);
  }

  get size(): number {
    return this.#plans.size;
  }

  /** The plan of these filters, until it is given back. */
  take(identity: string, filters: FilterSet, request: SubscribeRequest): Plan {
    const known = this.#plans.get(identity);
    const { plan } = known ?? this.#add(new Plan(identity, filters, request));
    plan.holders += 1;
    return plan;
  }

  giveBack(plan: Plan): void {
    plan.holders -= 1;
    const held = this.#plans.get(plan.identity);
    if (plan.holders > 0 || held === undefined) return;
    this.#plans.delete(plan.identity);
    for (const member of held.members) member[Symbol.dispose]();
  }

  /** What the streams of a plan that are live are told: all plans are matched with the content at once. */
  live(plan: Plan, content: BlockContent): readonly PackedMessage[] {
    if (plan.filters.transactions.length === 0 && plan.filters.statuses.length === 0) return plan.messages(content);
    if (this.#matched?.content !== content) this.#matched = { content, byPlan: this.#match(content) };
    // A plan that was added since is matched alone.
    return plan.messages(content, this.#matched.byPlan.get(plan));
  }

  #add(plan: Plan): { readonly plan: Plan; readonly members: readonly Disposable[] } {
    const { identity, filters } = plan;
    const members = (["transactions", "statuses"] as const).flatMap((kind) =>
      filters[kind].map((filter, place) => this.#matcher.add(conditionsOf(filter), planned(plan, kind, place))),
    );
    const added = { plan, members };
    this.#plans.set(identity, added);
    return added;
  }

  #match(content: BlockContent): Map<Plan, MatchedTransaction[]> {
    const byPlan = new Map<Plan, MatchedTransaction[]>();
    for (const { plan } of this.#plans.values()) byPlan.set(plan, []);
    for (const transaction of content.transactions) {
      const found = new Map<Plan, PlannedFilter[]>();
      for (const group of this.#matcher.match(transaction.facts)) {
        for (const member of group.members()) {
          if (member.filter !== null && !member.filter.matches(transaction)) continue;
          const list = found.get(member.plan);
          if (list === undefined) found.set(member.plan, [member]);
          else list.push(member);
        }
      }
      for (const [plan, filters] of found) {
        byPlan.get(plan)?.push({
          transaction,
          names: namesOf(plan, "transactions", filters),
          statusNames: namesOf(plan, "statuses", filters),
        });
      }
    }
    return byPlan;
  }
}

function planned(plan: Plan, kind: PlannedFilter["kind"], place: number): PlannedFilter {
  const filter = plan.filters[kind][place];
  return { plan, kind, place, filter: filter !== undefined && filter.cuckoo !== null ? filter : null };
}

/** What the index is asked for. A cuckoo filter is no list of keys: those that it may add are all let through. */
function conditionsOf(filter: TransactionFilter): Parameters<TransactionMatcher<PlannedFilter>["add"]>[0] {
  const { vote, failed, signature, include, exclude, required, cuckoo, expansion } = filter;
  return {
    ...(cuckoo === null && include.size > 0 ? { accountInclude: [...include] } : {}),
    ...(exclude.size > 0 ? { accountExclude: [...exclude] } : {}),
    ...(required.size > 0 ? { accountRequired: [...required] } : {}),
    ...(expansion === null ? {} : { tokenAccounts: expansion === "ALL" ? "all" : "changed" }),
    ...(vote === null ? {} : { vote }),
    ...(failed === null ? {} : { failed }),
    ...(signature === null ? {} : { signature }),
  };
}

/** In the order in which the request names them. */
function namesOf(plan: Plan, kind: PlannedFilter["kind"], found: readonly PlannedFilter[]): string[] {
  const places = found.filter((each) => each.kind === kind).map(({ place }) => place);
  if (places.length > 1) places.sort((one, other) => one - other);
  return places.map((place) => plan.filters[kind][place]?.name ?? "");
}
