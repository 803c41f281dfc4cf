import { useSyncExternalStore } from "react";

/** The pages, in the order of the navigation. */
export const pages = [
  { path: "/", name: "Overview" },
  { path: "/live", name: "Live" },
  { path: "/explorer", name: "Explorer" },
  { path: "/webhooks", name: "Webhooks" },
  { path: "/bundles", name: "Bundles" },
  { path: "/stake-pool", name: "Stake pool" },
  { path: "/prices", name: "Prices" },
  { path: "/names", name: "Names" },
  { path: "/sql", name: "SQL" },
  { path: "/docs/errors", name: "Errors" },
] as const;

const subscribe = (changed: () => void): (() => void) => {
  addEventListener("popstate", changed);
  addEventListener("sluice:navigate", changed);
  return () => {
    removeEventListener("popstate", changed);
    removeEventListener("sluice:navigate", changed);
  };
};

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => location.pathname);
}

/** The query of the address, with its question mark. */
export function useSearch(): string {
  return useSyncExternalStore(subscribe, () => location.search);
}

/** Goes to a page of the console without loading it anew; a fragment is scrolled to by the page. */
export function navigate(to: string): void {
  history.pushState(null, "", to);
  dispatchEvent(new Event("sluice:navigate"));
}
