import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { StoreError } from "@/embedded/store/store_error.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { isObject } from "@/lib/std/untrusted.ts";

/** Numbers at the edges of what parsers count with. */
const NUMBERS = ["0", "-1", "1e999", "9007199254740993", "99999999999999999999", "0x10", "+1", "1.5", "NaN", "00"];
/** What ends a text, a line or an encoding early. */
const CHARACTERS = [
  ..."\0\n\r\t \"'\\,;:=&%/<>{[\u2028\ufeffé\u{1f4a9}\x7f\x80",
  ...["\r\n", "..", "\ud800", "__proto__", "%00", "%ff", "]]>"],
];

interface Edit {
  readonly at: number;
  readonly length: number;
  readonly kind: "cut" | "copy" | "put" | "number" | "cross" | "end";
  readonly text: string;
}

/** Some edits; a place is a share of the length, so that an edit means something in every seed. */
function edits(seeds: readonly string[], words: readonly string[]): fc.Arbitrary<Edit[]> {
  const text = fc.oneof(
    fc.constantFrom(...NUMBERS, ...CHARACTERS, ...words),
    fc.string({ unit: "binary", maxLength: 8 }),
    // A slice of another seed.
    fc.tuple(fc.constantFrom(...seeds), fc.nat(999), fc.nat(60)).map(([seed, at, length]) => {
      const start = Math.floor(seed.length * at / 1000);
      return seed.slice(start, start + length);
    }),
  );
  const edit = fc.record({
    at: fc.nat(1000),
    length: fc.oneof(fc.nat(3), fc.nat(200)),
    kind: fc.constantFrom<Edit["kind"]>("cut", "copy", "put", "put", "number", "cross", "end"),
    text,
  });
  return fc.array(edit, { maxLength: 6 });
}

function edited(seed: string, edits: readonly Edit[]): string {
  let text = seed;
  for (const { at, length, kind, text: put } of edits) {
    const start = Math.floor(text.length * at / 1000);
    const [before, found, after] = [
      text.slice(0, start),
      text.slice(start, start + length),
      text.slice(start + length),
    ];
    if (kind === "cut") text = before + after;
    else if (kind === "copy") text = before + found + found + after;
    else if (kind === "put") text = before + put + found + after;
    else if (kind === "cross") text = before + put + after;
    else if (kind === "end") text = before;
    else {
      const number = /-?\d+/g;
      number.lastIndex = start;
      const match = number.exec(text);
      if (match) text = text.slice(0, match.index) + put + text.slice(match.index + match[0].length);
    }
  }
  return text;
}

/** Texts near realistic ones: these with a few edits. @param words what means something to the parser */
export function near(seeds: readonly string[], words: readonly string[] = []): fc.Arbitrary<string> {
  return fc.tuple(fc.constantFrom(...seeds), edits(seeds, words)).map(([seed, edits]) => edited(seed, edits));
}

/** The same as bytes, of which some are no UTF-8. */
export function nearBytes(
  seeds: readonly string[],
  words: readonly string[] = [],
): fc.Arbitrary<Uint8Array<ArrayBuffer>> {
  const latin1 = fc.boolean();
  return fc.tuple(near(seeds, words), latin1).map(([text, latin1]) =>
    Uint8Array.from(Buffer.from(text, latin1 ? "latin1" : "utf8"))
  );
}

/** A text that a header field can carry, as `new Headers` takes it. */
export function nearHeader(seeds: readonly string[], words: readonly string[] = []): fc.Arbitrary<string> {
  return near(seeds, words).map((text) =>
    // deno-lint-ignore no-control-regex
    text.replace(/[^\u0000-\u00ff]/g, (one) => String.fromCharCode(one.charCodeAt(0) & 0xff)).replace(/[\0\r\n]/g, "")
      .trim()
  );
}

const VALUES: readonly unknown[] = [
  ...[null, true, "", 0, -1, 1e308, 9007199254740993, 0.5, [], {}, [[[]]], "x".repeat(5000)],
  ...["\ud800", "\0", "NaN", "-0", { __proto__: null, constructor: 1 }, JSON.parse(`{"__proto__":{"polluted":1}}`)],
];

