/** Members that are undefined are left out; the others go in this order. */
export type StoreQuery = Readonly<Record<string, string | number | boolean | undefined>>;
