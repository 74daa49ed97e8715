/**
 * Whether this process keeps to the public API of the runtime: then each file of this folder does what it falls back to.
 * `tests/long/fallbacks_test.ts` runs tests of HTTP so.
 */
export const PUBLIC_API_ONLY: boolean = Reflect.has(globalThis, Symbol.for("stackroom.public_api_only"));
