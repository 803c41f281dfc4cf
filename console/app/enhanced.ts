import { createEnhanced, type EnhancedTransaction } from "@sluice/sdk";

/** The enhanced API for the person who is signed in, charged to the account as by its keys. */
export const enhanced = createEnhanced({ url: "", path: "/api/v1/console/enhanced" });

/** What a transaction was. */
export type EnhancedRecord = EnhancedTransaction;