/** JSON values near realistic ones: members and entries replaced, removed, doubled or moved. */
export function nearJson(seeds: readonly unknown[]): fc.Arbitrary<unknown> {
  const texts = seeds.map((seed) => JSON.stringify(seed));
  const change = fc.record({
    at: fc.nat(1_000_000),
    from: fc.nat(1_000_000),
    kind: fc.constantFrom("replace", "remove", "move", "text", "name"),
    value: fc.oneof(
      fc.constantFrom(...VALUES),
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(...NUMBERS, ...CHARACTERS),
    ),
  });
  return fc.tuple(fc.constantFrom(...texts), fc.array(change, { maxLength: 5 })).map(([text, changes]) => {
    const root = { value: JSON.parse(text) };
    for (const { at, from, kind, value: shared } of changes) {
      // A copy, since later changes may be in it.
      const value: unknown = JSON.parse(JSON.stringify(shared));
      const places = placesOf(root);
      const { holder, name } = places[at % places.length];
      const held: unknown = Reflect.get(holder, name);
      if (kind === "remove") Reflect.deleteProperty(holder, name);
      else if (kind === "move") {
        const other = places[from % places.length];
        const moved: unknown = Reflect.get(other.holder, other.name);
        // As text, since a tree that holds itself has no text.
        Reflect.set(holder, name, JSON.parse(JSON.stringify(moved ?? null)));
      } else if (kind === "text") Reflect.set(holder, name, edited(JSON.stringify(held) ?? "", [putOf(at, value)]));
      else if (kind === "name" && !Array.isArray(holder)) Object.defineProperty(holder, nameOf(value), own(held));
      else Reflect.set(holder, name, value);
    }
    return JSON.parse(JSON.stringify(root.value) ?? "null");
  });
}

function nameOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value) ?? "";
}

function own(value: unknown): PropertyDescriptor {
  return { value, configurable: true, enumerable: true, writable: true };
}

function putOf(at: number, value: unknown): Edit {
  return { at: at % 1000, length: 3, kind: "put", text: nameOf(value) };
}

interface Place {
  readonly holder: object;
  readonly name: string;
}

function placesOf(root: object): Place[] {
  const places: Place[] = [];
  const waiting: object[] = [root];
  for (let holder = waiting.pop(); holder; holder = waiting.pop()) {
    for (const name of Object.keys(holder)) {
      places.push({ holder, name });
      const value: unknown = Reflect.get(holder, name);
      if (isObject(value) || Array.isArray(value)) waiting.push(value);
    }
  }
  return places.length > 0 ? places : [{ holder: root, name: "value" }];
}

/** Text that becomes longer by repetition of a part of it, in which `§` stands for the number of the repetition. */
interface Growing {
  readonly before: string;
  readonly unit: string;
  readonly after: string;
}

/** Texts that grow: a slice of a realistic one, or a word, is repeated in the middle of one. */
function growing(seeds: readonly string[], words: readonly string[]): fc.Arbitrary<Growing> {
  const slice = fc.tuple(fc.constantFrom(...seeds), fc.nat(1000), fc.integer({ min: 1, max: 80 }))
    .map(([seed, at, length]) => {
      const start = Math.floor(seed.length * at / 1000);
      return seed.slice(start, start + length) || "a";
    });
  const unit = fc.oneof(slice, fc.constantFrom(...CHARACTERS, ...words, "a", "0", "a,", "a\n"));
  return fc.tuple(fc.constantFrom(...seeds), fc.nat(1000), unit, fc.boolean()).map(([seed, at, unit, ends]) => {
    const cut = Math.floor(seed.length * at / 1000);
    return { before: seed.slice(0, cut), unit, after: ends ? "" : seed.slice(cut) };
  });
}

function grownTo(characters: number, { before, unit, after }: Growing): string {
  const count = Math.ceil(characters / unit.length);
  if (!unit.includes("§")) return before + unit.repeat(count) + after;
  return before + Array.from({ length: count }, (_, n) => unit.replaceAll("§", n.toString(36))).join("") + after;
}

/** How long a target is tried, ms; undefined in the suite, where durations are not compared. */
const fuzzingMs = fc.readConfigureGlobal()?.interruptAfterTimeLimit;
const isFuzzing = fuzzingMs !== undefined;
/** The part of that time which is for texts that grow. */
const GROWTH_SHARE = 1 / 4;

