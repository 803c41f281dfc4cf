/** What a real node writes for every account that pays no rent, which is every account today. */
export const RENT_EXEMPT_EPOCH = 0xffff_ffff_ffff_ffffn;