/** The parameters of a property that has a share of the time of its target. */
function during(share: number): { interruptAfterTimeLimit?: number } {
  return fuzzingMs === undefined ? {} : { interruptAfterTimeLimit: fuzzingMs * share };
}
const LONG_CHARACTERS = isFuzzing ? 64 * 1024 : 2048;
/** Work of this duration is not looked at any closer, ms. */
const QUICK_MS = 60;
/** How many times as long the longer text is, and how many times as long it may take: collected memory has its part. */
const TIMES = 8;
const MAX_RATIO = 4 * TIMES;

interface Target<Input> {
  readonly inputs: fc.Arbitrary<Input>;
  /** Throws where a promise of the parser is broken. */
  readonly check: (input: Input) => void | Promise<void>;
  /** How it behaves when its input becomes longer; absent where something before it bounds that. */
  readonly growth?: {
    readonly seeds: readonly string[];
    readonly words?: readonly string[];
    readonly read: (text: string) => unknown;
    /** Longest text that can reach the parser, characters. */
    readonly most?: number;
  };
}

/** Registers the tests of a parser of hostile input: its promises, and that its work grows as its input does. */
export function fuzz<Input>(name: string, { inputs, check, growth }: Target<Input>): void {
  Deno.test(`fuzz, ${name}: hostile input has a result or an error of our own`, async () => {
    const property = fc.asyncProperty(inputs, async (input) => await check(input));
    await fc.assert(property, during(growth ? 1 - GROWTH_SHARE : 1));
  });
  if (!growth) return;
  const { seeds, words = [], read, most = Infinity } = growth;
  Deno.test(`fuzz, ${name}: the work grows as the input does`, async () => {
    await fc.assert(
      fc.asyncProperty(growing(seeds, words), async (text) => {
        const long = Math.min(LONG_CHARACTERS, most);
        if (await durationOf(read, grownTo(long, text)) < QUICK_MS || !isFuzzing) return;
        // The shortest of several, since the machine may have something else to do.
        const short = await shortestOf(read, grownTo(long / TIMES, text));
        const ms = await shortestOf(read, grownTo(long, text));
        assert.ok(ms < MAX_RATIO * Math.max(short, 5), `${short} ms, ${TIMES} times as long: ${ms} ms`);
      }),
      isFuzzing ? during(GROWTH_SHARE) : { numRuns: 20 },
    );
  });
}

async function shortestOf(read: (text: string) => unknown, text: string): Promise<number> {
  const durations: number[] = [];
  for (let n = 0; n < 5; n++) durations.push(await durationOf(read, text));
  return Math.min(...durations);
}

async function durationOf(read: (text: string) => unknown, text: string): Promise<number> {
  const start = performance.now();
  await read(text);
  return performance.now() - start;
}

/** The result of a parser, null where it threw the error that is its own. */
export function resultOr<T>(read: () => T, isOwn: (error: unknown) => boolean): T | null {
  try {
    return read();
  } catch (error) {
    if (!isOwn(error)) throw error;
    return null;
  }
}

/** The same of one that is asynchronous. */
export async function resolvedOr<T>(read: () => T | Promise<T>, isOwn: (error: unknown) => boolean): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (!isOwn(error)) throw error;
    return null;
  }
}

/** Nothing that parsers read may change what every object inherits. */
export function assertNothingInherited(): void {
  assert.deepEqual(Object.keys(Object.prototype), []);
  assert.equal(Reflect.get({}, "polluted"), undefined);
}

/** Whether an error is the gateway's for a wrong request. */
export const isRefused = (error: unknown) => error instanceof HttpError && error.status >= 400 && error.status < 500;

/** Whether an error is the embedded store's for a wrong request, or one that it does not implement. */
export const isStoreError = (error: unknown) =>
  error instanceof StoreError && (error.status < 500 || error.status === 501);

/** How bytes may be cut into pieces: their lengths, in turns. */
export const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 4 });

/** Bytes in pieces of these lengths, each of memory of its own. */
export function* inPieces(bytes: Uint8Array, cuts: readonly number[]): Generator<Uint8Array<ArrayBuffer>> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const length = cuts[turn % cuts.length];
    yield Uint8Array.from(bytes.subarray(at, at += length));
  }
}
